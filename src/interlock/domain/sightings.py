"""Sightings: how a project's files looked, look by look, and which of them may be read now.

A file must not be read while it is being written: a prefix of it may be valid and have fewer rules. So a
changed, new or removed file is read only once it has looked the same for SETTLED. The others wait with it,
so that files that change together are read together, but no longer than PATIENCE.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

SETTLED = timedelta(seconds=1)
#: At a start, the files' own modification times count, and a file has settled after this.
SETTLED_AT_START = timedelta(milliseconds=500)
PATIENCE = timedelta(seconds=10)

#: What distinguishes the states of a file without reading it. None: there is no file.
Stamp = tuple[int, ...] | None


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that has changed since it was read, and since when it has its present state."""

    stamp: Stamp
    since: datetime


class Sightings(msgspec.Struct, frozen=True):
    """The result of all looks so far."""

    #: The state of each file when it was last read; None before the first read.
    read: Mapping[str, Stamp] | None = None
    changes: Mapping[str, ChangedFile] = {}
    #: Since when some change waits to be read.
    since: datetime | None = None

    def unsettled(self, now: datetime) -> frozenset[str]:
        """The files that may be in the middle of a write."""
        return frozenset(
            path for path, change in self.changes.items() if now - change.since < SETTLED
        )

    def is_due(self, now: datetime) -> bool:
        """Whether the files should be read now, except the unsettled ones."""
        if self.since is None:
            return self.read is None
        return not self.unsettled(now) or now - self.since >= PATIENCE

    def next_due(self, now: datetime) -> datetime | None:
        """When there may be something to read, if nothing changes until then."""
        if self.since is None:
            return None
        last = max(change.since for change in self.changes.values()) + SETTLED
        return max(now, min(last, self.since + PATIENCE))


def look(
    before: Sightings,
    stamps: Mapping[str, Stamp],
    now: datetime,
    changed_at: Mapping[str, datetime] | None = None,
) -> Sightings:
    """The sightings after one more check.

    `changed_at`, the files' own modification times, counts only at the first look: a start need not wait
    for untouched files.
    """
    ahead = SETTLED - SETTLED_AT_START
    own = {path: at - ahead for path, at in (changed_at or {}).items() if before.read is None}
    known = before.read or {}
    differ = [path for path, stamp in stamps.items() if stamp != known.get(path)]
    gone = [path for path in known if path not in stamps]
    changes = {
        path: _change(before.changes.get(path), stamps.get(path), now, own.get(path, now))
        for path in (*differ, *gone)
    }
    since = (before.since or now) if changes else None
    return msgspec.structs.replace(before, changes=changes, since=since)


def after_reading(seen: Sightings, now: datetime) -> Sightings:
    """The sightings once all files except the unsettled ones have been read."""
    left = seen.unsettled(now)
    read = dict(seen.read or {})
    read.update({path: change.stamp for path, change in seen.changes.items() if path not in left})
    changes = {path: change for path, change in seen.changes.items() if path in left}
    return Sightings(
        {path: stamp for path, stamp in read.items() if stamp is not None},
        changes,
        now if changes else None,
    )


def _change(before: ChangedFile | None, stamp: Stamp, now: datetime, own: datetime) -> ChangedFile:
    """A clock that was set back makes a file wait again, but never longer than SETTLED."""
    if before is not None and before.stamp == stamp and before.since <= now:
        return before
    return ChangedFile(stamp, min(own, now))
