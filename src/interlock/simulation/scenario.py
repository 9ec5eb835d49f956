"""Scenario: a timeline for the simulator, as its file declares it, and what must happen."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from interlock.domain import canonical, duration, timestamp
from interlock.domain.budgets import Category
from interlock.domain.event import ALIASES, EventType
from interlock.domain.pipeline import Calendar, Declared, PipelineId, ScheduleId, SensorKey, Span
from interlock.domain.run import MarkedAs
from interlock.errors import ConfigError
from interlock.files.loaded import in_order, read_whole
from interlock.files.nodes import List, Map, Node, Unreadable
from interlock.files.problem import Problem, ProblemKind
from interlock.files.problem_collector import At, ProblemCollector
from interlock.files.problem_messages import meant
from interlock.files.text import load_calendar, load_node, load_text
from interlock.files.yaml_nodes import parse


def _form(name: str, description: str) -> Meta:
    return Meta(description=description, extra={"form": name})


Instant = Annotated[str, _form("instant", "An instant, such as `2026-03-03T08:00:00Z`.")]
When = Annotated[str, _form("when", "An instant, or `+30m` after the entry before.")]
Date = Annotated[str, _form("label", "The date of a run: `2026-03-03`, or `2026-03-03T10`.")]


class JobResult(StrEnum):
    SUCCESS = "success"
    FAIL = "fail"


class LaunchOutcome(StrEnum):
    ERROR = "error"


class Call(StrEnum):
    """The calls to the outside that a scenario can make fail."""

    PUBLISH = "publish"
    LAUNCH = "launch"
    FIND = "find"
    POLL = "poll"
    START = "start"
    ALERT = "alert"
    READ = "read"


class JobScript(Declared, frozen=True):
    """What the world does at one launch."""

    after: Span = "0s"
    result: JobResult = JobResult.SUCCESS
    category: Category | None = None
    error: str | None = None
    launch: LaunchOutcome | None = None
    hang: bool = False
    #: How long a call takes to be answered: its platform acts halfway, and the rest is the way back.
    launch_takes: Span = "0s"
    poll_takes: Span = "0s"

    @property
    def is_slow(self) -> bool:
        return bool(duration.parse(self.launch_takes) or duration.parse(self.poll_takes))


class SensorEntry(Declared, frozen=True):
    pipeline: PipelineId
    key: SensorKey
    data: Annotated[dict[str, Any], Meta(description="The fields of the reading.")] = {}  # noqa: RUF012 - msgspec copies it


class RerunEntry(Declared, frozen=True):
    pipeline: PipelineId
    date: Date
    schedule: ScheduleId | None = None
    reason: str = "manual"
    force: bool = False


class RunActionEntry(Declared, frozen=True):
    """What an operator asks about the run of a date."""

    pipeline: PipelineId
    date: Date
    schedule: ScheduleId | None = None
    reason: str = "operator"


class MarkEntry(Declared, frozen=True):
    pipeline: PipelineId
    date: Date
    outcome: MarkedAs
    schedule: ScheduleId | None = None
    reason: str = "operator"
    evidence: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it


class BackfillTurnName(StrEnum):
    """What an operator does with a backfill that has begun."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


class BackfillEntry(Declared, frozen=True):
    """Starts a backfill of a range, or turns the newest one of the pipeline."""

    pipeline: PipelineId
    first: Date | None = field(default=None, name="from")
    last: Date | None = field(default=None, name="to")
    schedule: ScheduleId | None = None
    max_concurrent: Annotated[int, Meta(ge=1, le=100)] = 2
    reason: str = "scenario"
    turn: BackfillTurnName | None = None


class RequestRow(Declared, frozen=True):
    date: Date
    schedule: ScheduleId | None = None


class DeleteEntry(Declared, frozen=True):
    pipeline: PipelineId
    key: SensorKey | None = None
    rerun: RequestRow | None = None


class JobEntry(Declared, frozen=True):
    pipeline: PipelineId
    date: Date
    event: str
    schedule: ScheduleId | None = None
    category: Category | None = None
    error: str | None = None


class FileEntry(Declared, frozen=True):
    """What happens to the file of a pipeline; exactly one of these."""

    remove: PipelineId | None = None
    restore: PipelineId | None = None
    writing: Any = None


class FailEntry(Declared, frozen=True):
    call: Call
    times: Annotated[int, Meta(ge=1, le=1000)] = 1
    span: Span | None = field(default=None, name="for")


class TimelineEntry(Declared, frozen=True):
    """Something that happens in the world; exactly one besides `at`."""

    at: When
    sensor: SensorEntry | None = None
    rerun: RerunEntry | None = None
    cancel: RunActionEntry | None = None
    skip: RunActionEntry | None = None
    unskip: RunActionEntry | None = None
    mark: MarkEntry | None = None
    backfill: BackfillEntry | None = None
    delete: DeleteEntry | None = None
    job: JobEntry | None = None
    pause: PipelineId | None = None
    resume: PipelineId | None = None
    retire: PipelineId | None = None
    config: Any = None
    file: FileEntry | None = None
    outage: Span | None = None
    crash: bool | None = None
    fail: FailEntry | None = None


class RunRef(Declared, frozen=True):
    pipeline: PipelineId
    date: Date
    schedule: ScheduleId | None = None


class Expectation(Declared, frozen=True):
    """Something that must hold at the end; one of event, no, run, launches, order, alerts."""

    event: str | None = None
    no: str | None = None
    run: RunRef | None = None
    launches: PipelineId | None = None
    order: tuple[str, ...] | None = None
    alerts: PipelineId | None = None
    pipeline: PipelineId | None = None
    schedule: ScheduleId | None = None
    date: Date | None = None
    at: Instant | None = None
    within: Span | None = None
    count: Annotated[int, Meta(ge=0)] | None = None
    detail: dict[str, Any] | None = None
    status: str | None = None
    attempt: Annotated[int, Meta(ge=0)] | None = None
    sla_verdict: str | None = None
    threads: Annotated[int, Meta(ge=0)] | None = None
    #: Expectations that a fault may change: a launch late by seconds may end after the deadline.
    undisturbed: bool = False


class ScenarioFile(Declared, frozen=True):
    """A scenario as written."""

    name: str
    start: Instant
    until: Instant
    watchdog: Span = "5m"
    pipelines: tuple[Any, ...] = ()
    calendars: tuple[Any, ...] = ()
    jobs: dict[str, tuple[JobScript, ...]] = {}  # noqa: RUF012 - msgspec copies it
    timeline: tuple[TimelineEntry, ...] = ()
    expect: tuple[Expectation, ...] = ()


class Moment(msgspec.Struct, frozen=True):
    """A timeline entry with the instant it happens at; configs as JSON."""

    at: datetime
    entry: TimelineEntry


class Scenario(msgspec.Struct, frozen=True):
    """A scenario, ready to be played."""

    name: str
    start: datetime
    until: datetime
    watchdog: timedelta
    configs: tuple[Any, ...]
    jobs: dict[str, tuple[JobScript, ...]]
    timeline: tuple[Moment, ...]
    expect: tuple[Expectation, ...]
    text: str = ""

    @property
    def is_slow(self) -> bool:
        """Whether calls in it take time."""
        return any(script.is_slow for scripts in self.jobs.values() for script in scripts)


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ConfigError with every problem, as for pipeline files."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    return parse_scenario(text, str(path), path.parent)


def parse_scenario(text: bytes | str, file: str = "", folder: Path | None = None) -> Scenario:
    """Read a scenario from its text."""
    try:
        root = parse(text)
    except Unreadable as error:
        raise ConfigError(f"{file}:{error.line}:{error.column}: {error}") from error
    reading = ProblemCollector(file)
    written = read_whole(ScenarioFile, root, reading)
    if written is None or not reading.is_sound or not isinstance(root, Map):
        raise ConfigError(_told(reading.problems))
    _check(written, At(reading, root, ()))
    documents = _Documents(written, root, folder, reading)
    if not reading.is_sound:
        raise ConfigError(_told(reading.problems))
    configs, timeline = documents.pipelines(), documents.timeline()
    _check_names(configs, timeline, At(reading, root, ()))
    if not reading.is_sound:
        raise ConfigError(_told(reading.problems))
    start = instant(written.start)
    return Scenario(
        written.name,
        start,
        instant(written.until),
        duration.parse(written.watchdog),
        configs,
        written.jobs,
        _moments(timeline, start),
        written.expect,
        text if isinstance(text, str) else text.decode(errors="replace"),
    )


def instant(text: str) -> datetime:
    found = timestamp.instant(text)
    assert found is not None  # the reader has checked the form
    return found


def pipeline_id(config: object) -> str | None:
    """The id that a document gives itself."""
    document = config if isinstance(config, dict) else {}
    identity = document.get("pipeline")
    name = identity.get("id") if isinstance(identity, dict) else None
    return name if isinstance(name, str) else None


class _Documents:
    """The pipeline documents of a scenario, read from their nodes as files would be."""

    def __init__(
        self, written: ScenarioFile, root: Map, folder: Path | None, reading: ProblemCollector
    ) -> None:
        self._written, self._root, self._folder, self._reading = written, root, folder, reading
        self._year = int(written.start[:4])
        self._calendars = [self._calendar(value) for value in written.calendars]

    def pipelines(self) -> tuple[Any, ...]:
        nodes = _items(self._root, "pipelines")
        return tuple(
            self._pipeline(value, node)
            for value, node in zip(self._written.pipelines, nodes, strict=True)
        )

    def timeline(self) -> tuple[TimelineEntry, ...]:
        nodes = _items(self._root, "timeline")
        return tuple(
            self._entry(entry, node)
            for entry, node in zip(self._written.timeline, nodes, strict=True)
        )

    def _entry(self, entry: TimelineEntry, node: Node) -> TimelineEntry:
        """The entry with its document as JSON, if it has one."""
        if entry.config is not None:
            document = self._pipeline(entry.config, _at(node, "config"))
            return msgspec.structs.replace(entry, config=document)
        if entry.file is not None and entry.file.writing is not None:
            document = self._pipeline(entry.file.writing, _at(_at(node, "file"), "writing"))
            return msgspec.structs.replace(entry, file=FileEntry(writing=document))
        return entry

    def _pipeline(self, value: Any, node: Node) -> Any:
        """The config as JSON; a broken one as it is written, for the controller to refuse."""
        if isinstance(value, str):
            text = self._file(value)
            loaded = load_text(text, calendars=self._calendars, year=self._year)
            value = {"pipeline": {"id": Path(value).stem}}
        else:
            loaded = load_node(node, calendars=self._calendars, year=self._year)
        return value if loaded.pipeline is None else canonical.as_json(loaded.pipeline)

    def _calendar(self, value: Any) -> Calendar:
        if isinstance(value, str):
            calendar, problems = load_calendar(self._file(value))
        else:
            calendar, problems = load_calendar(canonical.encode(value))
        if calendar is None:
            raise ConfigError(_told(list(problems)))
        return calendar

    def _file(self, name: str) -> bytes:
        try:
            return ((self._folder or Path()) / name).read_bytes()
        except OSError as error:
            raise ConfigError(f"{name}: {error.strerror or error}") from error


def _items(root: Map, key: str) -> list[Node]:
    node = root.items.get(key)
    return node.items if isinstance(node, List) else []


def _at(node: Node, key: str) -> Node:
    assert isinstance(node, Map)
    return node.items[key]


def _moments(entries: tuple[TimelineEntry, ...], start: datetime) -> tuple[Moment, ...]:
    moments, at = [], start
    for entry in entries:
        if entry.at.startswith("+"):
            at += duration.parse(entry.at)
        else:
            at = instant(entry.at)
        moments.append(Moment(at, entry))
    return tuple(sorted(moments, key=lambda moment: moment.at))


def _check(written: ScenarioFile, at: At) -> None:
    for position, entry in enumerate(written.timeline):
        given = [name for name in _HAPPENINGS if getattr(entry, name) is not None]
        if len(given) != 1:
            message = f"needs exactly one of {', '.join(_HAPPENINGS)}"
            at.inner("timeline", position).error("at", ProblemKind.CONFLICT, message)
        if entry.backfill is not None and not _is_whole(entry.backfill):
            message = "needs from and to, or turn alone"
            at.inner("timeline", position).error("backfill", ProblemKind.CONFLICT, message)
        of_file = [] if entry.file is None else [n for n in _OF_FILE if _given(entry.file, n)]
        if entry.file is not None and len(of_file) != 1:
            message = f"needs exactly one of {', '.join(_OF_FILE)}"
            at.inner("timeline", position).error("file", ProblemKind.CONFLICT, message)
    for position, expected in enumerate(written.expect):
        given = [name for name in _SUBJECTS if getattr(expected, name) is not None]
        where = at.inner("expect", position)
        if len(given) != 1:
            where.error(
                "event", ProblemKind.CONFLICT, f"needs exactly one of {', '.join(_SUBJECTS)}"
            )
        for name in (expected.event, expected.no, *(expected.order or ())):
            if name is not None and name not in EventType.__members__ and name not in ALIASES:
                where.error("event", ProblemKind.BAD_VALUE, f"{name} is not a type of event")


def _check_names(configs: Iterable[Any], timeline: Sequence[TimelineEntry], at: At) -> None:
    """An entry for a pipeline that the scenario never declares would have no effect."""
    coming = (
        each for entry in timeline for each in (entry.config, entry.file and entry.file.writing)
    )
    known = {name for each in (*configs, *coming) if (name := pipeline_id(each)) is not None}
    for position, entry in enumerate(timeline):
        where = at.inner("timeline", position)
        _check_known(entry, _OF_OPERATOR, known, where)
        if entry.backfill is not None:
            _check_known(entry.backfill, ("pipeline",), known, where.inner("backfill"))
        if entry.file is not None:
            _check_known(entry.file, _OF_STORED_FILE, known, where.inner("file"))


def _check_known(entry: Declared, keys: Iterable[str], known: set[str], at: At) -> None:
    for key in keys:
        name = getattr(entry, key)
        if name is not None and name not in known:
            hint = meant(name, known, at.reading)
            at.error(key, ProblemKind.BAD_VALUE, f"there is no pipeline {name}", hint)


def _is_whole(entry: BackfillEntry) -> bool:
    ends = (entry.first is not None) + (entry.last is not None)
    return ends == (2 if entry.turn is None else 0)


def _given(entry: FileEntry, name: str) -> bool:
    return getattr(entry, name) is not None


def _told(problems: list[Problem]) -> str:
    return "\n".join(str(problem) for problem in in_order(problems) if problem.is_error)


_HAPPENINGS = (
    "sensor", "rerun", "backfill", "cancel", "skip", "unskip", "mark", "delete", "job", "pause", "resume",
    "retire", "config", "file", "outage", "crash", "fail",
)  # fmt: skip
_OF_OPERATOR = ("pause", "resume", "retire")
_OF_STORED_FILE = ("remove", "restore")
_OF_FILE = (*_OF_STORED_FILE, "writing")
_SUBJECTS = ("event", "no", "run", "launches", "order", "alerts")
