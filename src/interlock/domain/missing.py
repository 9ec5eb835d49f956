"""Missing: a pipeline in force whose file is gone, and when it is retired for that.

A file may disappear briefly: it is deleted and copied back, a branch is switched and back. So the version in
force stays in force for GRACE. When many files disappear at once, it is probably a mistake: then nothing is
retired for MANY_GRACE unless an operator confirms it, and nothing at all while the folder itself is
missing, or some file does not say which pipeline it declares.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

GRACE = timedelta(minutes=10)
MANY_GRACE = timedelta(hours=24)
#: At least this number, and half of all that are in force, count as many.
MANY = 2


class Missing(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A pipeline whose file is missing."""

    pipeline_id: str
    since: datetime
    #: When it is retired; None while that can't be decided.
    until: datetime | None
    #: Since when it is held back as one of many; None for one that disappeared alone.
    held_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        return self.until is not None and self.until <= now


class Present(msgspec.Struct, frozen=True):
    """The ids found in the files."""

    #: The pipelines that have a file, valid or refused.
    ids: Collection[str]
    #: Whether each file names its pipeline. A file that does not may be any of the missing ones.
    is_known: bool = True
    #: Whether the folder of the files exists.
    is_there: bool = True

    @property
    def is_sure(self) -> bool:
        return self.is_known and self.is_there


def judge_missing(
    in_force: Collection[str], present: Present, before: Sequence[Missing], now: datetime
) -> tuple[Missing, ...]:
    """The pipelines whose files are missing. Once held back, one stays so until its file is back."""
    earlier = {each.pipeline_id: each for each in before}
    absent = sorted(set(in_force) - set(present.ids))
    if not present.is_known:
        absent = [name for name in absent if name in earlier]
    is_many = not present.is_there or (len(absent) >= MANY and 2 * len(absent) >= len(in_force))
    return tuple(
        _judge(name, earlier.get(name), is_many and present.is_known, present.is_sure, now)
        for name in absent
    )


def _judge(
    name: str, before: Missing | None, is_many: bool, is_sure: bool, now: datetime
) -> Missing:
    held_at = before.held_at if before else None
    if is_many and held_at is None:
        held_at = now
    is_as_before = before is not None and before.held_at == held_at
    until = before.until if before is not None and is_as_before else None
    if not is_sure:
        until = None
    elif until is None:
        until = now + (GRACE if held_at is None else MANY_GRACE)
    since = before.since if before else now
    return Missing(pipeline_id=name, since=since, until=until, held_at=held_at)
