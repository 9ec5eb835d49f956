"""Alerts: what `alerts.yaml` declares. Sinks, routes to them, mutes, and rate limits.

Like those of a pipeline file, these structs are the single source of the format: the reader, the JSON Schema
and the reference are generated from them.
"""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, field, structs

from interlock.domain import canonical
from interlock.domain.alerting.deliveries import NO_CHANNEL, Target
from interlock.domain.alerting.sink_kinds import SINK_KINDS, Channel, SinkConfig
from interlock.domain.event import Severity
from interlock.domain.pipeline import CLOCK, Clock, Declared, Span, Weekday, Zone, text_form

SINK_NAME = r"[a-z0-9][a-z0-9-]{0,31}"

SinkName = Annotated[str, text_form("sink name", "Lower-case name of a sink.", SINK_NAME)]
Glob = Annotated[
    str, text_form("name", "A name, in which `*` stands for any characters and `?` for one.")
]
EventGlob = Annotated[
    str, text_form("event glob", "An event type; `*` stands for any characters, as in `SLA_*`.")
]
Instant = Annotated[str, text_form("instant", "An instant, such as `2026-03-03T08:00:00Z`.")]
DayEnd = Annotated[
    str,
    text_form("end of window", "A local time, `HH:MM`; `24:00` is midnight.", f"({CLOCK}|24:00)"),
]
DayName = Annotated[
    Weekday,
    Meta(
        description="A day of the week, such as `sat` or `saturday`.",
        extra={"also": "weekday"},
        extra_json_schema={"x-type": ["string"]},
    ),
]


class Match(Declared, frozen=True):
    """Which events; everything given must match."""

    severity: Annotated[Severity | None, Meta(description="This severity or a higher one.")] = None
    pipeline: Annotated[Glob | None, Meta(description="Id of the pipeline; a glob.")] = None
    event: Annotated[EventGlob | None, Meta(description="Type of the event; a glob.")] = None
    owner: Annotated[Glob | None, Meta(description="Owner of the pipeline; a glob.")] = None
    tags: Annotated[dict[str, Glob], Meta(description="Tags of the pipeline; globs.")] = {}  # noqa: RUF012 - msgspec copies it


class RouteTarget(Declared, frozen=True):
    """Where a route leads."""

    sink: Annotated[SinkName, Meta(description="One of `sinks`.")]
    channel: Annotated[
        Channel | None, Meta(description="`slack`: another channel than the sink's own.")
    ] = None


class EscalationStep(Declared, frozen=True):
    """Who gets an alert if it is neither acknowledged nor over by then."""

    after: Annotated[
        Span, Meta(description="How long after the alert, from `1m` to `7d`; on AWS to the minute.")
    ]
    to: Annotated[tuple[RouteTarget, ...], Meta(description="Where it goes then.", min_length=1)]


class Route(Declared, frozen=True):
    """Which events go where. The first match ends the search, unless it has `continue`."""

    match: Annotated[
        Match, Meta(description="Which events; `{}` matches every event that alerts people.")
    ]
    to: Annotated[tuple[RouteTarget, ...], Meta(description="Where they go.", min_length=1)]
    goes_on: Annotated[bool, Meta(description="Whether the routes below are tried as well.")] = (
        field(default=False, name="continue")
    )
    escalate: Annotated[
        tuple[EscalationStep, ...],
        Meta(
            description="Where an alert goes next, until it is acknowledged or its date recovers."
        ),
    ] = ()


class Weekly(Declared, frozen=True):
    """Hours of the week, in a zone; an `until` that is not after `from` is on the next day."""

    days: Annotated[
        tuple[DayName, ...], Meta(description="The days on which it begins.", min_length=1)
    ]
    timezone: Annotated[Zone, Meta(description="The zone of its times.")]
    since: Annotated[Clock, Meta(description="When it begins.")] = field(
        default="00:00", name="from"
    )
    until: Annotated[DayEnd, Meta(description="When it ends.")] = "24:00"


class Mute(Declared, frozen=True):
    """When alerts wait. They are held until its end, then summarised."""

    match: Annotated[Match, Meta(description="Which alerts; `{}` matches all.")]
    weekly: Annotated[Weekly | None, Meta(description="Every week.")] = None
    since: Annotated[Instant | None, Meta(description="Once: when it begins.")] = field(
        default=None, name="from"
    )
    until: Annotated[Instant | None, Meta(description="Once: when it ends.")] = None
    reason: Annotated[str, Meta(description="Why, shown in the summary.")] = ""
    include_critical: Annotated[bool, Meta(description="Whether critical alerts wait as well.")] = (
        False
    )


class Limits(Declared, frozen=True):
    """The rate limit of a Slack channel."""

    per_second: Annotated[
        Decimal,
        Meta(
            description="Messages a second in one channel.",
            extra={"ge": Decimal("0.01"), "le": 100},
            extra_json_schema={"x-type": ["number"], "minimum": 0.01, "maximum": 100},
        ),
    ] = Decimal(1)
    digest_over: Annotated[
        int,
        Meta(description="More alerts than this, due at once, become one message.", ge=1, le=1000),
    ] = 5

    @property
    def every(self) -> timedelta:
        return timedelta(seconds=float(1 / self.per_second))


class Alerts(Declared, frozen=True):
    """The whole alerts file."""

    sinks: Annotated[
        dict[SinkName, SinkConfig],
        Meta(description="The sinks, by name. None: Slack if it is set up, or the console."),
    ] = {}  # noqa: RUF012 - msgspec copies it
    default: Annotated[
        SinkName | None,
        Meta(description="The sink of alerts that no route takes; default: the first of `sinks`."),
    ] = None
    routes: Annotated[
        tuple[Route, ...], Meta(description="Tried in order; what none takes goes to the default.")
    ] = ()
    mutes: Annotated[tuple[Mute, ...], Meta(description="When alerts wait.")] = ()
    limits: Limits = Limits()

    def target(self, sink: str, channel: str | None = None) -> Target:
        """An undeclared sink is left for the sender to detect."""
        config = self.sinks.get(sink)
        own = None if config is None else config.channel
        return Target(sink, channel or own or NO_CHANNEL)

    @property
    def default_target(self) -> Target:
        """Where alerts go that no route takes."""
        if self.default is not None:
            return self.target(self.default)
        return next(map(self.target, self.usable), CONSOLE)

    @property
    def usable(self) -> tuple[str, ...]:
        """The sinks that need no channel named, in their order."""
        return tuple(name for name, config in self.sinks.items() if not config.lacks_channel)

    def declared(self, sink: str) -> str:
        """A fingerprint of a sink's settings: it changes when they do."""
        config = self.sinks.get(sink)
        return "" if config is None else canonical.content_hash(config, 16)


#: The last resort: the console and the log.
CONSOLE = Target("console")


def with_sinks(alerts: Alerts, slack_channel: str | None) -> Alerts:
    """Without a file, or without sinks in it: Slack if it is configured, otherwise the console."""
    if alerts.sinks:
        return alerts
    name = CONSOLE.sink if slack_channel is None else "slack"
    sink = SINK_KINDS[name].settings(name, channel=slack_channel)
    return structs.replace(alerts, sinks={name: sink})
