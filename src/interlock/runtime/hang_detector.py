"""Overdue: who watches the watchdog. A controller that has hung ends, so that a supervisor restarts it.

A hang is judged by the time in which this process really ran, counted in looks of its own: a machine that
slept, a process that was stopped and a clock that was set say nothing of a thread. A store that refuses
to be written to has not hung either: a full disk is mended by others, and what is due is tried again.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from threading import Thread
from typing import Protocol

from interlock.adapters.sqlite.writer import Settled

PATIENCE = timedelta(seconds=30)
#: The loop sleeps for a minute where there is nothing to do.
_QUIET = timedelta(minutes=2)
_LONGEST_INTERVAL = 2.0
_SHORTEST_INTERVAL = 0.2
HUNG = 70


def end_process(message: str) -> None:
    """At once: what has hung can't be asked to stop."""
    sys.stderr.write(f"interlock: {message}\n")
    sys.stderr.flush()
    os._exit(HUNG)


class Probe(Protocol):
    """Writes something, without waiting, and says what became of it."""

    def probe(self, settled: Settled) -> None: ...


@dataclass(frozen=True)
class Vitals:
    """By what a controller shows that it works. `pulse` is a number that changes as the loop does its work,
    slow as it may be; `threads` are those that must never end.
    """

    store: Probe
    pulse: Callable[[], int]
    threads: Callable[[], Iterable[Thread]] = lambda: ()


class HangDetector:
    """Looks whether the loop moves on, and if not, whether the writer still answers."""

    def __init__(
        self,
        vitals: Vitals,
        every: timedelta,
        *,
        end: Callable[[str], None] = end_process,
        patience: timedelta = PATIENCE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vitals = vitals
        self._end, self._monotonic = end, monotonic
        self._patience = patience.total_seconds()
        self._allowed = max(3 * every, _QUIET).total_seconds() + self._patience
        #: Look about so often, in seconds.
        self.interval = min(_LONGEST_INTERVAL, max(_SHORTEST_INTERVAL, every.total_seconds() / 3))
        self._ran = 0.0
        self._looked_at = monotonic()
        self._moved_at, self._last = 0.0, vitals.pulse()
        self._asked_at: float | None = None
        self._answer: bool | None = None

    def look(self) -> None:
        """To be called again and again, `interval` apart."""
        self._count()
        ended = [thread.name for thread in self._vitals.threads() if not thread.is_alive()]
        if ended:
            self._end(f"{', '.join(ended)} has ended, and nothing does its work; restart me")
        pulse = self._vitals.pulse()
        if pulse != self._last:
            self._last, self._moved_at, self._asked_at = pulse, self._ran, None
        elif self._ran - self._moved_at >= self._allowed:
            self._judge()

    def _count(self) -> None:
        """Of a time in which nobody let us look, little counts: others were not let either."""
        now = self._monotonic()
        self._ran += min(now - self._looked_at, 2 * self.interval)
        self._looked_at = now

    def _judge(self) -> None:
        if self._asked_at is None:
            self._ask()
        elif self._answer:
            self._end("the watchdog is overdue and nothing moves it on; restart me")
        elif self._answer is None and self._ran - self._asked_at >= self._patience:
            self._end("the writer of the state file has hung; restart me, and check the disk")
        elif self._answer is False:
            self._asked_at = None

    def _ask(self) -> None:
        self._answer, self._asked_at = None, self._ran
        asked = self._asked_at

        def settled(error: BaseException | None) -> None:
            if self._asked_at == asked:  # and not what was asked long ago
                self._answer = error is None

        try:
            self._vitals.store.probe(settled)
        except Exception:  # noqa: BLE001 - whatever it is, it is an answer
            self._answer = False
