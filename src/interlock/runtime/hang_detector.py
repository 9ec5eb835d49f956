"""Hang detector: watches the watchdog. A controller that hangs exits, so that a supervisor restarts it.

It measures a hang by the time in which this process really ran, counted in its own checks: a machine that
slept, a stopped process or a changed clock says nothing about a thread. A store that refuses writes has not
hung either: an operator fixes a full disk, and the controller keeps retrying what is due.
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
    """Exit at once: a hung thread can't be asked to stop."""
    sys.stderr.write(f"interlock: {message}\n")
    sys.stderr.flush()
    os._exit(HUNG)


class Probe(Protocol):
    """Writes something without waiting, and reports the outcome."""

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
        #: How often to check, in seconds.
        self.interval = min(_LONGEST_INTERVAL, max(_SHORTEST_INTERVAL, every.total_seconds() / 3))
        self._ran = 0.0
        self._looked_at = monotonic()
        self._moved_at, self._last = 0.0, vitals.pulse()
        self._asked_at: float | None = None
        self._answer: bool | None = None

    def look(self) -> None:
        """Call this repeatedly, `interval` apart."""
        self._count()
        ended = [thread.name for thread in self._vitals.threads() if not thread.is_alive()]
        if ended:
            self._end(
                f"{', '.join(ended)} has ended, and nothing does its work; restart the server"
            )
        pulse = self._vitals.pulse()
        if pulse != self._last:
            self._last, self._moved_at, self._asked_at = pulse, self._ran, None
        elif self._ran - self._moved_at >= self._allowed:
            self._judge()

    def _count(self) -> None:
        """A gap between checks counts only a little: other threads did not run either."""
        now = self._monotonic()
        self._ran += min(now - self._looked_at, 2 * self.interval)
        self._looked_at = now

    def _judge(self) -> None:
        if self._asked_at is None:
            self._ask()
        elif self._answer:
            self._end("the watchdog is overdue and makes no progress; restart the server")
        elif self._answer is None and self._ran - self._asked_at >= self._patience:
            self._end("the writer of the state file hangs; restart the server, and check the disk")
        elif self._answer is False:
            self._asked_at = None

    def _ask(self) -> None:
        self._answer, self._asked_at = None, self._ran
        asked = self._asked_at

        def settled(error: BaseException | None) -> None:
            if self._asked_at == asked:  # not an earlier request
                self._answer = error is None

        try:
            self._vitals.store.probe(settled)
        except Exception:  # noqa: BLE001 - whatever it is, it is an answer
            self._answer = False
