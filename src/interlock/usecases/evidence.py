"""Gather evidence: the readings that a date uses, and the results of the rules."""

from collections.abc import Iterable
from datetime import datetime

from interlock.domain.admission import judged_keys, rejection, trigger_keys, used_keys
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.rules import Result, Verdict, judge_date
from interlock.domain.run import Evidence, RuleRecord, Run, RunKey
from interlock.domain.sensor import Reading, UnreadableReading, period_keys, serving
from interlock.domain.zones import zone
from interlock.usecases.ports import Ports


def readings_for(
    key: RunKey,
    pipeline: Pipeline,
    ports: Ports,
    keys: frozenset[str] | None = None,
    run: Run | None = None,
) -> dict[str, Reading]:
    """The reading that applies to each sensor key of the date: by point reads, both spellings. A reading that
    came when its date was beyond the horizon was rejected, and does not count.
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


def judge_now(
    run: Run, pipeline: Pipeline, now: datetime, ports: Ports, until: datetime | None = None
) -> Verdict:
    """Whether the date of a run could start on what is stored, or on the part received by then."""
    schedule = pipeline.schedule(run.key.schedule_id)
    found = readings_for(run.key, pipeline, ports, judged_keys(pipeline, schedule), run)
    in_time = {
        key: reading
        for key, reading in found.items()
        if until is None or reading.received_at < until
    }
    return judge_date(pipeline, schedule, in_time, now)


def as_evidence(readings: dict[str, Reading]) -> dict[str, Evidence]:
    """An unreadable reading proves nothing."""
    return {
        key: Evidence(reading.key, reading.version, reading.fields)
        for key, reading in readings.items()
        if not isinstance(reading, UnreadableReading)
    }


def rule_records(
    results: Iterable[Result], now: datetime, before: Iterable[RuleRecord] = ()
) -> tuple[RuleRecord, ...]:
    """The results as stored and sent; `since` is when a rule's result began."""
    past = {(r.key, r.check, r.field, str(r.expected)): r for r in before}
    return tuple(_record(result, now, past) for result in results)


def _record(
    result: Result, now: datetime, past: dict[tuple[str, str, str | None, str], RuleRecord]
) -> RuleRecord:
    rule = result.rule
    earlier = past.get((rule.key, rule.check, rule.field, str(result.expected)))
    since = earlier.since if earlier is not None and earlier.kind == result.kind else now
    return RuleRecord(
        rule.key, rule.check, rule.field, result.expected, result.actual, result.kind, since
    )
