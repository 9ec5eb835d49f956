"""AWS: the ports of one function over the services, as its environment names them.

Clients are made when they are first called. What belongs to one invocation is forgotten before the next.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, NoReturn

from interlock.adapters.aws.clients import LazyClient, MakeClient, make_client
from interlock.adapters.aws.events import BusAndLog, EventBus
from interlock.adapters.aws.row_cache import Notes
from interlock.adapters.aws.store import Store, TableNames
from interlock.domain.run import EXECUTION_TIMEOUT
from interlock.domain.timer import Timer
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import ConfigError
from interlock.ports.engine import Clock
from interlock.ports.jobs import Jobs
from interlock.usecases.ports import Ports
from interlock.wiring.aws_settings import AwsSettings
from interlock.wiring.clock import utc_now

#: A stream record reaches one container only: the others learn of a new config this late at most.
CONFIGS_KEPT = timedelta(seconds=60)

#: A timer that is due may arm another; this many in a row are a bug.
_MOST_OVERDUE = 1000


def _plenty() -> timedelta:
    return timedelta(minutes=15)


class TimeLeft:
    """How long the invocation in hand may still take."""

    def __init__(self) -> None:
        self.ask: Callable[[], timedelta] = _plenty

    def __call__(self) -> timedelta:
        return self.ask()


@dataclass
class AwsBackend:
    """One function at work."""

    settings: AwsSettings
    store: Store
    ports: Ports
    #: The client of a service, made at its first call.
    client: Callable[[str], Any]
    #: Timers that were armed for an instant which had passed.
    overdue: list[Timer] = field(default_factory=list)
    time_left: TimeLeft = field(default_factory=TimeLeft)

    def begin(self, time_left: Callable[[], timedelta] | None = None) -> None:
        """An invocation starts: what the last one has noted is old."""
        self.store.notes.forget()
        self.overdue.clear()
        self.time_left.ask = time_left or _plenty

    def settle(self) -> None:
        """Fire the timers that were already due when armed. AWS repeats an invocation that dies earlier."""
        from interlock.usecases.fire_timer import fire_timer  # only where timers are armed

        for _ in range(_MOST_OVERDUE):
            if not self.overdue:
                return
            timer = self.overdue.pop(0)
            fire_timer(timer.kind, timer.payload, self.ports)
        raise RuntimeError("timers that are due keep arming others that are due")


def open_aws_ports(
    settings: AwsSettings,
    *,
    clock: Clock | None = None,
    make: MakeClient = make_client,
    jobs: Callable[[TimeLeft, Clock], Jobs] | None = None,
    configs_kept: timedelta = CONFIGS_KEPT,
    notes: Notes | None = None,
) -> AwsBackend:
    """`jobs` makes what launches and polls; without it, this function does neither."""
    now = clock or utc_now
    client = cache(lambda service: LazyClient(service, make))
    names = TableNames(
        settings.control_table, settings.joblog_table, settings.rerun_table, settings.events_table
    )
    store = Store(
        client("dynamodb"), names, now, configs_kept, settings.events_kept, notes or Notes()
    )
    overdue: list[Timer] = []
    time_left = TimeLeft()
    ports = Ports(
        clock=now,
        pipelines=store.pipelines,
        sensors=store.sensors,
        runs=store.runs,
        job_log=store.job_log,
        reruns=store.reruns,
        backfills=store.backfills,
        events=BusAndLog(EventBus(client("events"), settings.bus), store.event_log),
        outbox=store.outbox,
        claims=store.claims,
        timers=_timers(settings, client("scheduler"), now, overdue),
        workflows=_workflows(settings, client("stepfunctions")),
        jobs=_unwired("jobs", settings) if jobs is None else jobs(time_left, now),
        watch=store.watch,
        unreadable=store.unreadable,
        instance=settings.instance,
        execution_timeout=settings.execution_timeout or EXECUTION_TIMEOUT,
    )
    return AwsBackend(settings, store, ports, client, overdue, time_left)


class Unwired:
    """A port that this function was given no settings for."""

    def __init__(self, port: str, settings: AwsSettings) -> None:
        self._port, self._function = port, settings.function

    def __getattr__(self, name: str) -> NoReturn:
        raise ConfigError(f"{self._function} has no {self._port}")


def _unwired(port: str, settings: AwsSettings) -> Any:
    """Stands for a port of any kind."""
    return Unwired(port, settings)


def _timers(settings: AwsSettings, client: Any, clock: Clock, overdue: list[Timer]) -> Any:
    if not settings.scheduler_group:
        return _unwired("timers", settings)
    from interlock.adapters.aws.timers import Scheduler, TimerTargets

    targets = TimerTargets(
        group=settings.scheduler_group,
        role_arn=settings.scheduler_role_arn,
        dead_letter_arn=settings.undelivered_queue_arn,
        stream_router_arn=settings.stream_router_arn,
        sla_monitor_arn=settings.sla_monitor_arn,
        alert_queue_arn=settings.alert_queue_arn,
    )
    return Scheduler(client, targets, clock, overdue.append)


class NoEngine(Unwired):
    """The engine for a function that may not start executions. Waking does nothing, as Step Functions can't
    cut a wait short.
    """

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        return


def _workflows(settings: AwsSettings, client: Any) -> Any:
    if not settings.machine_arn:
        return NoEngine("engine", settings)
    from interlock.adapters.aws.workflows import StepFunctions

    return StepFunctions(client, settings.machine_arn)
