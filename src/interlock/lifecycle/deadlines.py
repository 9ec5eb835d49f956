"""Deadlines: the modes of the SLA monitor."""

from typing import Any

from interlock.domain.deadline import deadlines
from interlock.domain.partition import Label
from interlock.domain.run import DeadlineKind, RunKey
from interlock.domain.timestamp import spell
from interlock.errors import NotFoundError
from interlock.lifecycle.step import Step, config_of
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.ports import Ports
from interlock.usecases.settle_deadline import settle_deadline


def schedule(step: Step, ports: Ports) -> dict[str, Any]:
    """Arm the timers that are not armed."""
    return {"armed": arm_deadlines(step.key, config_of(step, ports), ports)}


def cancel(step: Step, ports: Ports) -> dict[str, Any]:
    """Settle the verdict, and cancel the timers."""
    return {"slaVerdict": settle_deadline(step.key, config_of(step, ports), ports)}


def calculate(step: Step, ports: Ports) -> dict[str, Any]:
    """Compute the instants of a date; no side effects."""
    pipeline = step.pipeline
    names = ("warningAt", "breachAt", "relativeWarningAt", "relativeBreachAt", "readinessAt")
    if pipeline.sla is None:
        return dict.fromkeys(names)
    run = ports.runs.find([step.key]).get(step.key)
    due = deadlines(
        pipeline.schedule(step.key.schedule_id),
        pipeline.sla,
        Label.parse(step.key.date),
        first_sensor_at=None if run is None else run.first_sensor_at,
        calendars=pipeline.calendars,
    )
    moments = (
        due.warning_at,
        due.breach_at,
        due.relative_warning_at,
        due.relative_breach_at,
        due.readiness_at,
    )
    return {
        name: None if at is None else spell(at) for name, at in zip(names, moments, strict=True)
    }


def reconcile(key: RunKey, ports: Ports) -> dict[str, Any]:
    """Arm the missing timers and judge the deadlines that have passed, for one date."""
    config = ports.pipelines.find(key.pipeline_id)
    if config is None:
        raise NotFoundError(f"no pipeline {key.pipeline_id} is in force")
    armed = arm_deadlines(key, config, ports)
    told = [kind for kind in DeadlineKind if fire_deadline(key, kind, ports)]
    return {"armed": armed, "told": told}
