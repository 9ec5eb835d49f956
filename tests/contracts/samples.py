"""Samples: the nouns that the contract suites store."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Delivery, Target
from interlock.domain.alerting.handling import (
    Acknowledgement,
    Escalation,
    Handling,
    Snooze,
    unhandled,
)
from interlock.domain.alerting.threads import AlertKey, Thread, ThreadKey
from interlock.domain.backfill import Backfill
from interlock.domain.check import Check
from interlock.domain.config import Config, Wanted
from interlock.domain.event import Event, EventType, Severity, happened, subject
from interlock.domain.job_record import JobRecord
from interlock.domain.pipeline import (
    Identity,
    Job,
    Pipeline,
    PostRun,
    Rule,
    Schedule,
    Trigger,
    Validation,
)
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.run import OpenedBy, Run, RunKey, execution_name
from interlock.domain.sensor import Reading
from interlock.domain.timer import Timer

#: Not a whole second: what comes back must equal what went in, to the millisecond.
NOW = datetime(2026, 3, 3, 10, 0, 0, 123000, tzinfo=UTC)
KEY = RunKey("silver-orders", "stream", "2026-03-03")
LEASE = timedelta(hours=4, minutes=30)


class ManualClock:
    """A clock that stands still until the test moves it."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


def a_key(**changes: Any) -> RunKey:
    return msgspec.structs.replace(KEY, **changes)


def a_run(key: RunKey = KEY, now: datetime = NOW, **changes: Any) -> Run:
    run = Run(
        key=key,
        execution_name=execution_name(key, 0),
        opened_at=now,
        opened_by=OpenedBy.SENSOR,
        opened_for="orders-landed",
        changed_at=now,
        lease_until=now + LEASE,
    )
    return msgspec.structs.replace(run, **changes)


def reopened(run: Run, now: datetime = NOW, **changes: Any) -> Run:
    return run.reopened(now, OpenedBy.RETRY, "job", LEASE, **changes)


def an_event(
    part: object = 0,
    key: RunKey | None = KEY,
    kind: EventType = EventType.TRIGGER_STARTED,
    at: datetime = NOW,
    **detail: Any,
) -> Event:
    return happened(kind, subject(None, key), at, f"told of {part}", parts=(part,), **detail)


def a_reading(
    key: str = "orders-landed", pipeline_id: str = KEY.pipeline_id, **fields: Any
) -> Reading:
    return Reading(pipeline_id, key, fields or {"count": 4200}, NOW)


def a_pipeline(pipeline_id: str = KEY.pipeline_id, **changes: Any) -> Pipeline:
    pipeline = Pipeline(
        pipeline=Identity(pipeline_id, owner="orders-team", tags={"tier": "1"}),
        schedules=(
            Schedule(id="stream", trigger=Trigger(key="orders-landed", check=Check.EXISTS)),
        ),
        validation=Validation((Rule("orders-count", Check.GTE, "count", Decimal("0.10")),)),
        job=Job("command", {"run": "true"}),
        post_run=PostRun((Rule("audit", Check.EXISTS),), drift_threshold=Decimal("0.05")),
    )
    return msgspec.structs.replace(pipeline, **changes)


def downstream_of(upstream: str, pipeline_id: str) -> Pipeline:
    return a_pipeline(
        pipeline_id, schedules=(Schedule(id="stream", trigger=Trigger(pipeline=upstream)),)
    )


def a_config(pipeline: Pipeline | None = None, **changes: Any) -> Config:
    pipeline = pipeline or a_pipeline()
    config = Config(
        pipeline=pipeline,
        config_hash=canonical.content_hash(pipeline),
        adopted_at=NOW,
        active_since=NOW,
    )
    return msgspec.structs.replace(config, **changes)


def wanted(pipeline: Pipeline, at: datetime = NOW) -> Wanted:
    return Wanted(pipeline.id, canonical.as_json(pipeline), canonical.content_hash(pipeline), at)


def taken_away(pipeline_id: str, at: datetime = NOW) -> Wanted:
    return Wanted(pipeline_id, None, "", at)


def a_record(event: str = "success", attempt: int | None = 0, **changes: Any) -> JobRecord:
    record = JobRecord(key=KEY, at=NOW, event=event, attempt=attempt)
    return msgspec.structs.replace(record, **changes)


def a_request(reason: str = "operator", at: datetime = NOW, key: RunKey = KEY) -> RerunRequest:
    return RerunRequest(
        key=key, reason=reason, requested_at=at, requested_by="ada", force=True, over_budget=True
    )


def a_backfill(backfill_id: str = "20260303-100000-a1b2c3", **changes: Any) -> Backfill:
    backfill = Backfill(
        id=backfill_id,
        pipeline_id=KEY.pipeline_id,
        schedule_id=KEY.schedule_id,
        first="2026-03-01",
        last="2026-03-03",
        dates=("2026-03-01", "2026-03-02T04", "2026-03-02T05", "2026-03-03T10:15"),
        max_concurrent=2,
        requested_at=NOW,
        requested_by="ada",
        reason="new currency",
        changed_at=NOW,
    )
    return msgspec.structs.replace(backfill, **changes)


def a_grant(attempt: int = 1, key: RunKey = KEY) -> RerunRecord:
    return RerunRecord(
        key=key, attempt=attempt, source="job", reason="TRANSIENT", triggered_at=NOW, request="r-1"
    )


def a_timer(name: str = "breach.silver-orders.stream.2026-03-03", **later: float) -> Timer:
    due_at = NOW + timedelta(**(later or {"hours": 1}))
    return Timer(name, "breach", due_at, {"pipelineId": KEY.pipeline_id, "share": Decimal("0.5")})


def a_delivery(event: Event | None = None, target: Target | None = None) -> Delivery:
    return Delivery(event=event or an_event(1), target=target or Target("slack", "C1"), due_at=NOW)


def a_thread(date: str = KEY.date, channel: str = "C1") -> Thread:
    key = ThreadKey(KEY.pipeline_id, KEY.schedule_id, date, channel)
    return Thread(key=key, sink="slack", created_at=NOW, claim_until=NOW)


def many(count: int, make: Callable[[int], Any]) -> list[Any]:
    return [make(number) for number in range(count)]


ALERT = AlertKey(KEY.pipeline_id, KEY.schedule_id, KEY.date)


def a_handling() -> Handling:
    """With everything that a row can hold."""
    until = NOW + timedelta(hours=1)
    first = unhandled(ALERT, NOW).escalating("slack C1", Escalation("e1", until), NOW)
    return msgspec.structs.replace(
        first,
        acknowledged=Acknowledgement(
            by="ada", reason="looking", at=NOW, severity=Severity.ERROR, attempt=2
        ),
        snoozed=Snooze(by="ada", reason="asleep", at=NOW, until=until, include_critical=True),
    )
