"""Readiness: asks /readyz all the while, and holds the answers against what is seen from outside."""

import time
from collections.abc import Sequence

from attack.producers import Producer
from attack.victim import Victim
from attack.worker import Worker

EVERY = 0.5
#: It may take so long to notice that it can't write.
UNNOTICED = 5.0


class Readiness(Worker):
    """Starts the server again should it end by itself, which is a problem of its own."""

    def __init__(self, victim: Victim, producers: Sequence[Producer], patience: float) -> None:
        super().__init__(f"readiness-{victim.name}", victim.ledger)
        self._victim, self._producers, self._patience = victim, producers, patience
        self._unready_since: float | None = None
        self._told = False
        #: By producer and the begin of its failures: when the server called itself ready all the same.
        self._claims: dict[tuple[str, float], float] = {}
        self.is_ready = False
        self.longest = 0.0

    def work(self) -> None:
        while not self.stopping.wait(EVERY):
            self.look()

    def look(self) -> None:
        self._look_whether_it_lives()
        asked_at = time.monotonic()
        self.is_ready, told = self._victim.readiness()
        self._note_unready(asked_at, told)
        self._note_claims(asked_at)

    def _look_whether_it_lives(self) -> None:
        if not self._victim.turn.acquire(blocking=False):
            return
        try:
            if self._victim.has_ended_by_itself() and not self.stopping.is_set():
                self._victim.start()
        finally:
            self._victim.turn.release()

    def _note_unready(self, asked_at: float, told: str) -> None:
        if self.is_ready or self._victim.troubled:
            self._unready_since, self._told = None, False
            return
        self._unready_since = self._unready_since or asked_at
        waited = time.monotonic() - max(self._unready_since, self._victim.calm_since)
        self.longest = max(self.longest, waited)
        if waited > self._patience and not self._told:
            self._told = True
            self.ledger.problem(
                f"{self._victim.name} is not ready {waited:.0f}s after the last trouble: {told}"
            )

    def _note_claims(self, asked_at: float) -> None:
        """A write failed before and after it said that it was ready, for longer than it may take.

        A producer that rests between two troubles fails all the while, but the server may have recovered.
        """
        for producer in self._producers:
            if producer.failing_since is None or producer.last_failure is None:
                continue
            since = max(producer.failing_since, self._victim.troubled_since)
            last = producer.last_failure
            if self.is_ready and asked_at > since + UNNOTICED:
                self._claims.setdefault((producer.name, since), asked_at)
            claimed = self._claims.get((producer.name, since))
            if claimed is not None and claimed < last:
                self._claims[producer.name, since] = float("inf")
                self.ledger.problem(
                    f"{self._victim.name} says that it is ready; writes have failed for"
                    f" {last - since:.1f}s"
                )
