"""Backend: the home that a command talks to, a running server or the state file itself.

With `--backend aws` it is the installation on AWS, whose functions act on what is written there.
INTERLOCK_URL names a server anywhere. Otherwise it is the state file of the project: looking at it needs
nobody's leave. Writing does: while a server holds the file's lock, commands ask that server, at the
address that it left beside the file; else they write themselves, and say that nothing acts on it yet.
"""

import getpass
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from interlock.adapters.sqlite.audit import AuditEntry
from interlock.adapters.sqlite.lock import is_served, lock_file, serving
from interlock.adapters.sqlite.read_only_database import ReadOnlyDatabase
from interlock.cli.options import Options
from interlock.cli.remote import Remote
from interlock.client import Client
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.event import Event
from interlock.domain.missing import Missing
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError, TransientError, UnavailableError
from interlock.queries.alerted import Alerted
from interlock.queries.findings import WatchdogPass
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.stored_reading import StoredReading
from interlock.queries.why import Why
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.runtime.server_address import find_address
from interlock.usecases.pause import Foreseen
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.operations import Operations
from interlock.wiring.settings import Settings, read_settings

if TYPE_CHECKING:
    from interlock.usecases.foresee_files import FileEdit
    from interlock.wiring.aws_ports import AwsBackend

#: Another command may hold the file for a moment.
_PATIENCE = 3.0
_PAUSE = 0.05

AWS = "aws"

#: A person waits for the answer.
_TRIES = 3


class Looking(Protocol):
    """What can be seen. Operations answer it from the state file, Remote through a server."""

    def readings(self, pipeline_id: str) -> list[Reading]: ...

    def pipelines(self) -> list[PipelineState]: ...

    def why(self, pipeline_id: str, date: str | None = None) -> list[Why]: ...

    def runs(
        self,
        pipeline_id: str | None = None,
        since: str = "0000",
        until: str = "9999",
        limit: int = 100,
    ) -> list[Run]: ...

    def run(self, pipeline_id: str, date: str, schedule_id: str | None = None) -> Run: ...

    def history(self, key: RunKey) -> list[Event]: ...

    def events(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]: ...

    def alerted(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Alerted]: ...

    def heartbeat(self) -> Heartbeat: ...

    def refused(self) -> list[RefusedConfig]: ...

    def missing(self) -> list[Missing]: ...

    def backfill(
        self, pipeline_id: str, first: str, last: str, schedule_id: str | None = None
    ) -> list[str]: ...

    def would_resume(self, pipeline_id: str) -> list[Foreseen]: ...

    def foresee(self, documents: Mapping[str, Any], whole: bool = False) -> list["FileEdit"]: ...

    def prunable(self, runs_before: str) -> int: ...


class Acting(Protocol):
    """What can be asked for."""

    def put(
        self, pipeline_id: str, key: str, fields: Mapping[str, Any], decide: bool = False
    ) -> StoredReading: ...

    def rerun(
        self,
        pipeline_id: str,
        date: str,
        *,
        schedule_id: str | None = None,
        reason: str = "manual",
        force: bool = False,
        actor: str = "",
    ) -> RerunRequest: ...

    def pause(self, pipeline_id: str, until: datetime | None = None) -> Config: ...

    def resume(self, pipeline_id: str) -> Config: ...

    def retire(self, pipeline_id: str) -> Config: ...

    def watch_pass(self, since: datetime | None = None) -> WatchdogPass | None: ...

    def prune(self, runs_before: str | None = None) -> dict[str, int]: ...

    def retry_parked(self) -> int: ...


@dataclass(frozen=True)
class ReachedBackend:
    """A home that was reached. `served`: somebody acts on what is written there."""

    look: Looking
    act: Acting
    served: bool
    #: The file's own log of who asked for what; a server keeps it itself.
    _audit: Callable[[str, str, str], None] | None = None

    def note(self, action: str, target: str, reason: str = "") -> None:
        """Into the audit log, before it is done."""
        if self._audit is not None:
            self._audit(action, target, reason)

    def say_if_nobody_acts(self) -> None:
        if not self.served:
            click.echo("Stored; nothing acts on it until `interlock serve` runs.", err=True)


@contextmanager
def looking(options: Options) -> Iterator[Looking]:
    """For commands that only look. Raises UnavailableError when there is nothing to look at."""
    if options.backend == AWS:
        with looking_at_aws(options) as (_, operations):
            yield operations
        return
    client = named_server()
    if client is not None:
        yield Remote(client)
        return
    with file_for_reading(settings_of(options)) as backend:
        yield backend.operations


@contextmanager
def acting(options: Options) -> Iterator[ReachedBackend]:
    """For commands that write. Raises UnavailableError when nobody can be reached."""
    if options.backend == AWS:
        with acting_on_aws(options) as operations:
            yield ReachedBackend(operations, operations, served=True)
        return
    client = named_server()
    if client is not None:
        remote = Remote(client)
        yield ReachedBackend(remote, remote, served=True)
        return
    settings = settings_of(options)
    client = server_of(settings)
    if client is not None:
        with file_for_reading(settings) as backend:
            yield ReachedBackend(backend.operations, Remote(client), served=True)
        return
    with file_for_writing(settings) as backend:
        yield ReachedBackend(backend.operations, backend.operations, False, partial(_note, backend))


def actor() -> str:
    """Who asks, when no token says so."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def _note(backend: LocalBackend, action: str, target: str, reason: str) -> None:
    entry = AuditEntry(
        at=backend.ports.clock(), actor=actor(), action=action, target=target, reason=reason
    )
    backend.store.audit.note(entry)


@contextmanager
def looking_at_aws(options: Options) -> Iterator[tuple["AwsBackend", Operations]]:
    """Errors say what mends them, where that is known."""
    try:
        from interlock.adapters.aws.failures import explained  # botocore is an extra
        from interlock.wiring.aws_backend import open_aws_backend
    except ModuleNotFoundError as error:
        message = f"--backend aws needs {error.name}: pip install 'interlock[aws]'"
        raise ConfigError(message) from error
    project = Path(options.project)
    backend = open_aws_backend(project, os.environ)
    every = read_settings(project, os.environ).watchdog_every
    try:
        yield backend, Operations(None, backend.ports, every, deliveries=backend.store.deliveries)
    except (UnavailableError, TransientError) as error:
        raise explained(error) from error.__cause__


@contextmanager
def acting_on_aws(options: Options) -> Iterator[Operations]:
    """Timers that are due when they are armed are done at the end, as a function does."""
    with looking_at_aws(options) as (backend, operations):
        yield operations
        backend.settle()


def settings_of(options: Options) -> Settings:
    """Of the local home. Raises ConfigError where the other one was asked for."""
    if options.backend == AWS:
        raise ConfigError("this command looks after the local home: leave --backend aws away")
    return read_settings(Path(options.project), os.environ)


def check_folder(project: Path) -> None:
    """Raises ConfigError."""
    if not project.is_dir():
        raise ConfigError(f"there is no folder {project}: `interlock init {project}` makes one")


def named_server() -> Client | None:
    """The server that the environment names."""
    return Client(tries=_TRIES) if os.environ.get("INTERLOCK_URL") else None


def server_of(settings: Settings) -> Client | None:
    """The server that holds this state file; None when nobody does.

    Raises UnavailableError when there is no file, or its holder can't be asked.
    """
    path = _existing(settings)
    until = time.monotonic() + _PATIENCE
    while is_served(path):
        client = left_address(settings)
        if client is not None:
            return client
        if time.monotonic() > until:
            raise UnavailableError(
                f"{path} is held by another process, and {settings.state / ADDRESS_FILE} names no"
                " server: wait for it, or set INTERLOCK_URL to its address"
            )
        time.sleep(_PAUSE)
    return None


def left_address(settings: Settings) -> Client | None:
    """Where the server says that it listens."""
    left = find_address(settings.state)
    if left is None:
        return None
    return Client(left.url, settings.token or left.token, tries=_TRIES)


def file_for_reading(settings: Settings) -> LocalBackend:
    """Looks at the file, whoever writes to it."""
    _existing(settings)
    return open_local_backend(settings, database=ReadOnlyDatabase)


@contextmanager
def file_for_writing(settings: Settings) -> Iterator[LocalBackend]:
    """As its only writer: a server that starts meanwhile finds the lock taken."""
    with serving(_existing(settings)), open_local_backend(settings) as backend:
        yield backend


def _existing(settings: Settings) -> Path:
    path = settings.database
    if not path.exists():
        what, remedy = absence(path)
        raise UnavailableError(f"{what}: {remedy}; for a server elsewhere set INTERLOCK_URL")
    return path


def absence(database: Path) -> tuple[str, str]:
    """What is wrong without a state file, and what helps. The lock file that stays tells of one before."""
    if lock_file(database).exists():
        return (
            f"the state file {database} is gone",
            "put it back as it was, or the last backup in its place; a server that starts without it"
            " does not know which dates have run",
        )
    return f"there is no state file {database} yet", "`interlock serve` creates it"
