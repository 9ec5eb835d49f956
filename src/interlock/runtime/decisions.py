"""Decisions: what the router made of readings whose producers wait to hear it."""

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import datetime
from threading import Lock

from interlock.domain.admission import Admission
from interlock.domain.sensor import Reading

Decision = Future[Sequence[Admission]]
_Place = tuple[str, str, datetime]


class Decisions:
    """One router's. A producer registers before its reading is stored, so that no decision is missed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._expected: dict[_Place, list[Decision]] = {}

    def expect(self, reading: Reading) -> Decision:
        decision: Decision = Future()
        with self._lock:
            self._expected.setdefault(_place(reading), []).append(decision)
        return decision

    def forget(self, reading: Reading) -> None:
        """Its producers have stopped waiting."""
        with self._lock:
            self._expected.pop(_place(reading), None)

    def decided(self, reading: Reading | None, admissions: Sequence[Admission]) -> None:
        """Called by the router with what it did."""
        if reading is None or not self._expected:
            return
        with self._lock:
            waiting = self._expected.pop(_place(reading), [])
        for decision in waiting:
            if decision.set_running_or_notify_cancel():
                decision.set_result(admissions)


def _place(reading: Reading) -> _Place:
    return reading.pipeline_id, reading.key, reading.received_at
