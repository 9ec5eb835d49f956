"""Shared connection: a store in memory, one thread at a time."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from interlock.adapters.sqlite.writer import Settled, Unit

T = TypeVar("T")


class SharedConnection:
    """No thread, no file: a write costs two statements more than its unit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.RLock()

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        connection = self._connection
        with self._lock:
            if connection.in_transaction:
                raise RuntimeError("a unit of work can't begin another one")
            connection.execute("BEGIN")
            try:
                answer = unit(connection)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
        return answer

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None:
        """There is nothing to wait for here."""
        error: Exception | None = None
        try:
            self.write(unit)
        except Exception as failed:  # noqa: BLE001 - passed on to the caller
            error = failed
        settled(error)

    def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            return query(self._connection)

    def problem(self) -> None:
        """Memory stays where it is."""

    def needs(self, path: Path) -> None:
        """No file is needed here."""

    def threads(self) -> list[threading.Thread]:
        return []

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def _roll_back(connection: sqlite3.Connection) -> None:
    """Unless the store already rolled the transaction back."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
