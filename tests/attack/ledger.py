"""Ledger: what the attackers did and saw. Threads write to it; the accountant reads it at the end."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What a producer knows about a reading that it sent."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"  # the server answered that it takes it not
    UNKNOWN = "unknown"  # the connection broke, or the server could not say


@dataclass(frozen=True)
class Put:
    """One reading, of a date of its own."""

    victim: str
    pipeline: str
    date: str
    good: bool
    sent_at: float
    ended_at: float
    outcome: Outcome
    told: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Launch:
    """One job, as the platform that ran it knows it."""

    token: str
    pipeline: str
    date: str
    attempt: int
    began_at: float
    ended_at: float | None


@dataclass(frozen=True)
class Span:
    """A stretch of time, in seconds of the wall clock."""

    since: float
    until: float

    def has(self, moment: float) -> bool:
        return self.since <= moment <= self.until

    def meets(self, other: "Span") -> bool:
        return self.since <= other.until and other.since <= self.until


@dataclass
class Ledger:
    """Everything that is noted while the attack lasts."""

    say: Callable[[str], object]
    puts: list[Put] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    deeds: Counter[str] = field(default_factory=Counter)
    #: While a half-written file lay still for longer than a writer takes, its half may be believed.
    excused: dict[str, list[Span]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _began: float = field(default_factory=time.monotonic)

    def put(self, put: Put) -> None:
        with self._lock:
            self.puts.append(put)
            self.deeds[f"readings {put.outcome}"] += 1

    def did(self, what: str, told: str = "") -> None:
        with self._lock:
            self.deeds[what] += 1
        if told:
            self.tell(f"{what} {told}")

    def problem(self, text: str) -> None:
        with self._lock:
            self.problems.append(text)
        self.tell(f"PROBLEM: {text}")

    def excuse(self, pipeline: str, span: Span) -> None:
        with self._lock:
            self.excused.setdefault(pipeline, []).append(span)

    def tell(self, text: str) -> None:
        self.say(f"{time.monotonic() - self._began:7.1f}s  {text}\n")
