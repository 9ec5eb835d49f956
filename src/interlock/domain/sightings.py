"""Sightings: how a project's files looked, look after look, and which of them may be read now.

A file whose write is under way must not be read: a prefix of it may be valid and have fewer rules. So a
file that has changed, come or gone is read only once it has looked the same for SETTLED. The others wait
with it, so that files that change together are read together, but no longer than PATIENCE.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

SETTLED = timedelta(seconds=1)
#: At a start, files say themselves when they were changed, and have come to rest after this.
SETTLED_AT_START = timedelta(milliseconds=500)
PATIENCE = timedelta(seconds=10)

#: What tells one state of a file from another without reading it. None: there is no file.
Stamp = tuple[int, ...] | None


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that does not look as it did when it was read, and since when it looks as it does."""

    stamp: Stamp
    since: datetime


class Sightings(msgspec.Struct, frozen=True):
    """What the looks so far add up to."""

    #: How each file looked when it was last read; None before the first reading.
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
        """Whether the files should be read now, but for the unsettled ones."""
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
    """The sightings after one more look.

    `changed_at`, when the files were changed by their own account, counts at the first look alone: a
    start need not wait for files that nobody has touched.
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
    """The sightings once all files but the unsettled ones have been read."""
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
    """A clock that was set back makes a file wait again, and never for longer than SETTLED."""
    if before is not None and before.stamp == stamp and before.since <= now:
        return before
    return ChangedFile(stamp, min(own, now))
