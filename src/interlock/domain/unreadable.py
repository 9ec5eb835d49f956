"""Unreadable row: a row of a store that this version can't read, whatever wrote it.

It affects its own date and nothing else. It is reported once per content, so that a badly corrected row is
reported again.
"""

from datetime import datetime
from enum import StrEnum

import msgspec

from interlock.domain.canonical import content_hash
from interlock.domain.event import (
    Event,
    EventType,
    RowOverride,
    Severity,
    Subject,
    clean,
    happened,
    subject,
)
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import RunKey
from interlock.errors import UnreadableError

_LONGEST_PROBLEM = 300


class RowKind(StrEnum):
    """What a row is about, as far as its key says."""

    RUN = "run"
    CONFIG = "config"
    READING = "reading"
    EXECUTION = "execution"
    RECORD = "record"


class UnreadableRow(msgspec.Struct, frozen=True, kw_only=True):
    """One such row: where it is, what is wrong, and a digest of its content."""

    table: str
    key: str
    problem: str
    content: str
    kind: RowKind = RowKind.RECORD
    pipeline_id: str | None = None
    schedule_id: str | None = None
    date: str | None = None

    @property
    def id(self) -> str:
        """The same for the same row with the same content."""
        return content_hash([self.table, self.key, self.content], 16)

    @property
    def remedy(self) -> str:
        return _REMEDIES[self.kind]


def problem_of(error: Exception) -> str:
    """What is wrong with a row, from the error that reading it raised."""
    if isinstance(error, KeyError):
        return clean(f"{error} is missing", _LONGEST_PROBLEM)
    if isinstance(error, msgspec.MsgspecError | ValueError):
        return clean(str(error) or type(error).__name__, _LONGEST_PROBLEM)
    return clean(f"{type(error).__name__}: {error}", _LONGEST_PROBLEM)


def unreadable_error(what: str, problem: str) -> UnreadableError:
    """For callers that can't continue without the row."""
    return UnreadableError(
        f"{what} can't be read: {problem}; `interlock doctor` says what to do about it"
    )


def unreadable_event(row: UnreadableRow, at: datetime, pipeline: Pipeline | None) -> Event:
    """The event of it; for a row that no date waits for, a warning."""
    return happened(
        EventType.ROW_UNREADABLE,
        _subject(row, pipeline),
        at,
        f"unreadable row in {row.table}: {row.key}: {row.problem}",
        parts=(row.table, row.id),
        override=RowOverride(Severity.WARNING if row.kind is RowKind.RECORD else None),
        table=row.table,
        key=clean(row.key, _LONGEST_PROBLEM),
        problem=row.problem,
        kind=row.kind,
    )


def _subject(row: UnreadableRow, pipeline: Pipeline | None) -> Subject:
    """The date of the row, if its key names one."""
    try:
        key = RunKey(row.pipeline_id or "", row.schedule_id or "", str(Label.parse(row.date or "")))
    except ValueError:
        key = None
    about = subject(pipeline, key)
    return msgspec.structs.replace(about, pipeline_id=row.pipeline_id)


_REMEDIES = {
    RowKind.RUN: "make sure that no job of the date is running, then correct the row, or delete it:"
    " the date can then open again, and its job run again",
    RowKind.CONFIG: "correct the row, or delete it: the wanted file is adopted again",
    RowKind.READING: "send the reading again, or delete the row",
    RowKind.EXECUTION: "the execution was ended: the watchdog closes its date, and a rerun opens it",
    RowKind.RECORD: "correct the row, or delete it",
}
