"""Backend: what a command talks to, a running server or the state file itself.

With `--backend aws` it is the installation on AWS, whose functions act on what is written there.
INTERLOCK_URL names a server anywhere. Otherwise it is the state file of the project. Reading it
needs no lock. Writing does: while a server holds the lock, commands ask that server, at the address that
it left beside the file; otherwise they write themselves, and say that nothing acts on it yet.
"""

import getpass
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interlock.adapters.sqlite.lock import is_served, lock_file, serving
from interlock.adapters.sqlite.read_only_database import ReadOnlyDatabase
from interlock.cli.options import Options
from interlock.cli.remote import remote_commands, remote_queries
from interlock.client import Client
from interlock.errors import ConfigError, TransientError, UnavailableError
from interlock.operations.commands import Commands
from interlock.operations.queries import Queries
from interlock.operations.store_commands import StoreCommands
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.runtime.server_address import find_address
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import Settings, read_settings

if TYPE_CHECKING:
    from interlock.wiring.aws_ports import AwsBackend

#: Another command may hold the file for a moment.
_PATIENCE = 3.0
_PAUSE = 0.05

AWS = "aws"

#: A person waits for the answer.
_TRIES = 3


@dataclass(frozen=True)
class ReachedBackend:
    """A backend that a command reached. `served`: a controller acts on what is written there."""

    queries: Queries
    commands: Commands
    served: bool

    def say_if_unserved(self) -> None:
        if not self.served:
            click.echo("Stored; nothing acts on it until `interlock serve` runs.", err=True)


@contextmanager
def looking(options: Options) -> Iterator[Queries]:
    """For commands that only look. Raises UnavailableError when there is nothing to look at."""
    if options.backend == AWS:
        with looking_at_aws(options) as (_, queries):
            yield queries
        return
    client = named_server()
    if client is not None:
        yield remote_queries(client)
        return
    with file_for_reading(settings_of(options)) as backend:
        yield backend.queries


@contextmanager
def acting(options: Options) -> Iterator[ReachedBackend]:
    """For commands that write. Raises UnavailableError when no backend can be reached."""
    if options.backend == AWS:
        with acting_on_aws(options) as reached:
            yield reached
        return
    client = named_server()
    if client is not None:
        yield ReachedBackend(remote_queries(client), remote_commands(client), served=True)
        return
    settings = settings_of(options)
    client = server_of(settings)
    if client is not None:
        with file_for_reading(settings) as backend:
            yield ReachedBackend(backend.queries, remote_commands(client), served=True)
        return
    with file_for_writing(settings) as backend:
        yield ReachedBackend(backend.queries, backend.commands(actor()), served=False)


def actor() -> str:
    """Who asks, when no token says so."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


@contextmanager
def looking_at_aws(options: Options) -> Iterator[tuple["AwsBackend", Queries]]:
    """Errors name their remedy, where it is known."""
    try:
        from interlock.adapters.aws.failures import explained  # botocore is an extra
        from interlock.wiring.aws_backend import aws_queries, open_aws_backend
    except ModuleNotFoundError as error:
        message = f"--backend aws needs {error.name}: pip install 'interlock[aws]'"
        raise ConfigError(message) from error
    project = Path(options.project)
    backend = open_aws_backend(project, os.environ)
    every = read_settings(project, os.environ).watchdog_every
    try:
        yield backend, aws_queries(backend, every)
    except (UnavailableError, TransientError) as error:
        raise explained(error) from error.__cause__


@contextmanager
def acting_on_aws(options: Options) -> Iterator[ReachedBackend]:
    """Timers that are due when they are armed are done at the end, as a function does."""
    every = read_settings(Path(options.project), os.environ).watchdog_every
    with looking_at_aws(options) as (backend, queries):
        from interlock.wiring.aws_backend import alert_access

        commands = StoreCommands(actor(), backend.ports, alert_access(backend), every)
        yield ReachedBackend(queries, commands, served=True)
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
    """The server that holds this state file; None when there is none.

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
    """Reads the file, even while a server writes to it."""
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
