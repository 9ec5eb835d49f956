"""Producers: put good readings, and ones that the rules must refuse, each for a date of its own."""

import calendar
import http.client
import random
import threading
import time
import urllib.parse
from datetime import UTC, datetime, timedelta
from typing import Any

from attack.ledger import Outcome, Put
from attack.project import Pipeline
from attack.victim import Victim
from attack.worker import Worker

_FIRST = datetime(2020, 1, 1, tzinfo=UTC)

#: What the last rule alone refuses.
NOT_FINAL: dict[str, Any] = {"count": 50, "final": "no"}

#: What the rules must refuse: too few, not final, not there, of another type, or no number at all.
BAD: tuple[dict[str, Any], ...] = (
    {"count": 3, "final": "yes"},
    {"count": 9.999999, "final": "yes"},
    {"count": "12 rows", "final": "yes"},
    {"count": None, "final": "yes"},
    {"count": True, "final": "yes"},
    {"count": [12], "final": "yes"},
    {"final": "yes"},
    {"count": 50},
    NOT_FINAL,
    {"count": 50, "final": True},
    {"count": 50, "final": "YES"},
    {"count": 50, "final": {"yes": "yes"}},
    {},
)


class Dates:
    """Labels that were never used before; shared by all producers of a server."""

    def __init__(self, pipelines: tuple[Pipeline, ...]) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys((each.name for each in pipelines), 0)
        self._minutes: set[str] = set()

    def next(self, pipeline: Pipeline) -> str | None:
        with self._lock:
            if pipeline.minute is not None:
                return self._minute(pipeline.minute)
            self._counts[pipeline.name] += 1
            n = self._counts[pipeline.name]
        if pipeline.labels == "hours":
            return f"{_FIRST + timedelta(hours=n):%Y-%m-%dT%H}"
        return f"{_FIRST + timedelta(days=n):%Y-%m-%d}"

    def _minute(self, due: int) -> str | None:
        """A minute of the past whose deadline is still to come."""
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        for back in range(1, 60):
            label = now - timedelta(minutes=back)
            if label.minute == due:
                return None
            text = f"{label:%Y-%m-%dT%H:%M}"
            if text not in self._minutes:
                self._minutes.add(text)
                return text
        return None


def minute_deadline(label: str, due: int) -> float:
    """The next instant after a minute's label whose minute is `due`."""
    start = calendar.timegm(time.strptime(label, "%Y-%m-%dT%H:%M"))
    minutes = (due - time.gmtime(start).tm_min) % 60 or 60
    return start + 60.0 * minutes


class Producer(Worker):
    """One reading after another until it is stopped."""

    def __init__(self, victim: Victim, dates: Dates, seed: int, pause: float) -> None:
        super().__init__(f"producer-{victim.name}-{seed}", victim.ledger)
        self._victim, self._dates, self._pause = victim, dates, pause
        self._chance = random.Random(seed)
        #: Since when no write has succeeded although the server answered; for the watch of /readyz.
        self.failing_since: float | None = None
        self.last_failure: float | None = None

    def work(self) -> None:
        while not self.stopping.wait(self._chance.uniform(0.3, 1.7) * self._pause):
            good = {"count": self._chance.randrange(10, 10_000), "final": "yes"}
            fields = good if self._chance.random() < 0.65 else self._chance.choice(BAD)
            self.put(self._chance.choice(self._victim.pipelines), fields)

    def put(self, pipeline: Pipeline, fields: dict[str, Any]) -> None:
        """For a date that no other reading has."""
        date = self._dates.next(pipeline)
        if date is None:
            return
        good = fields not in BAD
        sent_at, asked_at = time.time(), time.monotonic()
        outcome, told = self._send(pipeline.name, date, fields)
        self._note_failure(asked_at, told)
        ended_at = time.time()
        self.ledger.put(
            Put(
                self._victim.name,
                pipeline.name,
                date,
                good,
                sent_at,
                ended_at,
                outcome,
                told,
                fields,
            )
        )

    def _send(self, pipeline: str, date: str, fields: dict[str, Any]) -> tuple[Outcome, str]:
        key = urllib.parse.quote(f"landed#{date}", safe="")
        try:
            status, body = self._victim.ask(
                "PUT", f"/api/v1/pipelines/{pipeline}/sensors/{key}", fields
            )
        except (OSError, http.client.HTTPException) as error:
            return Outcome.UNKNOWN, f"{type(error).__name__}: {error}"
        if status < 300:
            return Outcome.ACKNOWLEDGED, str(status)
        outcome = Outcome.REFUSED if status < 500 else Outcome.UNKNOWN
        return outcome, f"{status} {body[:200].decode(errors='replace')}"

    def _note_failure(self, asked_at: float, told: str) -> None:
        """An answer of 5xx is a write that failed; a connection that broke says nothing of writes."""
        if told.startswith("5"):
            self.failing_since = self.failing_since or asked_at
            self.last_failure = asked_at
        elif told[:1].isdigit():
            self.failing_since = self.last_failure = None
