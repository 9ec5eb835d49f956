"""Requests: what a caller may send with a query or a command. The types validate it at every entry point."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from interlock.domain.backfill import Concurrent
from interlock.domain.partition import Label
from interlock.errors import ConfigError

MOST_READINGS = 1000
MOST_ITEMS = 1000
MOST_DATES = 1000
MOST_LINES = 10_000
MOST_FOUND = 100
MOST_OUTPUT = 256 * 1024

Limit = Annotated[int, Meta(ge=1, le=MOST_ITEMS, description="How many at most.")]
Cursor = Annotated[str, Meta(max_length=2000, description="`next` of the previous page.")]
Text = Annotated[str, Meta(max_length=1000)]
Reason = Annotated[
    str, Meta(min_length=1, max_length=1000, pattern=r"\S", description="Why; it is recorded.")
]
Instant = Annotated[datetime, Meta(tz=True)]
Before = Annotated[datetime, Meta(tz=True, description="Only what happened before then.")]
Bound = Annotated[
    str,
    Meta(pattern=r"^[0-9T:-]{4,16}$(?!\n)", description="A date label, or the beginning of one."),
]
RunState = Annotated[
    Literal[
        "PENDING",
        "TRIGGERING",
        "RUNNING",
        "RETRYING",
        "FAILED",
        "COMPLETED",
        "FAILED_FINAL",
        "SKIPPED",
        "UNREADABLE",
    ],
    Meta(description="The state of a run; RETRYING: it failed, and its next attempt is due."),
]
Date = Annotated[str, Meta(max_length=20, description="A date, as 2026-03-03 or 2026-03-03T10.")]


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The query parameters of an address."""


class NoQuery(Query, frozen=True):
    """No parameters."""


class Paging(Query, frozen=True, kw_only=True):
    limit: Limit = 100
    cursor: Cursor | None = None


class Waiting(Query, frozen=True, kw_only=True):
    wait: Literal["decision"] | None = None


class OnDate(Query, frozen=True, kw_only=True):
    date: Date | None = None


class RunsQuery(Paging, frozen=True, kw_only=True):
    pipeline: Text | None = None
    since: Bound | None = msgspec.field(default=None, name="from")
    until: Bound | None = msgspec.field(default=None, name="to")
    status: RunState | None = None


class OutputQuery(Query, frozen=True, kw_only=True):
    attempt: (
        Annotated[int, Meta(ge=0, le=2**53, description="Default: the last that started.")] | None
    ) = None
    stream: Literal["stdout", "stderr", "both"] = "both"
    tail: Annotated[int, Meta(ge=1, le=MOST_LINES, description="The last lines only.")] | None = (
        None
    )
    offset: Annotated[int, Meta(ge=0, le=2**53, description="From this byte on.")] | None = None
    limit: Annotated[int, Meta(ge=4, le=MOST_OUTPUT, description="How many bytes at most.")] = (
        MOST_OUTPUT
    )


class EventsQuery(Paging, frozen=True, kw_only=True):
    pipeline: Text | None = None
    type: Text | None = None
    since: Instant | None = None
    until: Before | None = None


class AuditQuery(Paging, frozen=True, kw_only=True):
    actor: Text | None = None
    action: Text | None = None
    pipeline: Text | None = None
    since: Instant | None = None
    until: Before | None = None


class SearchQuery(Query, frozen=True, kw_only=True):
    q: Annotated[
        str, Meta(max_length=200, description="Words, all of which must occur; one may be a date.")
    ]
    limit: Annotated[int, Meta(ge=1, le=MOST_FOUND, description="How many at most.")] = 20


class RangeQuery(Paging, frozen=True, kw_only=True):
    since: Instant = msgspec.field(name="from")
    until: Instant = msgspec.field(name="to")


class BackfillQuery(Query, frozen=True, kw_only=True):
    since: Date = msgspec.field(name="from")
    until: Date = msgspec.field(name="to")
    schedule: Text | None = None


class BackfillsQuery(Paging, frozen=True, kw_only=True):
    pipeline: Text | None = None


class BackfillDatesQuery(Paging, frozen=True, kw_only=True):
    state: Literal["waiting", "requested", "running", "completed", "failed", "refused"] | None = (
        None
    )


class WatchQuery(Query, frozen=True, kw_only=True):
    since: Instant | None = None


class PruneQuery(Query, frozen=True, kw_only=True):
    before: Date


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request."""


class NewReading(_Body, frozen=True, rename="camel", kw_only=True):
    """A reading in a batch."""

    pipeline_id: Text
    key: Text
    fields: dict[str, Any]


class ForeseeReading(_Body, frozen=True, kw_only=True):
    """A reading that may be put."""

    key: Text
    fields: dict[str, Any]


class NewHandReading(_Body, frozen=True, kw_only=True):
    """A reading that a person puts, and why."""

    key: Text
    fields: dict[str, Any]
    reason: Reason


#: A batch of readings.
NewReadings = Annotated[list[NewReading], Meta(min_length=1, max_length=MOST_READINGS)]


class NewRerun(_Body, frozen=True, kw_only=True):
    """A request to run a date again."""

    date: Date
    schedule: Text | None = None
    reason: Text = "manual"
    force: bool = False
    over_budget: bool = msgspec.field(default=False, name="overBudget")


class NewBackfill(_Body, frozen=True, kw_only=True):
    """A range of dates to run, a few at a time."""

    since: Date = msgspec.field(name="from")
    until: Date = msgspec.field(name="to")
    reason: Reason
    schedule: Text | None = None
    max_concurrent: Annotated[
        Concurrent, Meta(description="How many of its dates may be at work at once.")
    ] = msgspec.field(default=2, name="maxConcurrent")


class NewBackfillTurn(_Body, frozen=True, kw_only=True):
    """A request to pause, resume or cancel a backfill."""

    reason: Reason


class NewCancellation(_Body, frozen=True, kw_only=True):
    """A request to end the run of a date."""

    reason: Reason


class NewSkip(_Body, frozen=True, kw_only=True):
    """A request that a date need not run."""

    reason: Reason


class NewUnskip(_Body, frozen=True, kw_only=True):
    """A request to expect a skipped date again."""

    reason: Reason


class NewDates(_Body, frozen=True, kw_only=True):
    """A request about many dates at once: those that are named, and the expected dates of a range."""

    action: Annotated[Literal["rerun", "skip"], Meta(description="What to do with each date.")]
    dates: Annotated[tuple[Date, ...], Meta(max_length=MOST_DATES)] = ()
    since: Date | None = msgspec.field(default=None, name="from")
    until: Date | None = msgspec.field(default=None, name="to")
    schedule: Text | None = None
    reason: Reason
    force: bool = False
    over_budget: bool = msgspec.field(default=False, name="overBudget")


class NewMark(_Body, frozen=True, kw_only=True):
    """The outcome of a run, as a person states it."""

    outcome: Annotated[Literal["done", "failed"], Meta(description="What came of the run.")]
    reason: Reason
    evidence: Annotated[
        dict[Annotated[str, Meta(min_length=1, max_length=100)], Text],
        Meta(max_length=20, description="What the person knows, by name."),
    ] = {}


class NewAcknowledgement(_Body, frozen=True, kw_only=True):
    """A request to look after the alerts of a date."""

    reason: Reason


class NewSnooze(_Body, frozen=True, rename="camel", kw_only=True):
    """A request to hold further alerts of a date."""

    reason: Reason
    span: Annotated[
        str, Meta(max_length=64, description="For how long, such as `2h`; up to `7d`.")
    ] = msgspec.field(name="for")
    include_critical: Annotated[bool, Meta(description="Whether critical alerts wait as well.")] = (
        False
    )


class NewUnsnooze(_Body, frozen=True, kw_only=True):
    """A request to end a snooze."""

    reason: Reason


class NewAlertTest(_Body, frozen=True, kw_only=True):
    """A request for a test message."""

    route: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            description="The number of a route, the name of a sink, SINK:CHANNEL, or `default`.",
        ),
    ]
    reason: Reason


class NewFiles(_Body, frozen=True, kw_only=True):
    """Pipelines as their files declare them, by id."""

    pipelines: dict[str, Any]
    #: Whether these are all there are.
    whole: bool = False


class NewPause(_Body, frozen=True, kw_only=True):
    until: Instant | None = None
    reason: Text = ""


class NewPrune(_Body, frozen=True, kw_only=True):
    before: Date | None = None
    reason: Text = ""


class NewRetry(_Body, frozen=True, kw_only=True):
    reason: Text = ""


class NewResume(_Body, frozen=True, kw_only=True):
    reason: Text = ""


class NewRetirement(_Body, frozen=True, kw_only=True):
    reason: Text = ""


class NewToken(_Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")]
    scopes: Annotated[tuple[str, ...], Meta(min_length=1, max_length=3)]
    pipelines: Annotated[tuple[Text, ...], Meta(max_length=1000)] = ()


def label_of(text: str) -> Label:
    """A date as a caller wrote it. Raises ConfigError."""
    try:
        return Label.parse(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error
