"""AWS reads: an installation on AWS as people see it, read by key and by index, and never written to."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NoReturn

from interlock.adapters.aws.clients import MakeClient, ReadingClient
from interlock.adapters.aws.failures import explained
from interlock.adapters.aws.feed import DynamoFeed
from interlock.adapters.aws.history import DynamoHistory
from interlock.adapters.aws.keys import watchdog_key
from interlock.adapters.aws.row_cache import NoNotes
from interlock.adapters.aws.store import Store
from interlock.adapters.aws.table import Table
from interlock.adapters.secrets.references import Secrets
from interlock.errors import ConfigError, InterlockError
from interlock.operations.store_queries import StoreQueries
from interlock.ports.alerts import Deliveries
from interlock.ports.engine import Clock
from interlock.ports.reads import History
from interlock.runtime.feed_poller import FeedPoller
from interlock.runtime.ttl_cache import TtlCache
from interlock.usecases.ports import Ports
from interlock.wiring.aws_backend import alert_access, maker, names_of, settings_from
from interlock.wiring.aws_jobs import aws_outputs
from interlock.wiring.aws_ports import AwsBackend, open_aws_ports
from interlock.wiring.backend import BackendInfo
from interlock.wiring.settings import Settings

LOOK_SECONDS = 5.0
KEPT_SECONDS = 5.0
#: The pages do not ask whether a date that failed longer ago is late.
_IDLE_FOR = timedelta(days=35)
COMMAND = "interlock --backend aws"


@dataclass(frozen=True)
class AwsReads:
    """Close it when done."""

    backend: AwsBackend
    queries: StoreQueries
    history: History
    feed: FeedPoller
    info: BackendInfo
    secrets: Secrets
    _kept: TtlCache

    def commands(self, actor: str) -> NoReturn:
        raise ConfigError(f"{self.info.name} is only read here; use {self.info.command}")

    @property
    def ports(self) -> Ports:
        return self.backend.ports

    @property
    def deliveries(self) -> Deliveries:
        return self.backend.store.deliveries

    def mask(self, text: str) -> str:
        return self.secrets.mask(text)

    def explained(self, error: InterlockError) -> InterlockError:
        return explained(error)

    def reasons(self, now: datetime) -> list[str]:
        """Why there is nothing to be seen. How the watchdog is doing is for the pages to tell."""
        return [str(error) for error in self._kept.get("troubles", self.troubles).values()]

    def notices(self) -> list[str]:
        """Of a file that was refused there, its event tells."""
        return []

    def troubles(self) -> dict[str, InterlockError]:
        """The tables that can't be read, each with the reason and what mends it."""
        return dict(_troubles(self.backend.store))

    def close(self) -> None:
        self.feed.close()


def open_aws_reads(
    settings: Settings,
    *,
    clock: Clock | None = None,
    make: MakeClient | None = None,
    look_seconds: float = LOOK_SECONDS,
    kept_seconds: float = KEPT_SECONDS,
) -> AwsReads:
    """Raises ConfigError when the installation is not named; makes no request yet."""
    backend = _backend(settings, clock, make, timedelta(seconds=kept_seconds))
    store, kept = backend.store, TtlCache(kept_seconds)
    lookout = FeedPoller(DynamoFeed(store.event_log, store.fan, store.clock), look_seconds)
    active = partial(kept.get, "active", partial(store.runs.active, _IDLE_FOR))
    history = DynamoHistory(store.runs, store.event_log, store.fan, active)
    every, outputs = settings.watchdog_every, aws_outputs(store.clock)
    return AwsReads(
        backend,
        StoreQueries(backend.ports, history, alert_access(backend), every, outputs=outputs),
        history,
        lookout,
        BackendInfo(
            command=COMMAND,
            name=f"{backend.settings.environment_name} on AWS",
            read_only=True,
            look_seconds=look_seconds,
            kept_seconds=kept_seconds,
        ),
        _secrets(settings),
        kept,
    )


def _backend(
    settings: Settings, clock: Clock | None, make: MakeClient | None, configs_kept: timedelta
) -> AwsBackend:
    """Nothing of it can write, and nothing but the tables can be asked."""
    named = names_of(settings.project, settings.environment)
    make_any = make or maker(named)
    return open_aws_ports(
        settings_from(named),
        clock=clock,
        make=lambda service: ReadingClient(make_any(service) if service == "dynamodb" else None),
        configs_kept=configs_kept,
        notes=NoNotes(),
    )


def _secrets(settings: Settings) -> Secrets:
    """Masks the login token in logs and on pages."""
    secrets = Secrets({})
    if settings.token is not None:
        secrets.learn(settings.token)
    return secrets


def _troubles(store: Store) -> Iterator[tuple[str, InterlockError]]:
    names = store.names
    for name in (names.control, names.joblog, names.rerun, names.events):
        try:
            Table(store.client, name).get(watchdog_key())
        except InterlockError as error:
            yield name, explained(error)
