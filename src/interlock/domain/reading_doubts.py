"""Reading doubts: what looks like a mistake in a reading that is valid all the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from interlock.domain.admission import used_keys
from interlock.domain.check import number
from interlock.domain.partition import Grain
from interlock.domain.pipeline import Pipeline, Rule, Schedule
from interlock.domain.schedule import cron_grain
from interlock.domain.sensor import split_key
from interlock.domain.suggestion import did_you_mean
from interlock.domain.value_reference import reference_of

#: Fields that Interlock itself reads.
_OWN = frozenset({"date", "hour", "minute", "dates"})


def reading_doubts(pipeline: Pipeline, key: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """A key or a field that no rule reads though another is close, a missing field, a text that rules
    compare as a number, an hour where runs are daily.
    """
    base, period = split_key(key)
    known = {each for schedule in pipeline.schedules for each in used_keys(pipeline, schedule)}
    if base not in known:
        hint = did_you_mean(base, known)
        yield f"no rule reads {base}" + (f"; {hint}" if hint else "")
        return
    yield from _grain_doubts(pipeline, period, fields)
    every = [*_rules(pipeline)]
    rules = [rule for rule in every if rule.key == base and rule.field]
    wanted = {each.split(".")[0] for rule in every for each in _fields(rule, base)}
    post_run = pipeline.post_run
    if post_run is not None and post_run.drift_field:
        wanted.add(post_run.drift_field.split(".")[0])
    for name in sorted(wanted - set(fields)):
        near = did_you_mean(name, [each for each in fields if each not in wanted | _OWN])
        written = near.removeprefix("did you mean ").removesuffix("?")
        if near.startswith("did you mean "):
            yield f"rules read {base}.{name}, and the reading has {written}; did you mean {name}?"
        else:
            yield f"rules read {base}.{name}, which the reading does not have"
    for rule in rules:
        value = fields.get(rule.field or "")
        if (
            rule.check.spec.compares_numbers
            and isinstance(value, str | bool)
            and number(value) is None
        ):
            yield f"{base}.{rule.field} is {value!r}, and a rule compares it with a number"


def _fields(rule: Rule, key: str) -> Iterator[str]:
    """The fields that a reading of a key must have for a rule: its own, and the one that its value names."""
    if rule.key == key and rule.field and not rule.check.spec.wants_absence:
        yield rule.field
    reference = reference_of(rule.value)
    if reference is not None and (reference.key or rule.key) == key:
        yield reference.field


def _grain_doubts(
    pipeline: Pipeline, period: str | None, fields: Mapping[str, Any]
) -> Iterator[str]:
    """A reading about an hour where runs are daily, or about a day where they are hourly."""
    grains = {_grain(pipeline, schedule) for schedule in pipeline.schedules}
    named = _named(period, fields)
    if len(grains) != 1 or named is None:
        return
    (wanted,) = grains
    if wanted is Grain.DAY and named is not Grain.DAY:
        yield "the pipeline runs once a day, and the reading is about an hour; leave the hour out"
    elif wanted is Grain.HOUR and named is Grain.DAY:
        yield "the pipeline runs every hour, and the reading is about a day; add the hour"


def _grain(pipeline: Pipeline, schedule: Schedule) -> Grain | None:
    """As its cron says, or else the form of the deadline."""
    if schedule.cron is not None:
        return cron_grain(schedule.cron)
    deadline = None if pipeline.sla is None else pipeline.sla.deadline
    if deadline is None:
        return None
    return Grain.HOUR if deadline.startswith(":") else Grain.DAY


def _named(period: str | None, fields: Mapping[str, Any]) -> Grain | None:
    date = fields.get("date") if period is None else period
    if not isinstance(date, str):
        return None
    has_hour = "T" in date or fields.get("hour") is not None
    return Grain.HOUR if has_hour else Grain.DAY


def _rules(pipeline: Pipeline) -> Iterator[Rule]:
    yield from pipeline.validation.every_rule
    for schedule in pipeline.schedules:
        if schedule.trigger is not None:
            yield schedule.trigger.rule
    if pipeline.post_run is not None:
        yield from pipeline.post_run.rules
