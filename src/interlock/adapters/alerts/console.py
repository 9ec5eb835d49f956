"""Console: alerts for whoever sits at this machine. A line on the screen, and a line of JSON in a file."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from interlock.domain import canonical
from interlock.domain.delivery import Answer, Failed, Posted
from interlock.domain.event import Event, Severity
from interlock.domain.note import AlertNote, Note
from interlock.ports import Manner

NAME = "alerts.log"
LARGEST = 16 * 1024 * 1024


class ConsoleAlerts:
    """The file is the record; the screen is for those who happen to look. One older file is kept."""

    def __init__(self, folder: Path, show: Callable[[Severity, str], None]) -> None:
        self._path = folder / NAME
        self._show = show
        self._lock = threading.Lock()

    @property
    def manner(self) -> Manner:
        return Manner()

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        assert isinstance(note, AlertNote)
        event = note.event
        document = {"thread": thread, **canonical.as_json(event)}
        line = canonical.encode(document) + "\n"
        try:
            with self._lock:
                self._append(line.encode())
        except OSError as error:
            return Failed(f"{self._path} can't be written: {error.strerror}")
        self._show(event.severity, _spoken(event))
        return Posted(event.event_id)

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return self.post(channel, note, receipt)

    def _append(self, line: bytes) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
            large = os.fstat(handle).st_size > LARGEST
        finally:
            os.close(handle)
        if large:
            self._path.replace(self._path.with_name(f"{NAME}.1"))


def _spoken(event: Event) -> str:
    where = " ".join(part for part in (event.pipeline_id, event.schedule_id, event.date) if part)
    return f"{event.timestamp:%H:%M:%S} {event.type} {where}: {event.message}"
