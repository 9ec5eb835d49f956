"""SLA monitor: deadlines, for the state machine, for EventBridge Scheduler, and by hand."""

from typing import Any

from interlock.domain.run import DeadlineKind, RunKey
from interlock.lambdas.invocation import begin, home_of, report
from interlock.lifecycle.deadlines import reconcile
from interlock.lifecycle.modes import SLA_MONITOR, call
from interlock.usecases.fire_deadline import fire_deadline
from interlock.wiring.aws_jobs import aws_jobs
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

_backend = home_of(Function.SLA_MONITOR, aws_jobs)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, _backend())


def handle(event: dict[str, Any], context: Any, backend: AwsBackend) -> dict[str, Any]:
    begin(backend, context)
    try:
        answer = _answer(event, backend)
        backend.settle()
    finally:
        report(backend)
    return answer


def _answer(event: dict[str, Any], backend: AwsBackend) -> dict[str, Any]:
    mode = event.get("mode")
    if mode == "fire-alert":
        return {"told": fire_deadline(_key(event), DeadlineKind(event["kind"]), backend.ports)}
    if mode == "reconcile":
        return reconcile(_key(event), backend.ports)
    return call(SLA_MONITOR, event, backend.ports)


def _key(event: dict[str, Any]) -> RunKey:
    return RunKey(event["pipelineId"], event["scheduleId"], event["date"])
