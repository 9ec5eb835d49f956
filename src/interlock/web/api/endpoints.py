"""Endpoints: the table of the API. What a request may hold is checked by the types that stand here,
and the OpenAPI document is made of the same ones.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from interlock.adapters.sqlite.changes import Parked
from interlock.domain.config import Config
from interlock.domain.config import RefusedConfig as NotInForce
from interlock.domain.event import Event
from interlock.domain.lineage import LineageEvent, sources_of
from interlock.domain.missing import Missing
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import NotFoundError
from interlock.queries.alerted import Alerted, alerted
from interlock.queries.attainment import Attainment
from interlock.queries.findings import WatchdogPass
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.paging import Page
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.stored_reading import RefusedReading, StoredReading
from interlock.queries.timeline import TimelineRow
from interlock.queries.why import Why
from interlock.runtime.tokens import Scope, TokenShown, make_token, new_secret, shown
from interlock.usecases.foresee_files import FileEdit
from interlock.usecases.pause import Foreseen
from interlock.usecases.put_reading import admissible_reading
from interlock.usecases.take_lineage import take_lineage
from interlock.web.access import Caller
from interlock.web.api.bodies import BATCH, SMALL
from interlock.web.api.context import ApiContext
from interlock.web.http_problem import HttpProblem
from interlock.wiring.views import label_of

API = "/api/v1"
MOST_READINGS = 1000

Limit = Annotated[int, Meta(ge=1, le=1000, description="How many at most.")]
Cursor = Annotated[str, Meta(max_length=2000, description="`next` of the page before.")]
Text = Annotated[str, Meta(max_length=1000)]
Instant = Annotated[datetime, Meta(tz=True)]
Bound = Annotated[
    str,
    Meta(pattern=r"^[0-9T:-]{4,16}$(?!\n)", description="A date label, or the beginning of one."),
]
Date = Annotated[str, Meta(max_length=20, description="A date, as 2026-03-03 or 2026-03-03T10.")]


class _Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What may stand behind the question mark."""


class NoQuery(_Query, frozen=True):
    """Nothing."""


class Paging(_Query, frozen=True, kw_only=True):
    limit: Limit = 100
    cursor: Cursor | None = None


class Waiting(_Query, frozen=True, kw_only=True):
    wait: Literal["decision"] | None = None


class OnDate(_Query, frozen=True, kw_only=True):
    date: Date | None = None


class RunsQuery(Paging, frozen=True, kw_only=True):
    pipeline: Text | None = None
    since: Bound | None = msgspec.field(default=None, name="from")
    until: Bound | None = msgspec.field(default=None, name="to")


class EventsQuery(Paging, frozen=True, kw_only=True):
    pipeline: Text | None = None
    type: Text | None = None
    since: Instant | None = None


class RangeQuery(Paging, frozen=True, kw_only=True):
    since: Instant = msgspec.field(name="from")
    until: Instant = msgspec.field(name="to")


class StreamQuery(_Query, frozen=True, kw_only=True):
    pipeline: Text | None = None
    type: Text | None = None
    #: Without names one listener of a browser hears every event.
    named: bool = True
    #: Also an event named `pulse` when anything was written, every two seconds at most.
    pulse: bool = False


class BackfillQuery(_Query, frozen=True, kw_only=True):
    since: Date = msgspec.field(name="from")
    until: Date = msgspec.field(name="to")
    schedule: Text | None = None


class WatchQuery(_Query, frozen=True, kw_only=True):
    since: Instant | None = None


class NewReading(
    msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True
):
    """A reading in a batch."""

    pipeline_id: Text
    key: Text
    fields: dict[str, Any]


class NewRerun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to run a date again."""

    date: Date
    schedule: Text | None = None
    reason: Text = "manual"
    force: bool = False


class NewFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pipelines as their files would have them, by id."""

    pipelines: dict[str, Any]
    #: Whether these are all there are.
    whole: bool = False


class NewPause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    until: Instant | None = None
    reason: Text = ""


class NewPrune(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    before: Date | None = None
    reason: Text = ""


class PruneQuery(_Query, frozen=True, kw_only=True):
    before: Date


class Prunable(msgspec.Struct, frozen=True):
    runs: int


class Pruned(msgspec.Struct, frozen=True):
    removed: dict[str, int]


class NewRetry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Text = ""


class Retried(msgspec.Struct, frozen=True):
    changes: int


class NewResume(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Text = ""


class NewRetirement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Text = ""


class NewToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")]
    scopes: Annotated[tuple[str, ...], Meta(min_length=1, max_length=3)]
    pipelines: Annotated[tuple[Text, ...], Meta(max_length=1000)] = ()


class ReadingAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What became of a reading of a batch: stored, or the problem with it."""

    pipeline_id: str
    key: str
    received_at: datetime | None = None
    version: str | None = None
    problem: str | None = None


class RunHistory(msgspec.Struct, frozen=True):
    """A run and everything that happened to it."""

    run: Run
    events: list[Event]


class Given(msgspec.Struct, frozen=True):
    """A request that has passed the gate and its types."""

    caller: Caller
    path: dict[str, str]
    query: Any
    body: Any


@dataclass(frozen=True)
class Endpoint:
    """A row: what may be asked, by whom, and what answers. `act` may take its time; `at_once` not."""

    method: str
    path: str
    name: str
    summary: str
    scope: Scope
    answer: Any
    act: Callable[[ApiContext, Given], Any] | None = None
    at_once: Callable[[ApiContext, Given], Awaitable[Any]] | None = None
    query: type[msgspec.Struct] = NoQuery
    body: Any = None
    #: Whether the body may be left out.
    bare: bool = False
    largest: int = SMALL
    status: int = 200


# --- readings


async def put_sensor(context: ApiContext, given: Given) -> StoredReading:
    pipeline_id, key = given.path["pipeline"], given.path["key"]
    ports = context.own.ports
    config = ports.pipelines.find(pipeline_id)
    reading = admissible_reading(pipeline_id, key, given.body, config, ports.clock())
    await context.batcher.put(reading)
    context.metrics.readings.labels("accepted").inc()
    return StoredReading(pipeline_id, key, reading.received_at, reading.version)


def put_and_decide(context: ApiContext, given: Given) -> StoredReading:
    operations = context.own.operations
    accepted = operations.put(given.path["pipeline"], given.path["key"], given.body, decide=True)
    context.metrics.readings.labels("accepted").inc()
    return accepted


def put_sensors(context: ApiContext, given: Given) -> Page[ReadingAnswer]:
    readings: Sequence[NewReading] = given.body
    denied = {
        each.pipeline_id
        for each in readings
        if not given.caller.may(Scope.OBSERVE, each.pipeline_id)
    }
    if denied:
        raise HttpProblem(403, f"the token may not report for {', '.join(sorted(denied)[:5])}")
    answers = context.own.operations.put_all(
        [(each.pipeline_id, each.key, each.fields) for each in readings]
    )
    refused = sum(isinstance(each, RefusedReading) for each in answers)
    context.metrics.readings.labels("refused").inc(refused)
    context.metrics.readings.labels("accepted").inc(len(answers) - refused)
    return Page([_answered(each) for each in answers])


def _answered(answer: StoredReading | RefusedReading) -> ReadingAnswer:
    if isinstance(answer, RefusedReading):
        return ReadingAnswer(pipeline_id=answer.pipeline_id, key=answer.key, problem=answer.problem)
    return ReadingAnswer(
        pipeline_id=answer.pipeline_id,
        key=answer.key,
        received_at=answer.received_at,
        version=answer.version,
    )


def lineage(context: ApiContext, given: Given) -> Page[StoredReading]:
    sources = sources_of(given.body, context.own.settings.lineage)
    for source in sources:
        if not given.caller.may(Scope.OBSERVE, source.pipeline):
            raise HttpProblem(403, f"the token may not report for {source.pipeline}")
    readings = take_lineage(given.body, sources, context.own.ports)
    context.metrics.readings.labels("accepted").inc(len(readings))
    return Page([StoredReading(r.pipeline_id, r.key, r.received_at, r.version) for r in readings])


def sensors(context: ApiContext, given: Given) -> Page[Reading]:
    return context.views.readings(given.path["pipeline"], given.query.cursor, given.query.limit)


# --- looking


def pipelines(context: ApiContext, given: Given) -> Page[PipelineState]:
    return context.views.pipelines(given.query.cursor, given.query.limit)


def pipeline(context: ApiContext, given: Given) -> PipelineState:
    return context.backend.operations.pipeline(given.path["pipeline"])


def config(context: ApiContext, given: Given) -> Config:
    return context.backend.operations.config(given.path["pipeline"])


def why(context: ApiContext, given: Given) -> Page[Why]:
    return Page(context.backend.operations.why(given.path["pipeline"], given.query.date))


def runs(context: ApiContext, given: Given) -> Page[Run]:
    query: RunsQuery = given.query
    return context.views.runs(query.pipeline, query.since, query.until, query.cursor, query.limit)


def run(context: ApiContext, given: Given) -> RunHistory:
    path, operations = given.path, context.backend.operations
    found = operations.run(path["pipeline"], path["date"], path["schedule"])
    return RunHistory(found, operations.history(found.key))


def events(context: ApiContext, given: Given) -> Page[Event]:
    query: EventsQuery = given.query
    return context.views.events(query.pipeline, query.type, query.since, query.cursor, query.limit)


def alerted_events(context: ApiContext, given: Given) -> Page[Alerted]:
    page = events(context, given)
    return Page(alerted(page.items, context.backend.deliveries), page.next)


def timeline(context: ApiContext, given: Given) -> Page[TimelineRow]:
    query: RangeQuery = given.query
    return context.views.timeline(query.since, query.until, query.cursor, query.limit)


def sla(context: ApiContext, given: Given) -> Page[Attainment]:
    query: RangeQuery = given.query
    return context.views.sla(query.since, query.until, query.cursor, query.limit)


def watchdog(context: ApiContext, given: Given) -> Heartbeat:
    return context.backend.operations.heartbeat()


def refused(context: ApiContext, given: Given) -> Page[NotInForce]:
    return Page(context.backend.operations.refused())


def missing(context: ApiContext, given: Given) -> Page[Missing]:
    return Page(context.backend.operations.missing())


def backfill(context: ApiContext, given: Given) -> Page[str]:
    query: BackfillQuery = given.query
    return Page(
        context.backend.operations.backfill(
            given.path["pipeline"], query.since, query.until, query.schedule
        )
    )


def would_resume(context: ApiContext, given: Given) -> Page[Foreseen]:
    return Page(context.backend.operations.would_resume(given.path["pipeline"]))


def foresee(context: ApiContext, given: Given) -> Page[FileEdit]:
    return Page(context.backend.operations.foresee(given.body.pipelines, given.body.whole))


# --- acting


def rerun(context: ApiContext, given: Given) -> RerunRequest:
    pipeline_id, asked = given.path["pipeline"], given.body
    operations = context.own.operations
    operations.config(pipeline_id)
    target = str(RunKey(pipeline_id, asked.schedule or "-", str(label_of(asked.date))))
    context.note(given.caller, "rerun", target, asked.reason)
    return operations.rerun(
        pipeline_id,
        asked.date,
        schedule_id=asked.schedule,
        reason=asked.reason,
        force=asked.force,
        actor=given.caller.name,
    )


def pause(context: ApiContext, given: Given) -> Config:
    pipeline_id, asked = given.path["pipeline"], given.body or NewPause()
    context.own.operations.config(pipeline_id)
    context.note(given.caller, "pause", pipeline_id, asked.reason)
    return context.own.operations.pause(pipeline_id, asked.until)


def resume(context: ApiContext, given: Given) -> Config:
    pipeline_id, asked = given.path["pipeline"], given.body or NewResume()
    context.own.operations.config(pipeline_id)
    context.note(given.caller, "resume", pipeline_id, asked.reason)
    return context.own.operations.resume(pipeline_id)


def retire(context: ApiContext, given: Given) -> Config:
    pipeline_id, asked = given.path["pipeline"], given.body or NewRetirement()
    context.own.operations.config(pipeline_id)
    context.note(given.caller, "retire", pipeline_id, asked.reason)
    return context.own.operations.retire(pipeline_id)


def watch_now(context: ApiContext, given: Given) -> WatchdogPass | None:
    context.note(given.caller, "watchdog", "-", "")
    return context.own.operations.watch_pass(given.query.since)


# --- upkeep


def prunable(context: ApiContext, given: Given) -> Prunable:
    return Prunable(context.own.operations.prunable(given.query.before))


def prune(context: ApiContext, given: Given) -> Pruned:
    asked: NewPrune = given.body or NewPrune()
    if asked.before is not None:
        context.own.operations.prunable(asked.before)  # refuses a date that is none
    context.note(given.caller, "prune", asked.before or "-", asked.reason)
    return Pruned(context.own.operations.prune(asked.before))


def parked(context: ApiContext, given: Given) -> Page[Parked]:
    return Page(context.own.operations.parked())


def retry_parked(context: ApiContext, given: Given) -> Retried:
    asked: NewRetry = given.body or NewRetry()
    context.note(given.caller, "retry", "parked changes", asked.reason)
    return Retried(context.own.operations.retry_parked())


# --- tokens


def tokens(context: ApiContext, given: Given) -> Page[TokenShown]:
    return Page([shown(token) for token in context.own.store.tokens.all()])


def create_token(context: ApiContext, given: Given) -> TokenShown:
    asked, secret = given.body, new_secret()
    token = make_token(asked.name, asked.scopes, asked.pipelines, secret, context.own.ports.clock())
    context.note(given.caller, "token create", asked.name, " ".join(asked.scopes))
    if not context.own.store.tokens.create(token):
        raise HttpProblem(409, f"there is a token {asked.name} already")
    context.access.refresh()
    return shown(token, secret)


def revoke_token(context: ApiContext, given: Given) -> None:
    name = given.path["name"]
    context.note(given.caller, "token revoke", name, "")
    if not context.own.store.tokens.revoke(name):
        raise NotFoundError(f"there is no token {name}")
    context.access.refresh()


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "PUT",
        "/pipelines/{pipeline}/sensors/{key:path}",
        "putSensor",
        "Put a reading: the body is its fields. Durable when answered.",
        Scope.OBSERVE,
        StoredReading,
        act=put_and_decide,
        at_once=put_sensor,
        query=Waiting,
        body=dict[str, Any],
    ),
    Endpoint(
        "POST",
        "/sensors",
        "putSensors",
        "Put up to 1,000 readings in one durable write; each has its own answer.",
        Scope.OBSERVE,
        Page[ReadingAnswer],
        act=put_sensors,
        body=Annotated[list[NewReading], Meta(min_length=1, max_length=MOST_READINGS)],
        largest=BATCH,
    ),
    Endpoint(
        "POST",
        "/lineage",
        "putLineage",
        "An OpenLineage event becomes a reading of every sensor that `[[lineage]]` says it feeds.",
        Scope.OBSERVE,
        Page[StoredReading],
        act=lineage,
        body=LineageEvent,
        largest=BATCH,
        status=201,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}/sensors",
        "listSensors",
        "The readings of a pipeline.",
        Scope.READ,
        Page[Reading],
        act=sensors,
        query=Paging,
    ),
    Endpoint(
        "GET",
        "/pipelines",
        "listPipelines",
        "Every pipeline at a glance.",
        Scope.READ,
        Page[PipelineState],
        act=pipelines,
        query=Paging,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}",
        "getPipeline",
        "One pipeline at a glance.",
        Scope.READ,
        PipelineState,
        act=pipeline,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}/config",
        "getConfig",
        "The config in force.",
        Scope.READ,
        Config,
        act=config,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}/why",
        "why",
        "Why a date has or hasn't run, for each schedule.",
        Scope.READ,
        Page[Why],
        act=why,
        query=OnDate,
    ),
    Endpoint(
        "GET",
        "/runs",
        "listRuns",
        "Runs, the newest dates first.",
        Scope.READ,
        Page[Run],
        act=runs,
        query=RunsQuery,
    ),
    Endpoint(
        "GET",
        "/runs/{pipeline}/{schedule}/{date}",
        "getRun",
        "One run and its history.",
        Scope.READ,
        RunHistory,
        act=run,
    ),
    Endpoint(
        "GET",
        "/events",
        "listEvents",
        "The event log, newest first.",
        Scope.READ,
        Page[Event],
        act=events,
        query=EventsQuery,
    ),
    Endpoint(
        "GET",
        "/events/alerts",
        "listAlerts",
        "The event log, newest first, each event with where it went as an alert.",
        Scope.READ,
        Page[Alerted],
        act=alerted_events,
        query=EventsQuery,
    ),
    Endpoint(
        "GET",
        "/timeline",
        "timeline",
        "By pipeline: the dates with a run, or on which one is expected.",
        Scope.READ,
        Page[TimelineRow],
        act=timeline,
        query=RangeQuery,
    ),
    Endpoint(
        "GET",
        "/sla",
        "sla",
        "By pipeline: how well its deadlines are kept.",
        Scope.READ,
        Page[Attainment],
        act=sla,
        query=RangeQuery,
    ),
    Endpoint(
        "GET",
        "/watchdog",
        "getWatchdog",
        "How the watchdog is doing.",
        Scope.READ,
        Heartbeat,
        act=watchdog,
    ),
    Endpoint(
        "GET",
        "/refused",
        "listRefused",
        "The files, or stored configs, that were refused: where, and why.",
        Scope.READ,
        Page[NotInForce],
        act=refused,
    ),
    Endpoint(
        "GET",
        "/missing",
        "listMissing",
        "The pipelines in force whose files are gone, and when they are retired.",
        Scope.READ,
        Page[Missing],
        act=missing,
    ),
    Endpoint(
        "POST",
        "/foresee",
        "foresee",
        "What files would change if they were adopted now; nothing is done.",
        Scope.READ,
        Page[FileEdit],
        act=foresee,
        body=NewFiles,
        largest=BATCH,
    ),
    Endpoint(
        "POST",
        "/watchdog",
        "watchNow",
        "One pass of the watchdog now; nothing when another is under way.",
        Scope.OPERATE,
        WatchdogPass | None,
        act=watch_now,
        query=WatchQuery,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/reruns",
        "rerun",
        "Ask for a date to run again. Whether that is granted is told as an event.",
        Scope.OPERATE,
        RerunRequest,
        act=rerun,
        body=NewRerun,
        status=202,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}/backfill",
        "backfill",
        "The dates of a range that have no completed run.",
        Scope.READ,
        Page[str],
        act=backfill,
        query=BackfillQuery,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/pause",
        "pause",
        "Hold a pipeline back: nothing opens, readings are kept.",
        Scope.OPERATE,
        Config,
        act=pause,
        body=NewPause,
        bare=True,
    ),
    Endpoint(
        "GET",
        "/pipelines/{pipeline}/resume",
        "wouldResume",
        "What a resume would start now.",
        Scope.READ,
        Page[Foreseen],
        act=would_resume,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/resume",
        "resume",
        "Let a pipeline go on; every date of the pause is handled.",
        Scope.OPERATE,
        Config,
        act=resume,
        body=NewResume,
        bare=True,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/retire",
        "retire",
        "Retire a pipeline whose file is missing, at once.",
        Scope.OPERATE,
        Config,
        act=retire,
        body=NewRetirement,
        bare=True,
    ),
    Endpoint(
        "GET",
        "/prune",
        "prunable",
        "How many finished runs of dates before a day there are.",
        Scope.READ,
        Prunable,
        act=prunable,
        query=PruneQuery,
    ),
    Endpoint(
        "POST",
        "/prune",
        "prune",
        "Remove what has expired, and finished runs of dates before a day. It can't be undone.",
        Scope.OPERATE,
        Pruned,
        act=prune,
        body=NewPrune,
        bare=True,
    ),
    Endpoint(
        "GET",
        "/changes/parked",
        "parkedChanges",
        "The changes that could not be handled.",
        Scope.READ,
        Page[Parked],
        act=parked,
    ),
    Endpoint(
        "POST",
        "/changes/retry",
        "retryChanges",
        "Have the changes that could not be handled tried again.",
        Scope.OPERATE,
        Retried,
        act=retry_parked,
        body=NewRetry,
        bare=True,
    ),
    Endpoint(
        "GET", "/tokens", "listTokens", "The tokens.", Scope.OWN, Page[TokenShown], act=tokens
    ),
    Endpoint(
        "POST",
        "/tokens",
        "createToken",
        "Make a token. Its secret is told this once.",
        Scope.OWN,
        TokenShown,
        act=create_token,
        body=NewToken,
        status=201,
    ),
    Endpoint(
        "DELETE",
        "/tokens/{name}",
        "revokeToken",
        "Revoke a token, from now on.",
        Scope.OWN,
        None,
        act=revoke_token,
        status=204,
    ),
)
