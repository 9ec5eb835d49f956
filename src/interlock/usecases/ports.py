"""Ports: everything that a use case may touch, in one struct."""

from dataclasses import dataclass
from datetime import timedelta

from interlock.domain.run import EXECUTION_TIMEOUT, LEASE_MARGIN
from interlock.ports.engine import Clock, Timers, Workflows
from interlock.ports.jobs import Jobs
from interlock.ports.stores import (
    Backfills,
    Claims,
    Events,
    JobLog,
    Outbox,
    Pipelines,
    Reruns,
    Runs,
    Sensors,
    UnreadableRows,
    Watch,
)


@dataclass(frozen=True)
class Ports:
    """Everything a use case may touch."""

    clock: Clock
    pipelines: Pipelines
    sensors: Sensors
    runs: Runs
    job_log: JobLog
    reruns: Reruns
    backfills: Backfills
    events: Events
    outbox: Outbox
    claims: Claims
    timers: Timers
    workflows: Workflows
    jobs: Jobs
    watch: Watch
    unreadable: UnreadableRows
    instance: str = "interlock"
    execution_timeout: timedelta = EXECUTION_TIMEOUT

    @property
    def lease(self) -> timedelta:
        """How long an attempt may take before the watchdog checks on it."""
        return self.execution_timeout + LEASE_MARGIN
