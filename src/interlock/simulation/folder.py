"""Folder: the pipeline files of a world. They are looked at as the loader looks at real ones."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from interlock.domain.missing import Present
from interlock.domain.sightings import SETTLED, Stamp
from interlock.ports import MissingFiles, Ports
from interlock.simulation.scenario import FileEntry, pipeline_id
from interlock.usecases.follow_files import Follower, want_files


class Folder:
    """The files outlive the controller; what it has seen of them does not."""

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._removed: dict[str, Any] = {}
        self._changed_at: dict[str, datetime] = {}
        self._stamps: dict[str, Stamp] = {}
        self._count = 0
        self._follower: Follower | None = None

    def follow(self, files: MissingFiles, ports: Ports) -> None:
        """A new controller looks at all files as at new ones."""

        def read(unsettled: Collection[str]) -> Present:
            settled = {n: each for n, each in self._files.items() if n not in unsettled}
            want_files(settled, ports)
            return Present(set(settled), is_known=not unsettled)

        self._follower = Follower(read, files, ports)

    @property
    def files(self) -> Mapping[str, Any]:
        """What there is, by pipeline."""
        return self._files

    @property
    def is_waiting(self) -> bool:
        """Whether a change has not been read yet."""
        return self._follower is not None and self._follower.is_waiting

    def put(self, name: str, config: object, now: datetime) -> None:
        """A file that came whole, and that the controller has read already."""
        self._put(name, config, now - SETTLED)
        if self._follower is not None:
            self._follower.note_read(name, self._stamps[name])

    def happen(self, entry: FileEntry, now: datetime) -> None:
        """What the story does to a file; to one that is not as it must be for that, nothing."""
        if entry.remove is not None and entry.remove in self._files:
            self._removed[entry.remove] = self._files.pop(entry.remove)
            del self._stamps[entry.remove]
        elif entry.restore is not None and entry.restore in self._removed:
            self._put(entry.restore, self._removed[entry.restore], now)
        elif entry.writing is not None and (name := pipeline_id(entry.writing)) is not None:
            self._put(name, entry.writing, now)

    def look(self) -> bool:
        """The controller looks; whether it had to read."""
        return self._follower is not None and self._follower.look(self._stamps, self._changed_at)

    def next_due(self, now: datetime) -> datetime | None:
        """When a look may find something to do."""
        if self._follower is None:
            return None
        moments = [each.until for each in self._follower.missing]
        ahead = [each for each in (self._follower.next_due(now), *moments) if each is not None]
        return min(ahead, default=None)

    def _put(self, name: str, config: object, now: datetime) -> None:
        self._count += 1
        self._files[name] = config
        self._removed.pop(name, None)
        self._stamps[name] = (self._count,)
        self._changed_at[name] = now
