"""Gather evidence: the readings that a date uses, and what the rules made of them."""

from collections.abc import Iterable
from datetime import datetime

from interlock.domain.admission import rule_keys, used_keys
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.rules import Result
from interlock.domain.run import Evidence, RuleRecord, RunKey
from interlock.domain.sensor import Reading, period_keys, serving
from interlock.domain.zones import zone
from interlock.ports import Ports


def readings_for(
    key: RunKey, pipeline: Pipeline, ports: Ports, keys: frozenset[str] | None = None
) -> dict[str, Reading]:
    """The reading that serves each sensor key of the date: by point reads, both spellings."""
    schedule, label = pipeline.schedule(key.schedule_id), Label.parse(key.date)
    wanted = used_keys(pipeline, schedule) if keys is None else keys
    rows = ports.sensors.find(
        key.pipeline_id, {candidate for name in wanted for candidate in period_keys(name, label)}
    )
    return serving(wanted, rows, label, zone(schedule.timezone))


def judged_keys(pipeline: Pipeline, schedule_id: str) -> frozenset[str]:
    """What an evaluation reads: the rules' keys, and the trigger's."""
    trigger = pipeline.schedule(schedule_id).trigger
    return rule_keys(pipeline) | (set() if trigger is None else {trigger.rule.key})


def as_evidence(readings: dict[str, Reading]) -> dict[str, Evidence]:
    return {
        key: Evidence(reading.key, reading.version, reading.fields)
        for key, reading in readings.items()
    }


def rule_records(
    results: Iterable[Result], now: datetime, before: Iterable[RuleRecord] = ()
) -> tuple[RuleRecord, ...]:
    """The results as they are stored and sent; `since` is when a rule began to fare so."""
    past = {(r.key, r.check, r.field, str(r.expected)): r for r in before}
    return tuple(_record(result, now, past) for result in results)


def _record(
    result: Result, now: datetime, past: dict[tuple[str, str, str | None, str], RuleRecord]
) -> RuleRecord:
    rule = result.rule
    earlier = past.get((rule.key, rule.check, rule.field, str(rule.value)))
    since = earlier.since if earlier is not None and earlier.kind == result.kind else now
    return RuleRecord(
        rule.key, rule.check, rule.field, rule.value, result.actual, result.kind, since
    )
