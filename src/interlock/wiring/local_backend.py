"""Local backend: the adapters of one project, put together; for `serve`, and for commands on its file."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

from interlock.adapters.alerts.sinks import slack_channel
from interlock.adapters.alerts.trial_sender import TrialSender
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.secrets.references import Secrets
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.retention import SqliteRetention
from interlock.adapters.sqlite.store import Store
from interlock.errors import ConfigError, InterlockError
from interlock.operations.alert_access import AlertAccess
from interlock.operations.store_commands import StoreCommands
from interlock.operations.store_queries import StoreQueries
from interlock.ports.alerts import Deliveries
from interlock.ports.engine import Clock
from interlock.ports.reads import EventFeed, History
from interlock.queries.alerts_in_force import alerts_of_project
from interlock.usecases.ports import Ports
from interlock.wiring.backend import HERE, BackendInfo
from interlock.wiring.clock import utc_now as utc_now
from interlock.wiring.open_jobs import open_jobs, open_secrets
from interlock.wiring.settings import Settings


@dataclass(frozen=True)
class LocalBackend:
    """Close it when done: the jobs go on."""

    settings: Settings
    database: Database
    store: Store
    ports: Ports
    queries: StoreQueries
    secrets: Secrets
    jobs: JobsByType
    alerting: AlertAccess

    @property
    def history(self) -> History:
        return self.store.history

    @property
    def deliveries(self) -> Deliveries:
        return self.store.deliveries

    @property
    def feed(self) -> EventFeed:
        return self.store.events

    @property
    def info(self) -> BackendInfo:
        return HERE

    def commands(self, actor: str) -> StoreCommands:
        every, lineage = self.settings.watchdog_every, self.settings.lineage
        return StoreCommands(actor, self.ports, self.alerting, every, self.store, lineage)

    def mask(self, text: str) -> str:
        return self.secrets.mask(text)

    def explained(self, error: InterlockError) -> InterlockError:
        return error

    def close(self) -> None:
        self.jobs.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def open_local_backend(
    settings: Settings,
    *,
    clock: Clock | None = None,
    spares: int = 0,
    database: Callable[[str], Database] = Database,
) -> LocalBackend:
    """Raises ConfigError or UnavailableError when the state folder can't be used.

    `spares`: how many supervisors of commands wait beforehand.
    """
    now = clock or utc_now
    make_folder(settings)
    opened = database(os.fspath(settings.database))
    try:
        return _put_together(settings, opened, now, spares)
    except BaseException:
        opened.close()
        raise


def make_folder(settings: Settings) -> None:
    """Only its owner may look inside: readings and job outputs are private."""
    try:
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{settings.state}: the state folder can't be made: {error.strerror}"
        ) from error


def _put_together(
    settings: Settings, database: Database, clock: Clock, spares: int
) -> LocalBackend:
    store = Store(database, clock)
    store.retention = SqliteRetention(database, settings.retention)
    secrets = open_secrets(settings)
    jobs = open_jobs(settings, secrets, clock, spares)
    ports = Ports(
        clock=clock,
        pipelines=store.pipelines,
        sensors=store.sensors,
        runs=store.runs,
        job_log=store.job_log,
        reruns=store.reruns,
        backfills=store.backfills,
        events=store.events,
        outbox=store.outbox,
        claims=store.claims,
        timers=store.timers,
        workflows=store.workflows,
        jobs=JobsByPipeline(jobs),
        watch=store.watch,
        unreadable=store.unreadable,
        instance=settings.instance,
        execution_timeout=settings.execution_timeout,
    )
    every = settings.watchdog_every
    outputs = jobs.outputs()
    alerting = AlertAccess(
        store,
        partial(alerts_of_project, settings.project, store.alert_routes, slack_channel(settings)),
        TrialSender(settings, settings.state, secrets, clock),
    )
    queries = StoreQueries(ports, store.history, alerting, every, store, outputs)
    return LocalBackend(settings, database, store, ports, queries, secrets, jobs, alerting)
