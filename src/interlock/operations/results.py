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
