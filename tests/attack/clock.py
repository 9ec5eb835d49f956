"""Clock: steps of the time that a server sees, by libfaketime; the monotonic clock goes on as it is."""

import random
import signal
from collections.abc import Collection
from pathlib import Path

from attack.victim import Victim
from attack.worker import Worker

_DAY = 86_400
_HOUR = 3_600
#: Steps that are shorter than what a job and an attempt may take, and leaps beyond both.
_STEPS = {"clock": (_HOUR // 2, -_HOUR // 2), "leap": (2 * _HOUR, _DAY, -_DAY, 40 * _DAY)}
KINDS = frozenset(_STEPS)
_LIBRARIES = (
    "/usr/lib/*/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
    "/usr/local/lib/faketime/libfaketimeMT.so.1",
)


def library() -> str | None:
    """Where libfaketime is, if it is here."""
    for pattern in _LIBRARIES:
        for found in Path("/").glob(pattern.lstrip("/")):
            return str(found)
    return None


def environment(preload: str, clock: Path) -> dict[str, str]:
    clock.write_text("+0")
    return {
        "LD_PRELOAD": preload,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",  # else each question for the time opens the file
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }


class ClockSteps(Worker):
    """A while with another time, and back."""

    def __init__(
        self, victim: Victim, clock: Path, kinds: Collection[str], seed: int, seconds: float
    ) -> None:
        super().__init__(f"clock-{victim.name}", victim.ledger)
        self._victim, self._clock = victim, clock
        self._chance = random.Random(seed)
        self._steps = [step for kind in sorted(kinds) for step in _STEPS[kind]]
        self._leaps = "leap" in kinds
        self._longest = max(1.5, min(15.0, seconds / 6))

    def work(self) -> None:
        while not self.stopping.wait(self._chance.uniform(1.0, self._longest)):
            if self._leaps and self._chance.random() < 0.3:
                self._start_ahead()
            else:
                self._step(self._chance.choice(self._steps))

    def _step(self, seconds: int) -> None:
        stay = self._chance.uniform(1.0, self._longest)
        self.ledger.did("clock: step", f"by {seconds / _DAY:+.2f} days for {stay:.1f}s")
        with self._victim.trouble():
            self._set(seconds)
            self.stopping.wait(stay)
            self._set(0)

    def _start_ahead(self) -> None:
        stay = self._chance.uniform(1.0, self._longest)
        self.ledger.did("clock: start 400 days ahead", f"and back after {stay:.1f}s")
        with self._victim.turn, self._victim.trouble():
            self._victim.end(signal.SIGKILL)
            self._set(400 * _DAY)
            self._victim.start()
            self.stopping.wait(stay)
            self._victim.end(signal.SIGKILL)
            self._set(0)
            self._victim.start()

    def _set(self, seconds: int) -> None:
        beside = self._clock.with_suffix(".new")
        beside.write_text(f"{seconds:+d}")
        beside.replace(self._clock)
