"""Run page: one date from its first event to its last, and the evidence on which it ran."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from interlock.domain.cancellation import objection_to_cancel
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType
from interlock.domain.marking import objection_to_mark
from interlock.domain.previous_date import PREVIOUS
from interlock.domain.rules import obstacles
from interlock.domain.run import MarkedAs, Run, RunKey, Status
from interlock.domain.skipping import objection_to_skip
from interlock.domain.sla import explain_record
from interlock.errors import InterlockError, NotFoundError
from interlock.operations.requests import OnDate, OutputQuery, label_of
from interlock.queries.alert_overview import OpenAlert
from interlock.queries.run_output import RunOutput
from interlock.usecases.run_order import objection_to_date
from interlock.web.pages.page_request import Number, PageRequest, PageRow, Shown
from interlock.web.pages.sla_bar import bar
from interlock.web.pages.status_badge import ABSENT, IS_MISSING, standing_of

#: How many lines of output are shown, and how many may be.
LINES, MOST_SHOWN = 20, 1000


class RunQuery(msgspec.Struct, frozen=True, kw_only=True):
    #: The action just requested.
    asked: (
        Literal[
            "rerun",
            "cancel",
            "unstopped",
            "skip",
            "unskip",
            "mark",
            "acknowledged",
            "snoozed",
            "unsnoozed",
        ]
        | None
    ) = None
    #: The output to show: of which attempt, which stream, how many of its last lines.
    attempt: Number | None = None
    stream: Literal["both", "stdout", "stderr"] = "both"
    lines: Annotated[int, Meta(ge=1, le=MOST_SHOWN)] = LINES


def build(asked: PageRequest) -> Shown:
    context, now = asked.context, asked.now
    pipeline_id, schedule_id = asked.path["pipeline"], asked.path["schedule"]
    config = context.backend.ports.pipelines.find(pipeline_id)
    date = str(label_of(asked.path["date"]))
    run, key = _found(asked, config, RunKey(pipeline_id, schedule_id, date))
    if config is None and run is None:
        raise NotFoundError(f"there is no pipeline {pipeline_id}")
    if run is None and (config is None or not config.pipeline.has_schedule(schedule_id)):
        raise NotFoundError(f"{pipeline_id} has no schedule {schedule_id}")
    events = context.backend.ports.events.of_run(key)
    output = None if run is None else _output(asked, run)
    return {
        "key": key,
        "run": run,
        "config": config,
        "zone": _zone(config, schedule_id),
        "standing": _standing_without(events) if run is None else standing_of(run),
        "why": None if run is not None else _why(asked, key),
        "may_cancel": run is not None and objection_to_cancel(run) is None,
        "may_skip": _may_skip(run, key, config),
        "may_mark": _may_mark(run, key, config),
        "bar": None if run is None else bar(run, now),
        "rules": [] if run is None else _rules(run),
        "evidence": {} if run is None else run.evidence,
        "previous": PREVIOUS,
        "job_link": None if run is None else _link(run.job) or (output and output.link),
        "output": output,
        "lines": asked.query.lines,
        "few_lines": LINES,
        "most_lines": MOST_SHOWN,
        "ran": None if run is None else _ran(run, events, now),
        "attempts": _attempts(events),
        "deliveries": context.backend.deliveries.of_events(events),
        "reruns": context.backend.ports.reruns.granted(key),
        "may_operate": asked.may_operate(pipeline_id)
        and config is not None
        and not config.is_retired,
        "was_asked": asked.query.asked,
        "alert": _alert(asked, key),
    }


def _may_skip(run: Run | None, key: RunKey, config: Config | None) -> bool:
    if run is not None:
        return run.status is not Status.SKIPPED and objection_to_skip(run) is None
    return config is not None and objection_to_date(key, config) is None


def _may_mark(run: Run | None, key: RunKey, config: Config | None) -> list[MarkedAs]:
    """The outcomes that a person may state."""
    if run is None and (config is None or objection_to_date(key, config) is not None):
        return []
    return [each for each in MarkedAs if objection_to_mark(run, each) is None]


def _output(asked: PageRequest, run: Run) -> RunOutput | None:
    """What its job printed last. A page without it is better than none."""
    query = asked.query
    wanted = OutputQuery(attempt=query.attempt, stream=query.stream, tail=query.lines)
    if run.is_bare or (run.launched_at is None and not run.attempt):
        return None
    try:
        key = run.key
        return asked.context.queries.output(key.pipeline_id, key.schedule_id, key.date, wanted)
    except InterlockError:
        return None


def _alert(asked: PageRequest, key: RunKey) -> OpenAlert | None:
    """The open alerts of the date. A page without them is better than none."""
    try:
        return asked.context.queries.alert(key.pipeline_id, key.schedule_id, key.date)
    except InterlockError:
        return None


def _found(asked: PageRequest, config: Config | None, key: RunKey) -> tuple[Run | None, RunKey]:
    """The dry run of the date, if the pipeline makes only dry runs."""
    dry = msgspec.structs.replace(key, dry=True)
    keys = [dry, key] if config is not None and config.pipeline.dry_run else [key, dry]
    runs = asked.context.backend.ports.runs.find(keys)
    return next(((runs[each], each) for each in keys if each in runs), (None, keys[0]))


def _zone(config: Config | None, schedule_id: str) -> str:
    if config is None or not config.pipeline.has_schedule(schedule_id):
        return "UTC"
    return config.pipeline.schedule(schedule_id).timezone


def _ran(run: Run, events: Sequence[Event], now: datetime) -> timedelta | None:
    """How long the job of this attempt ran. A failed run has no instant of its end: its event has."""
    if run.launched_at is None:
        return None
    failed = [
        event.timestamp
        for event in events
        if event.attempt == run.attempt
        and event.type in _ENDS
        and event.timestamp >= run.launched_at
    ]
    end = run.completed_at or (now if run.is_open else min(failed, default=None))
    return None if end is None else end - run.launched_at


#: The events that tell of a job's bad end.
_ENDS = frozenset(
    {
        EventType.JOB_FAILED,
        EventType.JOB_POLL_EXHAUSTED,
        EventType.RUN_CANCELLED,
        EventType.SFN_TIMEOUT,
    }
)


def _standing_without(events: Sequence[Event]) -> Any:
    return IS_MISSING if any(event.severity != "info" for event in events) else ABSENT


def _why(asked: PageRequest, key: RunKey) -> Any:
    answers = asked.context.queries.why(key.pipeline_id, OnDate(date=key.date)).items
    return next((each for each in answers if each.schedule_id == key.schedule_id), None)


def _rules(run: Run) -> list[tuple[Any, str, bool]]:
    """Each rule's latest result, with the text that describes it, and whether it stands in the way."""
    if run.verdict is None:
        return []
    at, blocking = run.verdict.at, set(map(id, obstacles(run.verdict.results)))
    return [
        (
            record,
            "holds" if record.kind is None else explain_record(record, at),
            id(record) in blocking,
        )
        for record in run.verdict.results
    ]


def _attempts(events: Sequence[Event]) -> list[tuple[int | None, list[Event]]]:
    """The events by attempt, in the order in which they happened."""
    groups: list[tuple[int | None, list[Event]]] = []
    for event in sorted(events, key=_moment):
        attempt = event.attempt if event.attempt is not None or not groups else groups[-1][0]
        if not groups or groups[-1][0] != attempt:
            groups.append((attempt, []))
        groups[-1][1].append(event)
    return groups


def _moment(event: Event) -> datetime:
    return event.timestamp


def _link(job: dict[str, Any]) -> str | None:
    """A link to the job, if its platform returned one; only http and https URLs pass."""
    for name in ("url", "link", "consoleUrl"):
        text = job.get(name)
        if isinstance(text, str) and urlsplit(text).scheme in ("http", "https"):
            return text
    return None


PAGE = PageRow("/runs/{pipeline}/{schedule}/{date}", "run.html", build, RunQuery)
