"""Pipeline: what an owner declared. Schedules, rules, SLA, job, and what to watch afterwards.

These structs are the single source of the file format: the file reader, the JSON Schema for editors and the
reference are generated from their types, bounds and descriptions. Texts such as durations and times are kept
as the author wrote them and parsed where they are used.
"""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from interlock.domain import duration
from interlock.domain.check import Check
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.value_reference import reference_of

PIPELINE_ID = r"[a-z0-9][a-z0-9._-]{0,62}"
SCHEDULE_ID = r"[a-z0-9-]{1,24}"
CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]"
MINUTE = r":[0-5][0-9]"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def text_form(form: str, description: str, pattern: str | None = None) -> Meta:
    """Text of a form that the reader checks by name; editors see the pattern."""
    schema = {} if pattern is None else {"pattern": f"^{pattern}$"}
    return Meta(description=description, extra={"form": form}, extra_json_schema=schema)


def pattern_form(form: str, description: str, pattern: str, allowed: str) -> Meta:
    """Text that matches a pattern; `allowed` tells the author of any other text what would."""
    return Meta(
        description=description,
        extra={"form": form, "pattern": pattern, "allowed": allowed},
        extra_json_schema={"pattern": f"^{pattern}$"},
    )


PipelineId = Annotated[str, text_form("pipeline id", "Lower-case id of a pipeline.", PIPELINE_ID)]
ScheduleId = Annotated[str, text_form("schedule id", "Lower-case id of a schedule.", SCHEDULE_ID)]
SensorKey = Annotated[str, text_form("sensor key", "Key of a sensor, without `SENSOR#`.")]
FieldPath = Annotated[
    str, text_form("field", "Name of a field of the reading; a dotted path reaches into maps.")
]
Span = Annotated[str, text_form("duration", "A duration such as `90s`, `2h30m` or `1d`.")]
Clock = Annotated[str, text_form("clock time", "A local time, `HH:MM`.", CLOCK)]
Moment = Annotated[
    str, text_form("deadline", "`HH:MM`, or `:MM` for hourly runs.", f"({CLOCK}|{MINUTE})")
]
Day = Annotated[str, text_form("date", "A date, `YYYY-MM-DD`.", DAY)]
Zone = Annotated[str, text_form("time zone", "An IANA time zone such as `Europe/Berlin`.")]
Cron = Annotated[
    str, text_form("cron", "Five cron fields: minute, hour, day of month, month, weekday.")
]
CalendarName = Annotated[str, text_form("calendar", "Name of a calendar file.")]
Country = Annotated[
    str, text_form("country", "Country, or country and subdivision, such as `US` or `DE-BY`.")
]


class Mode(StrEnum):
    """How many rules of a set must hold."""

    ALL = "ALL"
    ANY = "ANY"


class Weekday(StrEnum):
    """A day of the week, in the order of `date.weekday()`."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class UpstreamHours(StrEnum):
    """Which hourly dates of an upstream pipeline a daily run waits for."""

    ALL = "all"


class Declared(msgspec.Struct, frozen=True, rename="camel"):
    """The base of all parts of a file: immutable, camelCase outside."""


class Rule(Declared, frozen=True):
    """One constraint on one field of one sensor."""

    key: SensorKey
    check: Annotated[Check, Meta(description="The operator.")]
    field: FieldPath | None = None
    value: Annotated[
        Any,
        Meta(
            description="What the field is compared with; needed by all but `exists` and `absent`. "
            "`{field: NAME}`, or `{field: NAME, key: KEY}`, compares with another field."
        ),
    ] = None
    max_age: Annotated[
        Span | None,
        Meta(description="The reading must have been received within this time; default none."),
    ] = None
    stable_for: Annotated[
        Span | None,
        Meta(
            description="The rule counts once it has held for this long without a new reading; "
            "default at once."
        ),
    ] = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The sensor keys that it looks at: its own, and the one that its value names."""
        reference = reference_of(self.value)
        named = None if reference is None else reference.key
        return (self.key,) if named is None else (self.key, named)

    @property
    def wants_no_reading(self) -> bool:
        """Whether it holds when there is no reading at all."""
        return self.check.spec.wants_absence and self.field is None


_Members = Annotated[
    tuple[Annotated[Rule, Meta(extra={"rule": "in a group"})], ...], Meta(min_length=1)
]


class RuleGroup(Declared, frozen=True):
    """Several rules that count as one."""

    any_of: Annotated[
        _Members | None, Meta(description="The group holds if one of these rules does.")
    ] = None
    all_of: Annotated[
        _Members | None, Meta(description="The group holds if all of these rules do.")
    ] = None

    @property
    def members(self) -> tuple[Rule, ...]:
        return self.any_of or self.all_of or ()

    @property
    def mode(self) -> Mode:
        return Mode.ALL if self.any_of is None else Mode.ANY

    @property
    def name(self) -> str:
        """As it is written in a file."""
        return "allOf" if self.any_of is None else "anyOf"

    def bounded(self, max_age: str) -> "RuleGroup":
        """The same, with an age for each member that has none."""
        members = tuple(bounded(rule, max_age) for rule in self.members)
        return RuleGroup(all_of=members) if self.any_of is None else RuleGroup(any_of=members)


if TYPE_CHECKING:
    RuleEntry = Rule | RuleGroup
else:
    RuleEntry = (
        Any  # msgspec decodes no union of structs without a tag: Validation converts each map
    )


def bounded(rule: Rule, max_age: str) -> Rule:
    """The rule with the age that its reading may have, unless it says so itself or wants no reading."""
    if rule.max_age is not None or rule.wants_no_reading:
        return rule
    return msgspec.structs.replace(rule, max_age=max_age)


class Trigger(Declared, frozen=True):
    """The rule whose passing opens a run, or the upstream pipeline whose completion does."""

    key: SensorKey | None = None
    check: Annotated[Check | None, Meta(description="The operator.")] = None
    field: FieldPath | None = None
    value: Annotated[Any, Meta(description="What the field is compared with.")] = None
    deadline: Annotated[
        Moment | None, Meta(description="After this, no run opens by itself for that date.")
    ] = None
    pipeline: Annotated[
        PipelineId | None,
        Meta(description="Instead of `key`: opens when that pipeline completes the same date."),
    ] = None
    hours: Annotated[
        UpstreamHours | None,
        Meta(description="`all`: a daily run waits for every date that upstream expects that day."),
    ] = None

    @property
    def rule(self) -> Rule:
        """The trigger as a rule. An upstream completion is a reading like any other."""
        if self.pipeline is not None:
            return Rule(f"pipeline:{self.pipeline}", Check.EXISTS)
        assert self.key is not None and self.check is not None  # the reader ensures it
        return Rule(self.key, self.check, self.field, self.value)


class Exclusion(Declared, frozen=True):
    """Days without runs; any match excludes."""

    weekends: Annotated[bool, Meta(description="Saturdays and Sundays.")] = False
    days: Annotated[tuple[Weekday, ...], Meta(description="Weekday names.")] = ()
    dates: Annotated[tuple[Day, ...], Meta(description="Single dates.")] = ()
    calendar: CalendarName | None = None
    holidays: Country | None = None


class Inclusion(Declared, frozen=True):
    """The only dates on which runs are expected."""

    dates: Annotated[tuple[Day, ...], Meta(description="The dates.", min_length=1)]


class Evaluation(Declared, frozen=True):
    """How long and how often the rules of an open run are judged."""

    window: Annotated[Span, Meta(description="How long the rules may take to hold.")] = "1h"
    interval: Annotated[
        Span | None, Meta(description="How often they are judged; default 5m, or the window.")
    ] = None

    @property
    def every(self) -> timedelta:
        if self.interval is not None:
            return duration.parse(self.interval)
        return min(timedelta(minutes=5), duration.parse(self.window))


class Schedule(Declared, frozen=True):
    """When runs are expected and what opens them."""

    id: Annotated[
        ScheduleId, Meta(description="Default `cron` when cron is set, else `stream`.")
    ] = ""
    cron: Cron | None = None
    timezone: Zone = "UTC"
    time: Annotated[
        Clock | None, Meta(description="A run is not missed before this local time.")
    ] = None
    grace: Annotated[
        Span,
        Meta(description="How long after its expected time a run counts as missed."),
    ] = "10m"
    trigger: Trigger | None = None
    exclude: Exclusion | None = None
    calendar: CalendarName | None = None
    include: Inclusion | None = None
    evaluation: Evaluation = Evaluation()
    day_offset: Annotated[
        Annotated[int, Meta(ge=0, le=7)] | None,
        Meta(
            description="On which day after the run's date its wall-clock deadlines fall; "
            "default 0 with cron or include, 1 for a sensor-driven schedule."
        ),
    ] = None
    horizon: Annotated[
        Span | None,
        Meta(
            description="How far ahead a reading or a rerun may be dated, if that is farther than "
            "the next expected occurrence, or two days for a sensor-driven schedule."
        ),
    ] = None

    def __post_init__(self) -> None:
        if not self.id:
            force_setattr(self, "id", "stream" if self.cron is None else "cron")
        if self.day_offset is None:
            clocked = self.cron is not None or self.include is not None
            force_setattr(self, "day_offset", 0 if clocked else 1)

    @property
    def offset(self) -> int:
        """`dayOffset`, which is always set after construction."""
        return self.day_offset or 0

    @property
    def gate(self) -> Rule | None:
        """The trigger of a date that its cron opens: it must hold before the job may start."""
        return self.trigger.rule if self.cron is not None and self.trigger is not None else None


class Sla(Declared, frozen=True):
    """By when a run must be done."""

    deadline: Moment | None = None
    expected_duration: Annotated[
        Span | None, Meta(description="How long the job takes; the lead time of the warning.")
    ] = None
    max_duration: Annotated[
        Span | None,
        Meta(description="Relative: counted from the first matching reading; at most 24h."),
    ] = None
    timezone: Annotated[Zone | None, Meta(description="Default: the schedule's.")] = None
    critical: Annotated[
        bool, Meta(description="Raises the severity of its warning and breach.")
    ] = False
    evaluation_deadline: Annotated[
        Moment | None,
        Meta(description="By when the rules must hold, `HH:MM` or `:MM`; before `deadline`."),
    ] = None

    @property
    def has_deadline(self) -> bool:
        """Whether its runs get an SLA verdict; `evaluationDeadline` alone gives none."""
        return self.deadline is not None or self.max_duration is not None


class Validation(Declared, frozen=True):
    """What must be true before the job may start."""

    rules: Annotated[
        tuple[Annotated[RuleEntry, Meta(extra={"rule": "or group"})], ...],
        Meta(description="The rules, and groups of rules.", min_length=1),
    ]
    trigger: Annotated[
        Mode,
        Meta(
            description="`ALL` rules must hold, or `ANY` of them; a group counts as one.",
            extra={"any case": True},
        ),
    ] = Mode.ALL
    max_age: Annotated[
        Span | None,
        Meta(description="`maxAge` of every rule that has none of its own."),
    ] = None

    def __post_init__(self) -> None:
        """A store holds each entry as a map."""
        stored: Any = self.rules
        if isinstance(stored, tuple) and any(isinstance(each, _STORED) for each in stored):
            force_setattr(self, "rules", tuple(map(_entry, stored)))

    @property
    def every_rule(self) -> Iterator[Rule]:
        """The rules, those in groups too."""
        for entry in self.rules:
            if isinstance(entry, RuleGroup):
                yield from entry.members
            else:
                yield entry

    @property
    def bounded_rules(self) -> tuple[RuleEntry, ...]:
        """The rules and groups, each rule with the age that its reading may have."""
        age = self.max_age
        if age is None:
            return self.rules
        return tuple(
            entry.bounded(age) if isinstance(entry, RuleGroup) else bounded(entry, age)
            for entry in self.rules
        )


#: What JSON has in place of a struct.
_STORED = (dict, list, str, int, Decimal, float, type(None))


def _entry(entry: Any) -> RuleEntry:
    if not isinstance(entry, dict):
        raise ValueError("a rule is a map")
    if "anyOf" in entry or "allOf" in entry:
        return msgspec.convert(entry, RuleGroup)
    return msgspec.convert(entry, Rule)


class Job(Declared, frozen=True):
    """The workload to start, and how often a failure may be retried."""

    type: Annotated[str, Meta(description="What kind of workload.", extra={"one of": JOB_KINDS})]
    config: Annotated[
        dict[str, Any], Meta(description="Settings of that type.", extra={"later": True})
    ] = {}
    max_retries: Annotated[
        int, Meta(ge=0, le=10, description="Retries of transient, timeout and other failures.")
    ] = 0
    max_code_retries: Annotated[
        int, Meta(ge=0, le=3, description="Retries of permanent failures; 0 switches them off.")
    ] = 1
    max_drift_reruns: Annotated[
        int, Meta(ge=0, le=5, description="Reruns for drift and late data together.")
    ] = 1
    max_manual_reruns: Annotated[
        int, Meta(ge=0, le=5, description="Reruns on request, whatever the reason.")
    ] = 1
    job_poll_window_seconds: Annotated[
        int,
        Meta(
            le=86400,
            description="How long the job may run, 60 to 86400; 0 means the default.",
            extra={"ge": 60, "or": 0},
            extra_json_schema={"anyOf": [{"const": 0}, {"minimum": 60}]},
        ),
    ] = 3600
    poll_interval: Annotated[
        Span | None,
        Meta(description="How often the job is polled, 10s to 10m; default: less and less often."),
    ] = None
    max_concurrent: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="How many dates of the pipeline may have a job at once; default: any number."
        ),
    ] = None

    def __post_init__(self) -> None:
        """What a store holds may come from a version that has more types."""
        name: object = self.type  # the reader puts something else in place of a wrong one
        if isinstance(name, str) and name not in JOB_KINDS:
            raise ValueError(f"unknown job type {name!r}")

    @property
    def poll_window(self) -> timedelta:
        return timedelta(seconds=self.job_poll_window_seconds or 3600)

    @property
    def polled_every(self) -> timedelta | None:
        """None: half of the time it has run, within bounds."""
        return None if self.poll_interval is None else duration.parse(self.poll_interval)


class PostRunEvaluation(Declared, frozen=True):
    """How long post-run readings are judged."""

    window: Annotated[Span, Meta(description="Counted from completion.")] = "24h"
    interval: Annotated[
        Span | None,
        Meta(
            description="How often `age_lt` and `age_gt` are judged again until the window ends; "
            "without it, only when readings arrive."
        ),
    ] = None


class PostRun(Declared, frozen=True):
    """What to watch after completion."""

    rules: Annotated[
        tuple[Annotated[Rule, Meta(extra={"rule": "after the job"})], ...],
        Meta(description="Judged as readings arrive; all must hold.", min_length=1),
    ]
    evaluation: PostRunEvaluation = PostRunEvaluation()
    drift_field: Annotated[
        FieldPath | None,
        Meta(
            description="The number compared with the baseline; default the rule's `field` if the "
            "baseline has a number there, else `sensor_count`."
        ),
    ] = None
    drift_threshold: Annotated[
        Decimal,
        Meta(
            description="Drift when the number moved by more than this.",
            extra={"ge": 0},
            extra_json_schema={"x-type": ["number"], "minimum": 0},
        ),
    ] = Decimal(0)
    sensor_timeout: Annotated[
        Span, Meta(description="How long after completion its readings may arrive.")
    ] = "2h"
    late_window: Annotated[
        Span | None,
        Meta(
            description="How long after completion a changed trigger reading still reruns the job; "
            "default the window of the evaluation."
        ),
    ] = None


class Identity(Declared, frozen=True):
    """The identity of a pipeline and who owns it."""

    id: Annotated[PipelineId, Meta(description="The identity; the file name is not.")]
    owner: Annotated[str | None, Meta(description="Who to ask.")] = None
    description: Annotated[str | None, Meta(description="What it is for.")] = None
    tags: Annotated[
        dict[str, str], Meta(description="Shown in alerts and usable in alert routes.")
    ] = {}


class Calendar(Declared, frozen=True):
    """Named days without runs."""

    name: Annotated[CalendarName, Meta(description="How schedules refer to it.")]
    days: Annotated[tuple[Weekday, ...], Meta(description="Weekday names.")] = ()
    dates: Annotated[tuple[Day, ...], Meta(description="Single dates.")] = ()


class Pipeline(Declared, frozen=True):
    """A pipeline as declared, including the calendars it names."""

    pipeline: Identity
    schedules: Annotated[tuple[Schedule, ...], Meta(min_length=1)]
    validation: Validation
    job: Job
    sla: Sla | None = None
    post_run: PostRun | None = None
    dry_run: Annotated[
        bool, Meta(description="Decide everything, start nothing; needs a trigger.")
    ] = False
    calendars: Annotated[
        dict[str, Calendar], Meta(description="The calendars that the schedules name.")
    ] = {}
    holidays_until: Annotated[
        Day | None, Meta(description="The last day for which country holidays are included.")
    ] = None
    #: Former ids of schedules, each with the current one; added at adoption. Omitted from the text when
    #: empty,
    #: so that no hash changes.
    formerly: dict[str, str] | UnsetType = UNSET

    @property
    def id(self) -> str:
        return self.pipeline.id

    def has_schedule(self, schedule_id: str) -> bool:
        name = self.present_id(schedule_id)
        return any(schedule.id == name for schedule in self.schedules)

    def schedule(self, schedule_id: str) -> Schedule:
        """The schedule that has or had that id. Raises KeyError when there is none."""
        name = self.present_id(schedule_id)
        for schedule in self.schedules:
            if schedule.id == name:
                return schedule
        raise KeyError(schedule_id)

    def present_id(self, schedule_id: str) -> str:
        """The current id of a schedule; the id itself when no schedule has had it."""
        if self.formerly is UNSET or any(each.id == schedule_id for each in self.schedules):
            return schedule_id
        return self.formerly.get(schedule_id, schedule_id)

    def former_ids(self, schedule_id: str) -> tuple[str, ...]:
        """The former ids of a schedule."""
        if self.formerly is UNSET:
            return ()
        return tuple(old for old, new in self.formerly.items() if new == schedule_id)


def holiday_calendar(country: str) -> str:
    """The name under which a pipeline includes a country's holidays."""
    return f"holidays:{country}"
