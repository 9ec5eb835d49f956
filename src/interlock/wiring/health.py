"""Health: whether the controller can do its work, and if not, why."""

import sqlite3
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from interlock.adapters.local.database import Database
from interlock.adapters.local.writer import Settled, Unit
from interlock.errors import InterlockError
from interlock.wiring.loader import Refused
from interlock.wiring.missing_files import missing_files
from interlock.wiring.operations import Operations

T = TypeVar("T")


class NotedDatabase(Database):
    """Remembers that it could not write, until it can again."""

    trouble: str | None = None

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        try:
            answer = super().write(unit, lazy=lazy)
        except (InterlockError, sqlite3.Error) as error:
            self.trouble = str(error)
            raise
        self.trouble = None
        return answer

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None:
        def noted(error: BaseException | None) -> None:
            if error is None or isinstance(error, InterlockError | sqlite3.Error):
                self.trouble = None if error is None else str(error)
            settled(error)

        super().submit(unit, noted, lazy=lazy)


class Health:
    """Asked by whoever watches the process."""

    def __init__(self, database: NotedDatabase, operations: Operations) -> None:
        self._database = database
        self._operations = operations
        self._loaded = threading.Event()
        self._adopted = False
        #: What of the project's files can't be used, as of the last look.
        self.refused = Refused()

    def loaded(self) -> None:
        """The project's files have been read."""
        self._loaded.set()

    def note_refused(self, refused: Refused) -> None:
        self.refused = refused

    def notices(self) -> list[str]:
        """What everybody who looks should know, although the controller does its work."""
        wrong = self.refused.alerts
        alerts = [f"alerts.yaml is refused: {wrong}"] if wrong else []
        return [*alerts, *missing_files(self._operations.missing())]

    def reasons(self, now: datetime) -> list[str]:
        """Why it is not ready; nothing when it is."""
        reasons = []
        if self._database.trouble is not None:
            reasons.append(f"the store can't be written to: {self._database.trouble}")
        if not self._loaded.is_set():
            reasons.append("the pipeline files are being read")
        try:
            heartbeat = self._operations.heartbeat()
            if self._loaded.is_set() and not self._has_adopted():
                reasons.append("the pipeline files are being taken up")
        except (InterlockError, sqlite3.Error) as error:
            return [*reasons, f"the store can't be read: {error}"]
        if heartbeat.last_ok_at is None:
            reasons.append("the watchdog has made no pass yet")
        elif heartbeat.is_late:
            reasons.append(
                "the watchdog's last good pass is older than three cadences:"
                f" {heartbeat.last_ok_at:%Y-%m-%dT%H:%M:%SZ}"
            )
        return reasons

    def _has_adopted(self) -> bool:
        """Once what stood in the files at the start is in force, their changes keep nobody waiting."""
        self._adopted = self._adopted or not self._operations.is_adopting()
        return self._adopted
