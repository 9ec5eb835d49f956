"""Stored reading: the outcome of a reading that a producer sent."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain.admission import (
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    NoteLate,
    NoteRepeat,
    OpenRun,
    PostRunReading,
    Reject,
    Reopen,
    ReopenWhenReady,
    StartAgain,
)
from interlock.domain.sensor import Reading


class StoredReading(msgspec.Struct, frozen=True, rename="camel"):
    """A stored reading, and what it led to if the producer asked."""

    pipeline_id: str
    key: str
    received_at: datetime
    version: str
    led_to: tuple[str, ...] = ()


def stored(reading: Reading, led_to: Sequence[str] = ()) -> StoredReading:
    return StoredReading(
        reading.pipeline_id, reading.key, reading.received_at, reading.version, tuple(led_to)
    )


def in_words(admissions: Sequence[Admission]) -> tuple[str, ...]:
    """What a reading means, for its producer."""
    return tuple(map(_said, admissions))


def _said(admission: Admission) -> str:
    if isinstance(admission, Ignore):
        return admission.reason if admission.used else f"ignored: {admission.reason}"
    return _WORDS[type(admission)]


_WORDS: dict[type, str] = {
    OpenRun: "opened",
    StartAgain: "opened",
    Reopen: "opened again",
    ReopenWhenReady: "may open a date again whose window closed, once its rules hold",
    NoteFirst: "the first reading of a run that was opened before",
    NoteLate: "late data",
    NoteRepeat: "ignored: the date has run already",
    PostRunReading: "a reading after the run",
    Exclude: "ignored: the calendar excludes the date",
    Reject: "rejected",
}
