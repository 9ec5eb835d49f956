"""Stores: what is stored."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.backfill import Backfill
from interlock.domain.baseline import Baseline
from interlock.domain.config import Config, Downstream, Wanted
from interlock.domain.event import Event
from interlock.domain.job_record import JobRecord
from interlock.domain.missing import Missing
from interlock.domain.places import Places
from interlock.domain.rerun_request import RequestAnswer, RerunRecord, RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.domain.sla import SlaWatch
from interlock.domain.unreadable import UnreadableRow
from interlock.domain.watchdog_state import WatchdogState


class MissingFiles(Protocol):
    """The pipelines whose files were missing at the last check of the project."""

    def keep(self, missing: Sequence[Missing]) -> None:
        """Replace the whole list."""
        ...

    def kept(self) -> list[Missing]: ...


class Pipelines(Protocol):
    """Configs: those that owners want, and those in force."""

    def want(self, wanted: Wanted) -> None:
        """Store what an owner wants. A change record follows unless nothing changed."""
        ...

    def wanted(self, pipeline_id: str) -> Wanted | None: ...

    def unadopted(self) -> list[Wanted]:
        """The wanted configs that are neither in force nor refused yet."""
        ...

    def refused(self) -> list[Wanted]:
        """The wanted configs that were refused."""
        ...

    def find(self, pipeline_id: str) -> Config | None:
        """The config in force; a retired one too, with `retired_at`. Raises UnreadableError."""
        ...

    def in_force(self) -> list[Config]:
        """Every readable config in force that is not retired, by id."""
        ...

    def unreadable(self) -> set[str]:
        """The pipelines whose config the last `in_force` could not read."""
        ...

    def save(self, config: Config, events: Sequence[Event] = ()) -> bool:
        """Store a config's next version. False if another writer stored that version first."""
        ...

    def refuse(self, wanted: Wanted) -> None:
        """Record that this config is invalid, so that it is not tried again."""
        ...

    def downstream_of(self, pipeline_id: str) -> list[Downstream]:
        """The schedules that open when this pipeline completes a date."""
        ...


class Sensors(Protocol):
    """Readings. Producers own them; Interlock puts them only on their behalf, and for a cascade."""

    def put(self, reading: Reading) -> None:
        """One durable write, followed by a change record."""
        ...

    def put_all(self, readings: Sequence[Reading]) -> None:
        """Many of them. A failure may leave some stored; a caller that tries again stores them all."""
        ...

    def remove(self, pipeline_id: str, key: str, at: datetime) -> None: ...

    def find(self, pipeline_id: str, keys: Collection[str]) -> dict[str, Reading]:
        """Exactly the readings of these keys that exist; an unreadable one as UnreadableReading."""
        ...

    def between(self, pipeline_id: str, key: str, first: str, last: str) -> list[Reading]:
        """The readable `key#period` with first <= period <= last, in both spellings of days."""
        ...

    def of_pipeline(self, pipeline_id: str) -> list[Reading]:
        """All of them, unreadable ones as UnreadableReading; for people."""
        ...


class ReadingIntake(Protocol):
    """Stores readings without holding a thread: many producers wait, and one write serves them all."""

    async def put(self, reading: Reading) -> None:
        """Durable when it returns. Raises like `Sensors.put`."""
        ...


class Runs(Protocol):
    """Run records. Every write is a compare-and-set: of two writers, one wins.

    Events given with a write are its outbox: stored with it, and published by the next caller.
    """

    def get(self, key: RunKey) -> Run:
        """For decisions. Raises NotFoundError or UnreadableError."""
        ...

    def find(self, keys: Collection[RunKey]) -> dict[RunKey, Run]:
        """Those that exist. An unreadable row is a run with the status UNREADABLE."""
        ...

    def open(self, run: Run, events: Sequence[Event] = ()) -> bool:
        """Store a date's first version. False if the date already has a run."""
        ...

    def save(
        self,
        run: Run,
        events: Sequence[Event] = (),
        *,
        baseline: Baseline | None = None,
        rerun: RerunRecord | None = None,
        request: RerunRequest | None = None,
    ) -> bool:
        """Store a run's next version, together with what depends on it. False if it lost."""
        ...

    def remove(self, run: Run, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        """Remove a run that is not open, and store the next version of the watch that stands for its date
        again, with its events. False if another writer got to either first, or events of them wait.
        """
        ...

    def baseline(self, key: RunKey) -> Baseline | None: ...

    def due(self, now: datetime) -> list[Run]:
        """The runs that are due for a look by now."""
        ...

    def failed_since(self, key: RunKey) -> list[Run]:
        """The runs of its schedule, of this date or a later one, whose last attempt failed."""
        ...

    def active(self) -> list[Run]:
        """The runs that are not final, oldest first."""
        ...

    def open_executions(self) -> dict[str, RunKey]:
        """The open runs, keyed by the name of their execution. It may lag a little."""
        ...

    def of_pipeline(self, pipeline_id: str | None, since: str, until: str, limit: int) -> list[Run]:
        """Runs whose date label is between the two, UNREADABLE ones too, newest first; for people."""
        ...


class JobLog(Protocol):
    """What happened to jobs. Append-only."""

    def append(self, record: JobRecord) -> None:
        """Of two records of one attempt and event, the first stays. A change record follows."""
        ...

    def of_run(self, key: RunKey) -> list[JobRecord]:
        """In the order of their times."""
        ...


class Reruns(Protocol):
    """Requests to run a date again, and the granted attempts."""

    def request(self, request: RerunRequest) -> None:
        """Store a request; a change record follows."""
        ...

    def unjudged(self) -> list[RerunRequest]:
        """The requests that have not been judged, oldest first."""
        ...

    def unlisted(self, pipeline_ids: Collection[str]) -> list[RerunRequest]:
        """The waiting requests of these pipelines that `unjudged` can't list: those written by hand."""
        ...

    def judged(self, request: RerunRequest, refused: str = "") -> None:
        """Record that the request was answered, and the cause of a rejection; the first cause stays."""
        ...

    def answers(self, keys: Collection[RunKey]) -> dict[RunKey, RequestAnswer]:
        """The last request for each of these dates that has one, and its answer."""
        ...

    def withdraw(self, key: RunKey, at: datetime) -> None: ...

    def granted(self, key: RunKey) -> list[RerunRecord]: ...


class Backfills(Protocol):
    """Backfills. Every write is a compare-and-set; its events wait in the outbox under their own ids."""

    def find(self, backfill_id: str) -> Backfill | None:
        """Raises UnreadableError."""
        ...

    def save(self, backfill: Backfill, events: Sequence[Event] = ()) -> bool:
        """Store the next version (the first: if absent). False if another writer was first."""
        ...

    def unsettled(self) -> list[Backfill]:
        """The readable ones that need attention, oldest first."""
        ...

    def newest(
        self, limit: int, before: str | None = None, pipeline_id: str | None = None
    ) -> list[Backfill]:
        """The readable ones whose id comes before that one, newest first; for people."""
        ...


class Events(Protocol):
    """The event log and its listeners."""

    def publish(self, events: Sequence[Event]) -> None:
        """Publish them, once per id. Raises TransientError when that failed for any of them."""
        ...

    def of_run(self, key: RunKey) -> list[Event]:
        """In the order in which they happened."""
        ...

    def newest(
        self,
        *,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]: ...


class Outbox(Protocol):
    """Events that were stored with a state and are not published yet."""

    def pending(self, owner: str) -> list[Event]: ...

    def clear(self, events: Sequence[Event]) -> None: ...

    def leftovers(self, before: datetime) -> list[Event]:
        """Events that have waited since before that instant."""
        ...


class Claims(Protocol):
    """Facts that have no run row, claimed once."""

    def claim(self, event: Event) -> bool:
        """Store an event under its id, to be published. False if it was already claimed."""
        ...

    def is_claimed(self, event_ids: Iterable[str]) -> set[str]: ...

    def watch(self, key: RunKey) -> SlaWatch | None: ...

    def watches(self, keys: Collection[RunKey]) -> dict[RunKey, SlaWatch]: ...

    def save_watch(self, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        """Store a watch's next version (the first: if absent). False if another writer was first."""
        ...

    def places(self, pipeline_id: str) -> Places | None:
        """Which runs have a place for a job, if the pipeline limits how many there are."""
        ...

    def save_places(self, places: Places) -> bool:
        """Store the next version (the first: if absent). False if another writer was first."""
        ...


class Watch(Protocol):
    """The watchdog's row. An unreadable one counts as the first, so that no pass waits for it."""

    def load(self) -> WatchdogState: ...

    def save(self, state: WatchdogState) -> bool: ...


class UnreadableRows(Protocol):
    """The unreadable rows that the stores of this process met."""

    def met(self) -> list[UnreadableRow]:
        """The rows not yet reported, once for each row and content."""
        ...

    def reported(self, row: UnreadableRow) -> None:
        """It has been reported; with the same content, it is not reported again."""
        ...
