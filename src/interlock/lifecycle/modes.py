"""Modes: what the Tasks of the state machine call, by the name of the mode."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.errors import ConfigError
from interlock.lifecycle import deadlines
from interlock.lifecycle.check_job import check_job
from interlock.lifecycle.complete_trigger import complete_trigger
from interlock.lifecycle.deferred_events import deferring
from interlock.lifecycle.evaluate import evaluate
from interlock.lifecycle.exhausted import (
    infra_failure,
    job_poll_exhausted,
    trigger_exhausted,
    validation_exhausted,
)
from interlock.lifecycle.step import Step, step_of
from interlock.lifecycle.trigger import trigger
from interlock.usecases.ports import Ports

Mode = Callable[[Step, Ports], dict[str, Any]]

ORCHESTRATOR: dict[str, Mode] = {
    "evaluate": evaluate,
    "trigger": trigger,
    "check-job": check_job,
    "validation-exhausted": validation_exhausted,
    "trigger-exhausted": trigger_exhausted,
    "job-poll-exhausted": job_poll_exhausted,
    "complete-trigger": complete_trigger,
    "infra-failure": infra_failure,
}

SLA_MONITOR: dict[str, Mode] = {
    "schedule": deadlines.schedule,
    "cancel": deadlines.cancel,
    "calculate": deadlines.calculate,
}


def call(modes: Mapping[str, Mode], given: Mapping[str, Any], ports: Ports) -> dict[str, Any]:
    """Run one mode. It raises on every failure except a failed publish; it never returns an error."""
    mode = modes.get(given["mode"])
    if mode is None:
        raise ConfigError(f"unknown mode {given['mode']!r}; known modes: {', '.join(modes)}")
    return mode(step_of(given), deferring(ports))
