"""Database: one SQLite store, in a file or in memory, and the only way to write to it.

A *unit* is a function of a connection: all of it happens, or nothing. With a file, one thread writes in
groups and every thread reads on its own connection; in memory, all threads share one connection.
"""

import itertools
import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Protocol, Self, TypeVar

from interlock.adapters.sqlite import connections, tables
from interlock.adapters.sqlite.failures import BROKEN, meaning, raise_meaning
from interlock.adapters.sqlite.migrations import migrate
from interlock.adapters.sqlite.presence import Presence
from interlock.adapters.sqlite.readers import Readers
from interlock.adapters.sqlite.shared import SharedConnection
from interlock.adapters.sqlite.writer import Settled, Unit, Writer
from interlock.adapters.unreadable_rows import MetRows

T = TypeVar("T")

MEMORY = ":memory:"


class _OpenedStore(Protocol):
    """Where units run and queries are answered."""

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T: ...
    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None: ...
    def read(self, query: Callable[[sqlite3.Connection], T]) -> T: ...
    def problem(self) -> str | None: ...
    def needs(self, path: Path) -> None: ...
    def threads(self) -> list[Thread]: ...
    def close(self) -> None: ...


class Database:
    """A store at a path, or in memory. Raises TransientError or UnavailableError when it is broken."""

    def __init__(
        self, path: str | os.PathLike[str] = MEMORY, *, scripts: Sequence[str] = tables.SCRIPTS
    ) -> None:
        self.name = os.fspath(path)
        #: Called after each commit, in the caller's thread if it waits; its exceptions reach the caller.
        self.after_commit: Callable[[], None] | None = None
        #: How many units were committed here: while it is unchanged, so is the store.
        self.commits = 0
        self._numbers = itertools.count(1)
        try:
            self._opened_store = _opened(self.name, scripts)
        except sqlite3.Error as error:
            raise_meaning(error, self.name)

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return None if self.name == MEMORY else Path(self.name)

    @cached_property
    def unreadable(self) -> MetRows:
        """The unreadable rows among all the rows read so far."""
        return MetRows()

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        """Run a unit and return its result once it is durable.

        Every reader sees a lazy unit at once, but it reaches the disk only with the next unit that is
        not lazy. Use it for work that is repeated anyway if a power cut loses it.
        """
        try:
            answer = self._opened_store.write(unit, lazy=lazy)
        except BROKEN as error:
            raise_meaning(error, self.name)
        self._committed()
        return answer

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None:
        """Run a unit without waiting; `settled` is called when it is durable or has failed.

        It may be called in any thread, so it should only pass the result on.
        """

        def told(error: BaseException | None) -> None:
            try:
                if error is None:
                    self._committed()
            finally:  # the unit is durable, even if the callback fails
                settled(meaning(error, self.name) if isinstance(error, BROKEN) else error)

        self._opened_store.submit(unit, told, lazy=lazy)

    def _committed(self) -> None:
        self.commits = next(self._numbers)  # a new number, whichever thread gets here first
        if self.after_commit is not None:
            self.after_commit()

    def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query on one snapshot of the store."""
        try:
            return self._opened_store.read(query)
        except BROKEN as error:
            raise_meaning(error, self.name)

    def problem(self) -> str | None:
        """Why nothing can be stored, even if writes appear to succeed; None when all is well."""
        return self._opened_store.problem()

    def needs(self, path: Path) -> None:
        """Store nothing more once this file, too, is deleted or replaced."""
        self._opened_store.needs(path)

    def threads(self) -> list[Thread]:
        """The threads that must not end before the store is closed."""
        return self._opened_store.threads()

    def close(self) -> None:
        """Finish what is queued and release the file. Closing twice is safe."""
        self._opened_store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _File:
    """A file: the writer's thread, and a reader for each thread that queries."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._presence = Presence(path)
        self._writer = Writer(connection, self._presence.problem)
        self._readers = Readers(path, self._presence.problem)
        self.write = self._writer.write
        self.submit = self._writer.submit
        self.read = self._readers.read

        self.problem = self._presence.problem
        self.needs = self._presence.add

    def threads(self) -> list[Thread]:
        return [self._writer.thread]

    def close(self) -> None:
        self._readers.close()
        self._writer.close()  # last: the last connection to close tidies up the file


def _opened(name: str, scripts: Sequence[str]) -> _OpenedStore:
    path = None if name == MEMORY else Path(name).absolute()
    connection = connections.in_memory() if path is None else connections.for_writing(path)
    try:
        migrate(connection, path, scripts)
    except BaseException:
        connection.close()
        raise
    return SharedConnection(connection) if path is None else _File(path, connection)
