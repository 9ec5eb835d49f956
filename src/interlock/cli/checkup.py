"""Checkup: the checks of an installation, each with what it found and how to fix it."""

import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

import msgspec

from interlock.adapters.sqlite.inspection import inspect
from interlock.adapters.sqlite.lock import is_served, lock_file
from interlock.cli.backend import absence, file_for_reading, left_address
from interlock.cli.shown import count, span
from interlock.domain import duration
from interlock.domain.change import Parked
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.unreadable import RowKind, UnreadableRow
from interlock.errors import InterlockError
from interlock.files import Project, load_project
from interlock.files.problem import by_file
from interlock.operations.requests import EventsQuery
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.missing_files import missing_files
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.wiring.local_backend import LocalBackend
from interlock.wiring.settings import Settings

#: The first version without the rare WAL bug that affects several writers.
_SOUND_WAL = (3, 51, 3)
_OLDEST_SQLITE = (3, 38, 0)
_OLDEST_PYTHON = (3, 11)
_LITTLE_DISK = 500 * 2**20
_TOO_LITTLE_DISK = 50 * 2**20
#: Checking every page of a larger file takes too long here; a backup does it.
_QUICKLY_READ = 2**30
_HOLIDAYS_AHEAD = timedelta(days=180)
_NO_YEAR_BEFORE = 2025
_CLOCK_MARGIN = timedelta(minutes=2)
_SHOWN = 5
#: The characters that a shell interprets between double quotes.
_SPECIAL = frozenset('"\\$`!')


class Level(StrEnum):
    """How serious a finding is."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


class Finding(msgspec.Struct, frozen=True):
    """What a check found."""

    check: str
    level: Level
    what: str
    remedy: str = ""


class Checkup:
    """All checks of one installation. A check that fails is itself a finding."""

    def __init__(self, settings: Settings, now: Callable[[], datetime] | None = None) -> None:
        self._settings = settings
        self._now = (now or (lambda: datetime.now(UTC)))()
        self._backend: LocalBackend | None = None

    def findings(self) -> list[Finding]:
        with ExitStack() as stack:
            opened = list(self._guarded("state file", lambda: self._open(stack)))
            checks = {
                "python": self._python,
                "sqlite": self._sqlite,
                "state folder": self._folder,
                "disk": self._disk,
                "clock": self._clock,
                "server": self._server,
                "watchdog": self._watchdog,
                "changes": self._parked,
                "rows": self._rows,
                "files": self._files,
                "holidays": self._holidays,
            }
            found = [each for name, check in checks.items() for each in self._guarded(name, check)]
        return [*found[:3], *opened, *found[3:]]

    def _guarded(self, name: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
        try:
            yield from check()
        except InterlockError as error:
            yield Finding(name, Level.WRONG, f"{name}: {error}")
        except Exception as error:  # noqa: BLE001 - a check that breaks must not hide the others
            what = f"{name}: the check itself failed: {type(error).__name__}: {error}"
            yield Finding(name, Level.WRONG, what, "run `interlock --debug doctor`")

    def _open(self, stack: ExitStack) -> Iterator[Finding]:
        path = self._settings.database
        if not path.exists():
            level = Level.WRONG if lock_file(path).exists() else Level.NOTE
            yield Finding("state file", level, *absence(path))
            return
        self._backend = stack.enter_context(file_for_reading(self._settings))
        size = path.stat().st_size
        if size <= _QUICKLY_READ and not self._backend.database.read(_is_sound):
            what = f"{path} is damaged"
            remedy = "stop the server, keep a copy of the file, and replace it with the last backup"
            yield Finding("state file", Level.WRONG, what, remedy)
            return
        yield Finding("state file", Level.FINE, f"{path}, {size / 2**20:.1f} MiB")

    def _python(self) -> Iterator[Finding]:
        yield python()

    def _sqlite(self) -> Iterator[Finding]:
        have = sqlite3.sqlite_version
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            yield Finding("sqlite", Level.WRONG, f"SQLite {have}", "install SQLite 3.38 or newer")
        elif sqlite3.sqlite_version_info < _SOUND_WAL:
            what = (
                f"SQLite {have} has a rare WAL bug that affects several writers;"
                " Interlock has one writer and is not affected"
            )
            yield Finding("sqlite", Level.FINE, what)
        else:
            yield Finding("sqlite", Level.FINE, f"SQLite {have}")

    def _folder(self) -> Iterator[Finding]:
        folder = _first_existing(self._settings.state)
        if os.access(folder, os.W_OK | os.X_OK):
            yield Finding("state folder", Level.FINE, f"{self._settings.state} is writable")
        else:
            what = f"{folder} is not writable"
            yield Finding(
                "state folder", Level.WRONG, what, f"make yourself its owner: chown {folder}"
            )

    def _disk(self) -> Iterator[Finding]:
        free = shutil.disk_usage(_first_existing(self._settings.state)).free
        what = f"{free / 2**30:.1f} GiB free for the state file"
        if free >= _LITTLE_DISK:
            yield Finding("disk", Level.FINE, what)
        else:
            level = Level.WRONG if free < _TOO_LITTLE_DISK else Level.NOTE
            yield Finding("disk", level, what, "free some space, or `interlock prune` old runs")

    def _clock(self) -> Iterator[Finding]:
        """A clock set back would make every lease and deadline wrong."""
        remedy = "set the clock, and keep it in sync with NTP"
        if self._now.year < _NO_YEAR_BEFORE:
            yield Finding("clock", Level.WRONG, f"the clock says {self._now:%Y-%m-%d}", remedy)
            return
        newest = (
            []
            if self._backend is None
            else self._backend.queries.events(EventsQuery(limit=1)).items
        )
        if newest and newest[0].timestamp > self._now + _CLOCK_MARGIN:
            ahead = duration.for_people(newest[0].timestamp - self._now)
            what = f"the newest event is {ahead} ahead of the clock"
            yield Finding("clock", Level.WRONG, what, remedy)
        else:
            yield Finding("clock", Level.FINE, f"the clock says {self._now:%Y-%m-%d %H:%M} UTC")

    def _server(self) -> Iterator[Finding]:
        if self._backend is None:
            return
        if not is_served(self._settings.database):
            what = "no server is running; nothing acts on what is written"
            yield Finding("server", Level.NOTE, what, "start it: interlock serve")
            return
        client = left_address(self._settings)
        if client is None:
            place = self._settings.state / ADDRESS_FILE
            what = f"the state file is locked, but {place} names no server"
            yield Finding("server", Level.NOTE, what, "another command may be running; try again")
            return
        client.call("GET", "/healthz")
        yield Finding("server", Level.FINE, f"{client.url} responds")

    def _watchdog(self) -> Iterator[Finding]:
        if self._backend is None:
            return
        beat = self._backend.queries.watchdog()
        yield heartbeat(
            beat, self._now, "interlock", "start `interlock serve`, or run `interlock watchdog`"
        )

    def _parked(self) -> Iterator[Finding]:
        if self._backend is None:
            return
        parked = self._backend.store.changes.parked()
        if not parked:
            yield Finding("changes", Level.FINE, "every change was handled")
        for each in parked[:_SHOWN]:
            yield Finding("changes", Level.WRONG, _said(each), "interlock doctor --retry")
        if len(parked) > _SHOWN:
            what = f"{len(parked) - _SHOWN} more changes could not be handled"
            yield Finding("changes", Level.WRONG, what, "interlock doctor --retry")

    def _rows(self) -> Iterator[Finding]:
        if self._backend is not None:
            yield from unreadable_rows(inspect(self._backend.database), self._delete_row)

    def _delete_row(self, row: UnreadableRow) -> str:
        statement = " ".join(("DELETE FROM", row.table, "WHERE", row.key))
        file = shlex.quote(str(self._settings.database))
        return f"stop the server, then: sqlite3 {file} {_in_quotes(statement)}"

    def _files(self) -> Iterator[Finding]:
        project = load_project(self._settings.project)
        yield from refused_files(project)
        if not project.errors:
            what = count(len(project.pipelines), "valid pipeline file")
            level = Level.FINE if project.pipelines else Level.NOTE
            yield Finding("files", level, what, "" if project.pipelines else "interlock init")
        if self._backend is not None:
            yield from self._not_in_force(self._backend, set(project.pipelines))
            yield from self._missing(self._backend)
            for each in self._backend.queries.refused().items:
                if not each.file:  # files are checked as they are now
                    yield refused_config(each, "store a valid config")

    def _not_in_force(self, backend: LocalBackend, declared: set[str]) -> Iterator[Finding]:
        """A valid file that the controller has not adopted."""
        in_force = {config.pipeline.id for config in backend.store.pipelines.in_force()}
        for name in sorted(declared - in_force):
            what = f"{name} is declared but not in force"
            yield Finding(
                "files", Level.NOTE, what, "a running server adopts its file within seconds"
            )

    def _missing(self, backend: LocalBackend) -> Iterator[Finding]:
        """A pipeline in force without a file; many of them at once are an error."""
        missing = backend.queries.missing().items
        held = any(each.held_at is not None for each in missing)
        remedy = "restore the files, or confirm with `interlock retire PIPELINE` or `--all-missing`"
        for what in missing_files(missing):
            yield Finding("files", Level.WRONG if held else Level.NOTE, what, remedy)

    def _holidays(self) -> Iterator[Finding]:
        if self._backend is None:
            return
        configs = self._backend.store.pipelines.in_force()
        yield from short_holidays(configs, self._now, "update the package `holidays`, then restart")


def refused_files(project: Project) -> Iterator[Finding]:
    """Each invalid file, with the first of its problems."""
    for first, *others in by_file(project.errors).values():
        rest = f" (and {len(others)} more)" if others else ""
        yield Finding("files", Level.WRONG, f"refused: {first}{rest}", "interlock validate")


def refused_config(refused: RefusedConfig, remedy: str) -> Finding:
    """A stored config that is invalid."""
    what = f"refused: {refused}; the previous config stays in force"
    return Finding("configs", Level.WRONG, what, remedy)


def _in_quotes(statement: str) -> str:
    """Quoted for a shell. SQL uses single quotes, so double quotes where nothing inside is special."""
    return shlex.quote(statement) if _SPECIAL & set(statement) else f'"{statement}"'


def unreadable_rows(
    rows: Sequence[UnreadableRow], deletes: Callable[[UnreadableRow], str]
) -> Iterator[Finding]:
    """Each row that can't be read, with what is wrong and what to do; `deletes` says how to delete it."""
    if not rows:
        yield Finding("rows", Level.FINE, "every stored row can be read")
    worst = sorted(rows, key=lambda row: (row.kind is RowKind.RECORD, row.table, row.key))
    for row in worst[:_SHOWN]:
        what = f"unreadable row in {row.table}: {row.key}: {row.problem}"
        yield Finding("rows", Level.WRONG, what, f"{row.remedy}. To delete it, {deletes(row)}")
    if len(rows) > _SHOWN:
        what = f"{len(rows) - _SHOWN} more unreadable rows"
        yield Finding("rows", Level.WRONG, what, "fix these first, then run this again")


def short_holidays(configs: Iterable[Config], now: datetime, remedy: str) -> Iterator[Finding]:
    """The configs in force whose known holidays end soon."""
    horizon = (now + _HOLIDAYS_AHEAD).date().isoformat()
    for config in configs:
        until = config.pipeline.holidays_until
        if until is not None and until < horizon:
            what = f"{config.pipeline.id}: its holidays are known only until {until}"
            yield Finding("holidays", Level.WRONG, what, remedy)


def heartbeat(beat: Heartbeat, now: datetime, command: str, remedy: str) -> Finding:
    """The state of the watchdog; `remedy` is for one that no longer runs."""
    last = "never" if beat.last_ok_at is None else span(beat.last_ok_at, now)
    what = f"last good pass of the watchdog: {last}"
    if beat.is_late:
        return Finding("watchdog", Level.WRONG, what, remedy)
    if beat.failures:
        what = f"failing checks: {', '.join(beat.failures)}"
        tells = f"{command} events --type WATCHDOG_DEGRADED"
        return Finding("watchdog", Level.WRONG, what, tells)
    return Finding("watchdog", Level.FINE, what)


def python() -> Finding:
    have = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= _OLDEST_PYTHON:
        return Finding("python", Level.FINE, f"Python {have}")
    return Finding("python", Level.WRONG, f"Python {have}", "install Python 3.11 or newer")


def _said(parked: Parked) -> str:
    change = parked.change
    return f"{change.kind} {change.pipeline_id} {change.key}: {parked.error} ({parked.tries} tries)"


def _is_sound(connection: sqlite3.Connection) -> bool:
    (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return bool(answer == "ok")


def _first_existing(path: Path) -> Path:
    """The folder itself, or the one in which it will be created."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path
