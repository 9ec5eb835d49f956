"""Folder: the pipeline files of a world. They are looked at as the loader looks at real ones."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.missing import Missing, Present
from interlock.domain.sightings import SETTLED, Sightings, Stamp, after_reading, look
from interlock.ports import MissingFiles, Ports
from interlock.simulation.scenario import FileEntry
from interlock.usecases.follow_files import note_missing, want_files


class Folder:
    """The files outlive the controller; what it has seen of them does not."""

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._removed: dict[str, Any] = {}
        self._changed_at: dict[str, datetime] = {}
        self._stamps: dict[str, Stamp] = {}
        self._count = 0
        self._present = Present(())
        self.forget()

    def forget(self) -> None:
        """The controller dies: the next one looks at all files as at new ones."""
        self._seen = Sightings()
        self._missing: tuple[Missing, ...] = ()

    @property
    def files(self) -> Mapping[str, Any]:
        """What there is, by pipeline."""
        return self._files

    @property
    def is_waiting(self) -> bool:
        """Whether a change has not been read yet."""
        return bool(self._seen.changes)

    def put(self, name: str, config: object, now: datetime) -> None:
        """A file that came whole, and that the controller has read already."""
        self._put(name, config, now - SETTLED)
        if self._seen.read is not None:
            read = {**self._seen.read, name: self._stamps[name]}
            self._seen = msgspec.structs.replace(self._seen, read=read)

    def happen(self, entry: FileEntry, now: datetime) -> None:
        """What the story does to a file; to one that is not as it must be for that, nothing."""
        if entry.remove is not None and entry.remove in self._files:
            self._removed[entry.remove] = self._files.pop(entry.remove)
            del self._stamps[entry.remove]
        elif entry.restore is not None and entry.restore in self._removed:
            self._put(entry.restore, self._removed[entry.restore], now)
        elif entry.writing is not None and (name := pipeline_id(entry.writing)) is not None:
            self._put(name, entry.writing, now)

    def look(self, files: MissingFiles, ports: Ports) -> bool:
        """As `Loader.look`."""
        now = ports.clock()
        self._seen = look(self._seen, self._stamps, now, self._changed_at)
        is_due = self._seen.is_due(now)
        if is_due:
            settled = self._settled(now)
            want_files(settled, ports)
            self._present = Present(set(settled), is_known=len(settled) == len(self._files))
            self._seen = after_reading(self._seen, now)
        if is_due or self._missing:
            self._missing = note_missing(self._present, self._missing, files, ports)
        return is_due

    def next_due(self, now: datetime) -> datetime | None:
        """When a look may find something to do."""
        moments = [each.until for each in self._missing]
        ahead = [each for each in (self._seen.next_due(now), *moments) if each is not None]
        return min(ahead, default=None)

    def _settled(self, now: datetime) -> Mapping[str, Any]:
        left = self._seen.unsettled(now)
        return {name: each for name, each in self._files.items() if name not in left}

    def _put(self, name: str, config: object, now: datetime) -> None:
        self._count += 1
        self._files[name] = config
        self._removed.pop(name, None)
        self._stamps[name] = (self._count,)
        self._changed_at[name] = now


def pipeline_id(config: object) -> str | None:
    """The id that a document gives itself."""
    document = config if isinstance(config, dict) else {}
    identity = document.get("pipeline")
    name = identity.get("id") if isinstance(identity, dict) else None
    return name if isinstance(name, str) else None
