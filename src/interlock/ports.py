"""Ports: what the use cases need from the world, in the domain's words.

Every write that follows a decision is conditional on what was decided from and answers whether it won:
"somebody got there first" is a normal answer. Only a broken store raises (TransientError,
UnavailableError). Every call may be made again with the same arguments.

A row that can't be read breaks no call: a list leaves it out, and what it stands for is answered apart
(a run with the status UNREADABLE, an UnreadableReading). Each such row is kept for `UnreadableRows`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from interlock.domain.budgets import Category
from interlock.domain.deadline import SlaVerdict
from interlock.domain.delivery import Answer, Delivery, Target
from interlock.domain.event import Event
from interlock.domain.guards import EngineState
from interlock.domain.missing import Missing
from interlock.domain.note import Note
from interlock.domain.pipeline import Pipeline
from interlock.domain.places import Places
from interlock.domain.run import (
    EXECUTION_TIMEOUT,
    LEASE_MARGIN,
    Evidence,
    Number,
    Run,
    RunKey,
    Status,
)
from interlock.domain.schedule import Occurrence
from interlock.domain.sensor import Reading
from interlock.domain.sla import SlaWatch
from interlock.domain.standing import Standing, standing_since
from interlock.domain.thread import Thread, ThreadKey
from interlock.domain.unreadable import UnreadableRow

Clock = Callable[[], datetime]


# --- what is stored -------------------------------------------------------------------------------


class Config(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The config in force of one pipeline, and what goes with it."""

    pipeline: Pipeline
    config_hash: str
    adopted_at: datetime
    active_since: datetime
    version: int = 1
    rejected_hash: str | None = None
    retired_at: datetime | None = None
    paused_since: datetime | None = None
    paused_until: datetime | None = None
    armed: dict[str, Occurrence] = {}
    #: By the ids that schedules have and had. One that is not here counts since `active_since`.
    standings: dict[str, Standing] = {}

    def standing(self, schedule_id: str) -> Standing:
        """From when on a schedule counts in the form that is in force."""
        return self.standings.get(schedule_id) or standing_since(self.active_since)

    def is_paused(self, now: datetime) -> bool:
        if self.paused_since is None:
            return False
        return self.paused_until is None or now < self.paused_until

    @property
    def is_retired(self) -> bool:
        return self.retired_at is not None


class Wanted(msgspec.Struct, frozen=True):
    """What an owner wants in force: the file as JSON, or None for a pipeline that was taken away."""

    pipeline_id: str
    config: Any
    config_hash: str
    wanted_at: datetime


class Refusal(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A file, or a stored config, that does not validate: the first of its problems, and where it is."""

    #: None for the file of alerts, and for a file that does not say its id.
    pipeline_id: str | None
    message: str
    #: Inside the document: `validation.rules[0].value`; empty for the document as a whole.
    path: str = ""
    #: Empty, with line 0, for a config that was stored without a file.
    file: str = ""
    line: int = 0
    #: How many further problems it has.
    more: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        who = "" if self.file else self.pipeline_id
        rest = f" (and {self.more} more)" if self.more else ""
        return ": ".join(part for part in (who, place, self.path, self.message) if part) + rest


class MissingFiles(Protocol):
    """The pipelines whose files were missing when the project was last looked at."""

    def keep(self, missing: Sequence[Missing]) -> None:
        """Replace the whole list."""
        ...

    def kept(self) -> list[Missing]: ...


class ChangeKind(StrEnum):
    """What a change record tells of."""

    SENSOR = "sensor"
    CONFIG = "config"
    RERUN = "rerun"
    JOB = "job"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A record that somebody wrote, as the feed or stream tells of it."""

    id: str
    kind: ChangeKind
    pipeline_id: str
    key: str
    at: datetime
    removed: bool = False
    reading: Reading | None = None
    request: "RerunRequest | None" = None
    record: "JobRecord | None" = None


class Downstream(msgspec.Struct, frozen=True, rename="camel"):
    """A schedule that opens when another pipeline completes."""

    pipeline_id: str
    schedule_id: str
    whole_day: bool


class JobRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line of the job log. One that the job wrote itself may lack the attempt."""

    key: RunKey
    at: datetime
    event: str
    attempt: int | None = None
    run_id: str | None = None
    error: str | None = None
    category: Category | None = None
    duration: float | None = None
    final: bool = False
    stopped: bool = False
    #: Whether we learned of it by asking, so that whoever waits for it knows.
    polled: bool = False
    #: Whether the platform did not say when: then `at` is when it was asked.
    undated: bool = False


#: What the job log says of a wait that goes on in another execution; further ones are numbered.
HANDED_OVER = "handed-over"
#: What the job log says of a launch that failed; further tries of the attempt have their number behind it.
LAUNCH_FAILED = "launch-failed"


class RerunRequest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Somebody asks for a date to run again."""

    key: RunKey
    reason: str
    requested_at: datetime
    requested_by: str = ""
    force: bool = False

    @property
    def id(self) -> str:
        """One request, one id: the instant it was made, to the microsecond."""
        return self.requested_at.isoformat()


class RerunRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A further attempt that was granted, and on whose account."""

    key: RunKey
    attempt: int
    source: str
    reason: str
    triggered_at: datetime
    requested_by: str = ""
    request: str | None = None


class Baseline(msgspec.Struct, frozen=True, rename="camel"):
    """The post-run readings as the job of an attempt saw them."""

    attempt: int
    readings: dict[str, Evidence]


class Timer(msgspec.Struct, frozen=True, rename="camel"):
    """A row with a due time."""

    name: str
    kind: str
    due_at: datetime
    payload: dict[str, Any]


class TimerKind(StrEnum):
    """What timers are for, beside the moments of a date's deadlines."""

    CRON = "cron"
    RETRY = "retry"
    POST_RUN = "post-run"


class Wait(StrEnum):
    """What an execution can be waiting for."""

    RULES = "rules"
    JOB = "job"


class WatchdogState(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The watchdog's own row."""

    version: Number = 0
    pass_until: datetime | None = None
    last_pass_at: datetime | None = None
    last_ok_at: datetime | None = None
    down_from: datetime | None = None
    down_until: datetime | None = None
    since: datetime | None = None
    lagging: dict[str, datetime] = {}
    #: With too many that lag: the pipeline with which the next pass begins.
    left_at: str | None = None
    failing_since: datetime | None = None
    failures: tuple[str, ...] = ()
    suspects: dict[str, datetime] = {}


# --- jobs -----------------------------------------------------------------------------------------


class JobContext(msgspec.Struct, frozen=True):
    """What a job may be told about its run."""

    pipeline: str
    schedule: str
    label: str
    date: str
    hour: str | None
    attempt: int
    token: str
    opened_at: datetime


class Launched(msgspec.Struct, frozen=True):
    """A job that was started; `metadata` is all that polling and cancelling need."""

    run_id: str
    metadata: dict[str, Any]
    finished: bool = False


class Absent(msgspec.Struct, frozen=True):
    """No job was started under the token."""


class CannotTell(msgspec.Struct, frozen=True):
    """The platform can't say whether a job was started under the token."""


class Running(msgspec.Struct, frozen=True):
    """The job has not ended; `unseen` when the platform will not tell us."""

    message: str = ""
    unseen: bool = False


class Succeeded(msgspec.Struct, frozen=True):
    """The job ended well."""

    message: str = ""
    ended_at: datetime | None = None
    detail: dict[str, Any] = {}


class Failed(msgspec.Struct, frozen=True):
    """The job ended badly; `stopped` when somebody ended it on purpose."""

    category: Category | None
    message: str
    ended_at: datetime | None = None
    stopped: bool = False
    detail: dict[str, Any] = {}


class Jobs(Protocol):
    """The outside workloads."""

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        """Start the job once. Raises LaunchError; never retries by itself."""
        ...

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """The job that was started under the context's token, if the platform can tell."""
        ...

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        """How the job is doing. Raises TransientError when nobody answers."""
        ...

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        """Ask the job to stop; whether that was possible. Never raises."""
        ...


# --- stores ---------------------------------------------------------------------------------------


class Pipelines(Protocol):
    """Configs: what owners want, and what is in force."""

    def want(self, wanted: Wanted) -> None:
        """Store what an owner wants. A change record follows unless nothing changed."""
        ...

    def wanted(self, pipeline_id: str) -> Wanted | None: ...

    def unadopted(self) -> list[Wanted]:
        """What is wanted and neither in force nor refused already."""
        ...

    def refused(self) -> list[Wanted]:
        """What is wanted and was refused."""
        ...

    def find(self, pipeline_id: str) -> Config | None:
        """The config in force; a retired one too, with `retired_at`. Raises UnreadableError."""
        ...

    def in_force(self) -> list[Config]:
        """Every config in force that is not retired and can be read, by id."""
        ...

    def unreadable(self) -> set[str]:
        """The pipelines whose config the last `in_force` could not read."""
        ...

    def save(self, config: Config, events: Sequence[Event] = ()) -> bool:
        """Store a config's next version. False if somebody stored that version first."""
        ...

    def refuse(self, wanted: Wanted) -> None:
        """Remember that this config does not validate, so that nobody tries it again."""
        ...

    def downstream_of(self, pipeline_id: str) -> list[Downstream]:
        """The schedules that open when this pipeline completes a date."""
        ...


class Sensors(Protocol):
    """Readings. Producers own them; we put only on their behalf, and for a cascade."""

    def put(self, reading: Reading) -> None:
        """One durable write, followed by a change record."""
        ...

    def put_all(self, readings: Sequence[Reading]) -> None:
        """Many of them. A failure may leave some stored; whoever tries again stores them all."""
        ...

    def remove(self, pipeline_id: str, key: str, at: datetime) -> None: ...

    def find(self, pipeline_id: str, keys: Collection[str]) -> dict[str, Reading]:
        """Exactly the readings of these keys that exist; one that can't be read as UnreadableReading."""
        ...

    def between(self, pipeline_id: str, key: str, first: str, last: str) -> list[Reading]:
        """The readable `key#period` with first <= period <= last, in both spellings of days."""
        ...

    def of_pipeline(self, pipeline_id: str) -> list[Reading]:
        """All of them, those that can't be read as UnreadableReading; for people."""
        ...


class Runs(Protocol):
    """Run records. Every write is a compare-and-set: of two writers, one wins.

    Events given with a write are its outbox: stored with it, and published by whoever comes next.
    """

    def get(self, key: RunKey) -> Run:
        """To decide from. Raises NotFoundError or UnreadableError."""
        ...

    def find(self, keys: Collection[RunKey]) -> dict[RunKey, Run]:
        """Those that exist. A row that can't be read is a run with the status UNREADABLE."""
        ...

    def open(self, run: Run, events: Sequence[Event] = ()) -> bool:
        """Store a date's first version. False if the date has a run already."""
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
        """Store a run's next version, with what must not be stored without it. False if it lost."""
        ...

    def baseline(self, key: RunKey) -> Baseline | None: ...

    def due(self, now: datetime) -> list[Run]:
        """The runs that somebody must look at by now."""
        ...

    def failed_since(self, key: RunKey) -> list[Run]:
        """The runs of its schedule, of this date or a later one, whose last attempt failed."""
        ...

    def active(self) -> list[Run]:
        """The runs that are not final, oldest first."""
        ...

    def open_executions(self) -> dict[str, RunKey]:
        """The open runs by the name of their execution. It may lag a little."""
        ...

    def of_pipeline(self, pipeline_id: str | None, since: str, until: str, limit: int) -> list[Run]:
        """Runs whose date label lies between the two, UNREADABLE ones too, newest first; for people."""
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
    """Requests to run a date again, and the attempts that were granted."""

    def request(self, request: RerunRequest) -> None:
        """Store a request; a change record follows."""
        ...

    def unjudged(self) -> list[RerunRequest]:
        """The requests that wait for their answer, oldest first."""
        ...

    def unlisted(self, pipeline_ids: Collection[str]) -> list[RerunRequest]:
        """Those of these pipelines that wait and that `unjudged` can't know of: written by hand."""
        ...

    def judged(self, request: RerunRequest) -> None:
        """The request has had its answer."""
        ...

    def withdraw(self, key: RunKey, at: datetime) -> None: ...

    def granted(self, key: RunKey) -> list[RerunRecord]: ...


class Events(Protocol):
    """The event log, and whoever listens to it."""

    def publish(self, events: Sequence[Event]) -> None:
        """Tell them, once per id. Raises TransientError when that failed for any of them."""
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
    """Events that were stored with a state and have not been told yet."""

    def pending(self, owner: str) -> list[Event]: ...

    def clear(self, events: Sequence[Event]) -> None: ...

    def leftovers(self, before: datetime) -> list[Event]:
        """Events that have waited since before that instant."""
        ...


class Marks(Protocol):
    """Facts that have no run row, claimed once."""

    def claim(self, event: Event) -> bool:
        """Store an event under its id, to be published. False if it was claimed already."""
        ...

    def is_claimed(self, event_ids: Iterable[str]) -> set[str]: ...

    def watch(self, key: RunKey) -> SlaWatch | None: ...

    def watches(self, keys: Collection[RunKey]) -> dict[RunKey, SlaWatch]: ...

    def save_watch(self, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        """Store a watch's next version (the first: if absent). False if somebody was first."""
        ...

    def places(self, pipeline_id: str) -> Places | None:
        """Who has a place for a job, where a pipeline limits how many there are."""
        ...

    def save_places(self, places: Places) -> bool:
        """Store the next version (the first: if absent). False if another writer was first."""
        ...


class Timers(Protocol):
    """Rows with a due time."""

    def arm(self, timers: Sequence[Timer]) -> None:
        """Arming a name again with another time moves it; with the same time does nothing."""
        ...

    def cancel(self, names: Sequence[str]) -> None: ...


class Workflows(Protocol):
    """The lifecycle's engine."""

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        """Start an execution. Starting a name twice is starting it once, also after it ended."""
        ...

    def describe(self, name: str) -> EngineState:
        """Raises UnavailableError when the engine can't be asked."""
        ...

    def running(self) -> set[str]:
        """The names of all executions under way. It may lag a little; raises as `describe` does."""
        ...

    def given(self, name: str) -> dict[str, Any] | None:
        """What an execution was started with; None if the engine does not know it. Raises likewise."""
        ...

    def wake(self, pipeline_id: str, waiting_for: Wait) -> None:
        """What the waiting executions of a pipeline wait for may be there. An engine may ignore it."""
        ...


class Watch(Protocol):
    """The watchdog's row. One that can't be read counts as the first, so that no pass waits for it."""

    def load(self) -> WatchdogState: ...

    def save(self, state: WatchdogState) -> bool: ...


class UnreadableRows(Protocol):
    """The rows that the stores of this process met and could not read."""

    def met(self) -> list[UnreadableRow]:
        """Those that are not reported yet, each row and content once."""
        ...

    def reported(self, row: UnreadableRow) -> None:
        """It has been told; met again with the same content, it is no news."""
        ...


@dataclass(frozen=True)
class Ports:
    """Everything a use case may touch."""

    clock: Clock
    pipelines: Pipelines
    sensors: Sensors
    runs: Runs
    job_log: JobLog
    reruns: Reruns
    events: Events
    outbox: Outbox
    marks: Marks
    timers: Timers
    workflows: Workflows
    jobs: Jobs
    watch: Watch
    unreadable: UnreadableRows
    instance: str = "interlock"
    execution_timeout: timedelta = EXECUTION_TIMEOUT

    @property
    def lease(self) -> timedelta:
        """How long an attempt may take before the watchdog asks what became of it."""
        return self.execution_timeout + LEASE_MARGIN


# --- what people look at --------------------------------------------------------------------------


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """A run at a glance: what a cell of a timeline shows."""

    key: RunKey
    status: Status
    attempt: int = 0
    sla_verdict: SlaVerdict | None = None
    #: Seconds that were left when it completed; negative when it was late.
    slack: int | None = None


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one schedule and day that stand alike: how many, and the newest of them."""

    newest: RunKey
    status: Status
    sla_verdict: SlaVerdict | None
    count: int
    #: Of those that completed: how much was left, added up.
    slack: int | None = None

    @property
    def day(self) -> str:
        return self.newest.date[:10]


class Told(msgspec.Struct, frozen=True):
    """An event and its place in the log."""

    seq: int
    event: Event


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events somebody wants to see."""

    pipeline_id: str | None = None
    kind: str | None = None
    since: datetime | None = None
    #: Warnings and above.
    of_note: bool = False
    #: Stands somewhere in the event, whatever its case.
    text: str | None = None


class History(Protocol):
    """What was, for people: lists that may be a second old, newest first.

    An answer costs by what it holds, not by how much history there is. None means that this home
    can't tell without reading everything. Dates are labels, or the beginnings of labels; `until`
    includes the hours of its day.
    """

    @property
    def searched(self) -> int:
        """In how many events at most something is looked for that no key or index leads to."""
        ...

    def glances(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Glance]: ...

    def tallies(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Tally]: ...

    def newest(self, pipeline_ids: Collection[str]) -> dict[str, Glance]:
        """The run of the newest date of each pipeline that has one."""
        ...

    def counts(self, since: str, until: str) -> dict[Status, int] | None:
        """How many runs of these dates are in which state."""
        ...

    def waiting(self, limit: int) -> list[Run]:
        """Open runs whose rules do not hold yet, the longest wait first."""
        ...

    def due(self, since: datetime | None, until: datetime, limit: int) -> list[Run]:
        """Runs that are not done and are warned of in `since <= warning < until`, soonest first."""
        ...

    def failed(self, since: str, limit: int) -> list[Run]:
        """Runs of dates since then whose last attempt failed."""
        ...

    def runs(
        self, pipeline_id: str | None, since: str, until: str, after: RunKey | None, limit: int
    ) -> list[Run] | None:
        """From behind a run on."""
        ...

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[Told]:
        """From before an instant and a place on. What no index leads to is looked for in `searched`."""
        ...

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        """The pipeline and date of each deadline that broke in that time, with or without a run."""
        ...


class Feed(Protocol):
    """The event log as it grows, for whoever follows it. Places are numbers that only grow.

    One who comes back to a place misses nothing that was told since; some of it may come again.
    """

    def changes(self) -> int:
        """Another number once there may be something new. Asking costs nothing, however often."""
        ...

    def oldest(self) -> int:
        """The place from which on everything is there."""
        ...

    def last(self) -> int:
        """The place of the newest. Raises UnavailableError or TransientError when nobody can tell."""
        ...

    def after(self, seq: int, limit: int) -> list[Told]:
        """What was told after that place, in the order of places. Raises as `last` does."""
        ...


# --- alerts ---------------------------------------------------------------------------------------


class Deliveries(Protocol):
    """Alerts on their way: one row for each event, sink and channel.

    An alert that waits is looked at again when its `due_at` has come: locally by whoever reads the due
    rows, elsewhere because its message comes back to the queue.
    """

    def find(self, event: Event, target: Target) -> Delivery | None: ...

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        """Where these events went, by event id and in the order of targets; for people."""
        ...

    def save(self, delivery: Delivery) -> bool:
        """Store a delivery's next version (the first: if absent). False if somebody was first.

        A held one comes back at its `due_at`: whoever sends is then told to release its target. One
        that was held and is queued again is looked at like a new one.
        """
        ...

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        """The held ones of a target whose mute has ended by that instant, oldest event first."""
        ...


class Threads(Protocol):
    """Conversations. Of two first alerts one claims the thread; the other waits for its root."""

    def find(self, key: ThreadKey) -> Thread | None: ...

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        """In every channel that has one, by channel."""
        ...

    def save(self, thread: Thread) -> bool:
        """Store a thread's next version (the first: if absent). False if somebody was first."""
        ...


class Paces(Protocol):
    """When each channel takes its next message: one slot at a time, shared by all senders."""

    def take(self, channel: str, now: datetime, every: timedelta) -> datetime:
        """Take the slot if there is one now: the answer is `now`. Else when to come again."""
        ...

    def block(self, channel: str, until: datetime) -> None:
        """The channel asked to be left alone until then. A longer block stays."""
        ...


class Switches(Protocol):
    """Sinks that asked for no more messages. `declared` names what the sink's settings were then."""

    def turn_off(self, sink: str, declared: str) -> None: ...

    def is_off(self, sink: str, declared: str) -> bool:
        """Whether it was turned off as it is declared now: with other settings it is on again."""
        ...


class Manner(msgspec.Struct, frozen=True):
    """What a sink can do and wants: threads, a pace, and when to try again."""

    threaded: bool = False
    paced: bool = False
    delays: tuple[timedelta, ...] = ()


class Sink(Protocol):
    """A way to people. It says what became of a message; what it raises counts as a failure."""

    @property
    def manner(self) -> Manner: ...

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        """A new message, as a reply when there is a thread."""
        ...

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        """Make an earlier message say this. Only sinks with threads are asked to."""
        ...


@dataclass(frozen=True)
class AlertPorts:
    """Everything that sending alerts may touch."""

    clock: Clock
    deliveries: Deliveries
    threads: Threads
    paces: Paces
    switches: Switches
    events: Events
    sinks: Mapping[str, Sink]
