"""Readers: read-only connections, one per thread."""

import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from interlock.adapters.sqlite import connections
from interlock.errors import UnavailableError

T = TypeVar("T")


class _Reader:
    """A thread's own connection; it closes when its thread ends."""

    def __init__(self, path: Path) -> None:
        self.connection = connections.for_reading(path)
        self.lock = threading.Lock()

    def close(self) -> None:
        with self.lock:
            self.connection.close()

    def __del__(self) -> None:
        self.connection.close()


class Readers:
    """A query sees one snapshot of the store, with every write acknowledged before it began."""

    def __init__(self, path: Path, problem: Callable[[], str | None] = lambda: None) -> None:
        """`problem` says why the path no longer leads to the store."""
        self._path = path
        self._problem = problem
        self._own = threading.local()
        self._all: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._door = threading.Lock()
        self._closed = False

    def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        reader = self._reader()
        with reader.lock:
            if self._closed:
                raise UnavailableError("the store is closed")
            reader.connection.execute("BEGIN")
            try:
                return query(reader.connection)
            finally:
                reader.connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._door:
            self._closed = True
            readers = list(self._all)
        for reader in readers:
            reader.close()

    def _reader(self) -> _Reader:
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            with self._door:
                if self._closed:
                    raise UnavailableError("the store is closed")
                self._own.reader = reader = self._opened()
                self._all.add(reader)
        return reader

    def _opened(self) -> _Reader:
        """Never reads a file that has replaced ours."""
        problem = self._problem()
        if problem is not None:
            raise UnavailableError(problem)
        return _Reader(self._path)
