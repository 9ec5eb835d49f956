"""Health: whether the controller is ready, and if not, why."""

import sqlite3
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol, TypeVar

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.writer import Settled, Unit
from interlock.domain.missing import Missing
from interlock.errors import InterlockError
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.missing_files import missing_files
from interlock.queries.paging import Page
from interlock.runtime.file_watcher import UnusableFiles
from interlock.runtime.written_files import WrittenFiles

T = TypeVar("T")


class NotedDatabase(Database):
    """Remembers a failed write until a later write succeeds."""

    trouble: str | None = None

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        counted = _Counted(unit)
        try:
            answer: T = super().write(counted, lazy=lazy)
        except (InterlockError, sqlite3.Error) as error:
            self.trouble = str(error)
            raise
        self._note_written(counted)
        return answer

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None:
        counted = _Counted(unit)

        def noted(error: BaseException | None) -> None:
            if error is None:
                self._note_written(counted)
            elif isinstance(error, InterlockError | sqlite3.Error):
                self.trouble = str(error)
            settled(error)

        super().submit(counted, noted, lazy=lazy)

    def _note_written(self, counted: "_Counted") -> None:
        if counted.has_changed:
            self.trouble = None


class _Counted:
    """A transaction that knows whether it changed anything: one without changes succeeds on a full disk
    too.
    """

    __slots__ = ("_unit", "has_changed")

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.has_changed = False

    def __call__(self, connection: sqlite3.Connection) -> Any:
        before = connection.total_changes
        answer = self._unit(connection)
        self.has_changed = connection.total_changes != before
        return answer


class ControllerState(Protocol):
    """What health checks ask of the controller."""

    def watchdog(self) -> Heartbeat: ...

    def missing(self) -> Page[Missing]: ...

    def is_adopting(self) -> bool: ...


class Health:
    """Answers the health checks of the process."""

    def __init__(self, database: NotedDatabase, controller: ControllerState) -> None:
        self._database = database
        self._controller = controller
        self._loaded = threading.Event()
        self._adopted = False
        self._ended: Callable[[], list[str]] = list
        self._clock_notice: Callable[[], str | None] = lambda: None
        #: The refused files of the project, as of the last check.
        self.refused = UnusableFiles()
        #: The files that are in force, as written.
        self.written = WrittenFiles()

    def note_controller(
        self, ended: Callable[[], list[str]], clock_notice: Callable[[], str | None]
    ) -> None:
        """The sources of ended threads and of clock notices."""
        self._ended, self._clock_notice = ended, clock_notice

    @property
    def is_in_trouble(self) -> bool:
        """Whether the last write failed."""
        return self._database.trouble is not None

    def loaded(self) -> None:
        """The project's files have been read."""
        self._loaded.set()

    def note_refused(self, refused: UnusableFiles) -> None:
        self.refused = refused

    def notices(self) -> list[str]:
        """Notices to show although the controller is ready."""
        wrong, clock = self.refused.alerts, self._clock_notice()
        notices = [f"alerts.yaml is refused: {wrong}"] if wrong else []
        if clock is not None:
            notices.append(clock)
        return [*notices, *missing_files(self._controller.missing().items)]

    def reasons(self, now: datetime) -> list[str]:
        """Why it is not ready; empty when it is."""
        reasons = [f"{name} has ended; restart the server" for name in self._ended()]
        problem = self._database.problem() or self._database.trouble
        if problem is not None:
            reasons.append(f"the store is not writable: {problem}")
        if not self._loaded.is_set():
            reasons.append("the pipeline files are being read")
        try:
            heartbeat = self._controller.watchdog()
            if self._loaded.is_set() and not self._has_adopted():
                reasons.append("the pipeline files are being adopted")
        except (InterlockError, sqlite3.Error) as error:
            return [*reasons, f"the store can't be read: {error}"]
        if heartbeat.last_ok_at is None:
            reasons.append("the watchdog has not completed a pass yet")
        elif heartbeat.is_late:
            reasons.append(
                "the watchdog's last good pass is older than three cadences:"
                f" {heartbeat.last_ok_at:%Y-%m-%dT%H:%M:%SZ}"
            )
        return reasons

    def _has_adopted(self) -> bool:
        """Once the files of the start are in force, later changes don't affect readiness."""
        self._adopted = self._adopted or not self._controller.is_adopting()
        return self._adopted
