"""Console: alerts for the users of this machine. A line on the screen, and a line of JSON in a file."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlock.adapters.alerts.sink_context import SinkContext
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Answer, Posted, SendFailed
from interlock.domain.alerting.note import (
    AlertNote,
    Note,
    RootNote,
    about,
    document,
    headline,
    severest,
)
from interlock.domain.alerting.sink_kinds import SINK_KINDS, ConsoleConfig
from interlock.domain.event import Severity
from interlock.domain.job_output import last_lines
from interlock.ports.alerts import Sink

NAME = "alerts.log"
LARGEST = 16 * 1024 * 1024

Show = Callable[[Severity, str], None]


class ConsoleAlerts:
    """The file is the record; the screen is for those who happen to look. One older file is kept."""

    manner = SINK_KINDS["console"].manner

    def __init__(self, folder: Path, show: Show, base_url: str | None = None) -> None:
        """`base_url` is where our own pages are, for links to runs."""
        self._path = folder / NAME
        self._show, self._base_url = show, base_url
        self._lock = threading.Lock()

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        told = document(note, self._base_url)
        try:
            with self._lock:
                self._append(f"{canonical.encode(told)}\n".encode())
        except OSError as error:
            return SendFailed(f"{self._path} can't be written: {error.strerror}")
        events = about(note)
        severity = severest(events) if events else Severity.INFO
        for line in (_spoken(note, told), *_printed(note), *_linked(told)):
            self._show(severity, line)
        return Posted("")

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return Posted(receipt)  # what was said can't be changed

    def _append(self, line: bytes) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
            large = os.fstat(handle).st_size > LARGEST
        finally:
            os.close(handle)
        if large:
            self._path.replace(self._path.with_name(f"{NAME}.1"))


def console_sink(context: SinkContext[ConsoleConfig]) -> Sink:
    """There is one, however many sinks lead to it."""
    return context.console


def _spoken(note: Note, told: dict[str, Any]) -> str:
    clock = f"{told['timestamp'][:19].replace('T', ' ')} UTC"
    if not isinstance(note, AlertNote | RootNote):
        return f"{clock} {headline(note)}"
    event = note.event
    parts = (event.type, event.pipeline_id, event.schedule_id, event.date)
    what = " ".join(part for part in parts if part)
    why = f" ({note.note})" if note.note else ""
    return f"{clock} {what}: {event.message}{why}"


def _printed(note: Note) -> list[str]:
    """What the job printed last, below the alert of its failure."""
    output = note.event.detail.get("output") if isinstance(note, AlertNote | RootNote) else None
    if not isinstance(output, str) or not output.strip():
        return []
    return [f"  | {line}" for line in last_lines(output).split("\n")]


def _linked(told: dict[str, Any]) -> list[str]:
    url = told["data"].get("url")
    return [] if url is None else [f"  {url}"]
