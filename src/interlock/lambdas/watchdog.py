"""Watchdog: one pass, invoked on a schedule; or one run whose execution failed."""

import logging
from datetime import timedelta
from typing import Any

from interlock.errors import InterlockError
from interlock.lambdas.invocation import begin, count, home_of
from interlock.runtime.heartbeat_ping import tell_alive
from interlock.usecases.conclude_pass import PassReport
from interlock.usecases.watch import watch
from interlock.wiring.aws_jobs import aws_jobs
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

log = logging.getLogger(__name__)

#: The time it needs to record its progress.
RESERVE = timedelta(seconds=20)
EVERY = timedelta(minutes=5)
#: The Step Functions event with which a rule invokes it.
EXECUTION_ENDED = "Step Functions Execution Status Change"
#: How often the readings and requests of a pipeline are compared with their outcomes, at a few requests each.
RECONCILE_EVERY = timedelta(minutes=15)

_backend = home_of(Function.WATCHDOG, aws_jobs)


class WatchdogError(InterlockError):
    """Some checks failed; every finding is stored and published."""


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, _backend())


def handle(event: dict[str, Any], context: Any, backend: AwsBackend) -> dict[str, Any]:
    """The schedule may say how often it runs: `everySeconds`."""
    begin(backend, context)
    if event.get("detail-type") == EXECUTION_ENDED:
        return _attend(event["detail"], backend)
    every = timedelta(seconds=int(event.get("everySeconds") or EVERY.total_seconds()))
    report = watch(
        every,
        backend.ports,
        has_time=lambda: backend.time_left() > RESERVE,
        reconcile_every=RECONCILE_EVERY,
    )
    if report is None:
        log.info("another pass is under way", extra={"action": "pass_skipped"})
        return {"findings": 0, "leftOut": 0}
    backend.settle()
    count("WatchdogPass", backend.settings.environment_name)
    _conclude(report, backend)
    return {"findings": len(report.findings), "leftOut": len(report.left_out)}


def _attend(execution: dict[str, Any], backend: AwsBackend) -> dict[str, Any]:
    """The event omits an input that is too long; then the next pass finds the run."""
    from interlock.domain import canonical  # not needed for a pass
    from interlock.lifecycle.step import config_of, step_of
    from interlock.usecases.attend_run import attend_run

    if not execution.get("input"):
        log.warning(
            "an execution event has no input; the next pass will find its run",
            extra={"action": "input_missing"},
        )
        return {"findings": 0}
    step = step_of(canonical.decode(execution["input"]))
    found = attend_run(step.key, execution["name"], config_of(step, backend.ports), backend.ports)
    backend.settle()
    return {"findings": int(found is not None)}


def _conclude(report: PassReport, backend: AwsBackend) -> None:
    if report.left_out:
        shown, number = ", ".join(list(report.left_out)[:20]), len(report.left_out)
        log.warning("no time for %s", shown, extra={"action": "pass_cut_short", "count": number})
    if report.failures:
        failed = sorted({f"{failure.check} ({failure.pipeline})" for failure in report.failures})
        raise WatchdogError(f"watchdog checks failed: {', '.join(failed)}")
    if backend.settings.dead_man_url is not None:
        tell_alive(backend.settings.dead_man_url)
