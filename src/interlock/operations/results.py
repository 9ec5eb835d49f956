"""Results: small answers of commands and queries."""

from datetime import datetime

import msgspec

from interlock.domain.event import Event
from interlock.domain.run import Run


class RunHistory(msgspec.Struct, frozen=True):
    """A run and everything that happened to it."""

    run: Run
    events: list[Event]


class ReadingAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The result for one reading of a batch: stored, or the problem with it."""

    pipeline_id: str
    key: str
    received_at: datetime | None = None
    version: str | None = None
    problem: str | None = None


class ForeseenReading(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a reading would lead to, for each schedule, and what looks like a mistake in it."""

    led_to: tuple[str, ...]
    doubts: tuple[str, ...] = ()


class DateAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What becomes of one date of many, or would: accepted, or refused and why."""

    schedule_id: str
    date: str
    accepted: bool
    #: In words.
    text: str
    #: The state of its run beforehand; `absent` without one.
    state: str


class TrialResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a sink answered to a test message; without a problem, it was sent."""

    target: str
    problem: str | None = None


class Prunable(msgspec.Struct, frozen=True):
    runs: int


class Pruned(msgspec.Struct, frozen=True):
    removed: dict[str, int]


class Retried(msgspec.Struct, frozen=True):
    changes: int
