"""Read-only database: reads a state file that another process may be writing to, and never writes."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import NoReturn, TypeVar

from interlock.adapters.sqlite import connections, tables
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.failures import raise_meaning
from interlock.adapters.sqlite.migrations import check_owner, check_version, version_of
from interlock.adapters.sqlite.readers import Readers
from interlock.adapters.sqlite.writer import Settled, Unit
from interlock.errors import UnavailableError

T = TypeVar("T")


class ReadOnlyDatabase(Database):
    """A file of exactly our version. Raises UnavailableError for an older or unreadable one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.after_commit = None
        self.commits = 0
        self._opened_store = _Reading(Path(path).absolute())
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def _check_version(self) -> None:
        found, known = self.read(version_of), len(tables.SCRIPTS)
        check_version(self.name, found, known)
        self.read(lambda connection: check_owner(connection, self.name))
        if found < known:
            raise UnavailableError(
                f"{self.name} has an older version: `interlock serve` brings it up to date"
            )


class _Reading:
    """Readers without a writer."""

    def __init__(self, path: Path) -> None:
        try:
            with closing(connections.for_reading(path)) as connection:
                version_of(connection)
        except sqlite3.Error as error:
            raise_meaning(error, str(path))
        self._readers = Readers(path)
        self.read = self._readers.read
        self.close = self._readers.close

    def problem(self) -> None:
        """Nothing is written here."""

    def needs(self, path: Path) -> None:
        """Nothing is written here."""

    def threads(self) -> list[Thread]:
        return []

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> NoReturn:
        raise _read_only()

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> NoReturn:
        raise _read_only()


def _read_only() -> UnavailableError:
    return UnavailableError("the state file was opened read-only")
