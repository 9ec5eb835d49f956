"""Gather evidence: the readings that a date uses, and the results of the rules."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from interlock.domain.admission import judged_keys, rejection, trigger_keys, used_keys
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.rules import Result, Verdict, judge_date
from interlock.domain.run import Evidence, RuleRecord, Run, RunKey
from interlock.domain.sensor import Reading, UnreadableReading, period_keys, serving
from interlock.domain.zones import zone
from interlock.usecases.ports import Ports
from interlock.usecases.previous_readings import previous_readings


def readings_for(
    key: RunKey,
    pipeline: Pipeline,
    ports: Ports,
    keys: frozenset[str] | None = None,
    run: Run | None = None,
) -> dict[str, Reading]:
    """The reading for each sensor key of the date, by point reads of both spellings. A reading that
    arrived when its date lay beyond the horizon was rejected, and is not used.
    """
    schedule, label = pipeline.schedule(key.schedule_id), Label.parse(key.date)
    wanted = used_keys(pipeline, schedule) if keys is None else keys
    rows = ports.sensors.find(
        key.pipeline_id, {candidate for name in wanted for candidate in period_keys(name, label)}
    )
    believed = {
        name: reading
        for name, reading in rows.items()
        if rejection(pipeline, schedule, reading) is None
    }
    opened_with = None if run is None else run.trigger_version
    own = trigger_keys(schedule)
    return serving(wanted, believed, label, zone(schedule.timezone), own, opened_with)


def judged_readings(
    key: RunKey, pipeline: Pipeline, ports: Ports, run: Run | None
) -> dict[str, Reading]:
    """The readings that an evaluation of the date uses; of rules that look back, also the previous date's."""
    schedule = pipeline.schedule(key.schedule_id)
    found = readings_for(key, pipeline, ports, judged_keys(pipeline, schedule), run)
    return found | previous_readings(key, pipeline, ports)


def judge_now(
    run: Run, pipeline: Pipeline, now: datetime, ports: Ports, until: datetime | None = None
) -> Verdict:
    """Whether the date of a run could start on the stored readings, or on those that arrived by then."""
    schedule = pipeline.schedule(run.key.schedule_id)
    found = judged_readings(run.key, pipeline, ports, run)
    in_time = {
        key: reading
        for key, reading in found.items()
        if until is None or reading.received_at < until
    }
    return judge_date(pipeline, schedule, in_time, now)


def as_evidence(readings: dict[str, Reading]) -> dict[str, Evidence]:
    """Unreadable readings are no evidence."""
    return {
        key: Evidence(reading.key, reading.version, reading.fields)
        for key, reading in readings.items()
        if not isinstance(reading, UnreadableReading)
    }


def rule_records(
    results: Iterable[Result], now: datetime, before: Iterable[RuleRecord] = ()
) -> tuple[RuleRecord, ...]:
    """The results as stored and sent; `since` is when a rule began to have its result."""
    past = {(r.group, r.key, r.check, r.field, str(r.expected)): r for r in before}
    return tuple(_record(result, now, past) for result in results)


def _record(result: Result, now: datetime, past: Mapping[Any, RuleRecord]) -> RuleRecord:
    rule = result.rule
    earlier = past.get((result.group, rule.key, rule.check, rule.field, str(result.expected)))
    same = earlier is not None and earlier.kind == result.kind
    return RuleRecord(
        key=rule.key,
        check=rule.check,
        field=rule.field,
        expected=result.expected,
        actual=result.actual,
        kind=result.kind,
        since=result.since or (earlier.since if earlier is not None and same else now),
        against=result.against,
        group=result.group,
        stable_for=rule.stable_for,
    )
