"""Folder: the pipeline files of a world. The controller reads them as the file watcher reads real ones."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from interlock.domain.missing import Present
from interlock.domain.sightings import SETTLED, Stamp
from interlock.ports.stores import MissingFiles
from interlock.simulation.scenario import FileEntry, pipeline_id
from interlock.usecases.follow_files import Follower, want_files
from interlock.usecases.ports import Ports


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
        """To a new controller, all files are new."""

        def read(unsettled: Collection[str]) -> Present:
            settled = {n: each for n, each in self._files.items() if n not in unsettled}
            want_files(settled, ports)
            return Present(set(settled), is_known=not unsettled)

        self._follower = Follower(read, files, ports)

    @property
    def files(self) -> Mapping[str, Any]:
        """The files, by pipeline."""
        return self._files

    @property
    def is_waiting(self) -> bool:
        """Whether a change has not been read yet."""
        return self._follower is not None and self._follower.is_waiting

    def put(self, name: str, config: object, now: datetime) -> None:
        """A complete file that the controller has already read."""
        self._put(name, config, now - SETTLED)
        if self._follower is not None:
            self._follower.note_read(name, self._stamps[name])

    def happen(self, entry: FileEntry, now: datetime) -> None:
        """What the scenario does to a file; nothing if the file is not in the required state."""
        if entry.remove is not None and entry.remove in self._files:
            self._removed[entry.remove] = self._files.pop(entry.remove)
            del self._stamps[entry.remove]
        elif entry.restore is not None and entry.restore in self._removed:
            self._put(entry.restore, self._removed[entry.restore], now)
        elif entry.writing is not None and (name := pipeline_id(entry.writing)) is not None:
            self._put(name, entry.writing, now)

    def look(self) -> bool:
        """The controller checks the files. Whether it had to read any."""
        return self._follower is not None and self._follower.look(self._stamps, self._changed_at)

    def next_due(self, now: datetime) -> datetime | None:
        """When the next check may find something to do."""
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
