"""Orchestrator: the Tasks of the state machine, one mode each. Failures are raised."""

from typing import Any

from interlock.domain.admission import judged_keys
from interlock.domain.partition import Label
from interlock.domain.sensor import period_keys
from interlock.lambdas.invocation import begin, home_of, report
from interlock.lifecycle.modes import ORCHESTRATOR, call
from interlock.lifecycle.step import step_of
from interlock.wiring.aws_jobs import aws_jobs
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

_backend = home_of(Function.ORCHESTRATOR, aws_jobs)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, _backend())


def handle(event: dict[str, Any], context: Any, backend: AwsBackend) -> dict[str, Any]:
    begin(backend, context)
    if event.get("mode") == "evaluate":
        _prefetch(event, backend)
    try:
        return call(ORCHESTRATOR, event, backend.ports)
    finally:
        report(backend)


def _prefetch(event: dict[str, Any], backend: AwsBackend) -> None:
    """An evaluation reads its run and the readings of its rules in one request; rules that look back read
    the previous date separately.
    """
    step = step_of(event)
    label = Label.parse(step.key.date)
    names = judged_keys(step.pipeline, step.pipeline.schedule(step.key.schedule_id))
    keys = {key for name in names for key in period_keys(name, label)}
    backend.store.runs.prefetch(step.key, sorted(keys))
