"""Rules: the constraints of a pipeline, judged against readings.

`judge` is the gate: a job starts only behind a Verdict that is ready. What can't be compared fails its
rule and says why.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import msgspec

from interlock.domain import duration, timestamp
from interlock.domain.change_limit import change_limit
from interlock.domain.numbers import number
from interlock.domain.pipeline import Mode, Pipeline, Rule, RuleEntry, RuleGroup, Schedule
from interlock.domain.previous_date import previous_key
from interlock.domain.reasons import OF_RECEIPT
from interlock.domain.run import Judgement
from interlock.domain.sensor import Reading, UnreadableReading
from interlock.domain.stability import NOT_STABLE, UNKNOWN_SINCE, held_since, readings_of
from interlock.domain.value_reference import ValueReference, is_reference, reference_of

_NO_READINGS: Mapping[str, Reading] = MappingProxyType({})


class Result(msgspec.Struct, frozen=True):
    """How one rule fared. `kind` is None when it passed, else a stable word for what is wrong."""

    rule: Rule
    kind: str | None = None
    actual: Any = None
    #: The value of the other field, or of the previous date, that `actual` was compared with.
    against: Any = None
    #: Since when a rule with `stableFor` has held.
    since: datetime | None = None
    #: The group of the rule, such as `anyOf[1]`.
    group: str | None = None

    @property
    def passed(self) -> bool:
        return self.kind is None

    @property
    def expected(self) -> Any:
        """What was asked of `actual`: the rule's value, or the age that its reading may have."""
        return self.rule.max_age if self.kind in OF_RECEIPT else self.rule.value


class OneResult(Protocol):
    """A result, as judged or as recorded."""

    @property
    def kind(self) -> str | None: ...

    @property
    def group(self) -> str | None: ...


R = TypeVar("R", bound=OneResult)


class Verdict(msgspec.Struct, frozen=True):
    """Whether it is safe, with the result of every rule."""

    ready: bool
    results: tuple[Result, ...]

    @property
    def failing(self) -> tuple[Result, ...]:
        """The results that stand in the way; not those of an `anyOf` that holds by another member."""
        return tuple(obstacles(self.results))

    @property
    def passing(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.passed)


def obstacles(results: Sequence[R]) -> Iterator[R]:
    """The failing results, without those that another member of their `anyOf` makes up for."""
    settled = {each.group for each in results if each.kind is None and is_choice(each.group)}
    return (each for each in results if each.kind is not None and each.group not in settled)


def is_choice(group: str | None) -> bool:
    """Whether one member of a group is enough."""
    return group is not None and group.startswith("anyOf")


def judge(
    rules: Sequence[RuleEntry],
    readings: Mapping[str, Reading],
    now: datetime,
    mode: Mode = Mode.ALL,
    before: Judgement | None = None,
) -> Verdict:
    """Judge every rule. No rules is never ready: safety is not assumed. `before` is the last evaluation."""
    results: list[Result] = []
    groups: list[bool] = []
    find = readings.get
    for position, entry in enumerate(rules):
        if isinstance(entry, Rule):
            result = judge_one(entry, find(entry.key), now, readings)
            if entry.stable_for is not None:
                result = _steady(result, readings, now, before)
            results.append(result)
        else:
            members = _judge_group(entry, position, readings, now, before)
            results += members
            enough = _enough(entry.mode)
            groups.append(bool(members) and enough([each.kind is None for each in members]))
    if groups:
        held = groups + [each.kind is None for each in results if each.group is None]
    else:
        held = [each.kind is None for each in results]
    return Verdict(bool(held) and _enough(mode)(held), tuple(results))


def judge_date(
    pipeline: Pipeline,
    schedule: Schedule,
    readings: Mapping[str, Reading],
    now: datetime,
    before: Judgement | None = None,
) -> Verdict:
    """Whether a date may start: its rules hold, and so does the trigger of a date that a cron opened.
    `before` is the last evaluation of its run, if there was one.
    """
    declared = pipeline.validation
    verdict = judge(declared.bounded_rules, readings, now, declared.trigger, before)
    gate = schedule.gate
    if gate is None:
        return verdict
    opening = judge_one(gate, readings.get(gate.key), now)
    others = tuple(
        result for result in verdict.results if result.rule != gate or result.group is not None
    )
    return Verdict(opening.passed and verdict.ready, (opening, *others))


def judge_one(
    rule: Rule,
    reading: Reading | None,
    now: datetime,
    readings: Mapping[str, Reading] = _NO_READINGS,
) -> Result:
    """Judge one rule. What can't be compared fails and says why: unknown is unsafe. `readings` are those
    that its value may name.
    """
    spec = rule.check.spec
    if reading is None:
        return Result(rule, None if rule.wants_no_reading else "sensor_missing")
    if isinstance(reading, UnreadableReading):
        return Result(rule, "sensor_unreadable", reading.problem)
    if rule.max_age is not None and (stale := _stale(rule, reading, now)) is not None:
        return stale
    test = spec.test
    if test is None:
        return Result(rule)
    path, fields = rule.field, reading.fields
    if path is None and spec.wants_absence:
        return Result(rule, "present")
    actual = fields[path] if path in fields else field_value(fields, path or "")
    if actual is None:
        return Result(rule, None if spec.wants_absence else "field_missing")
    value = rule.value
    if spec.looks_back:
        return _against_previous(rule, actual, now, readings)
    if type(value) is dict and is_reference(value):
        return _against_reference(rule, {**readings, rule.key: reading}, actual, now)
    return Result(rule, test(actual, value, now), actual)


def _enough(mode: Mode) -> Callable[[Iterable[object]], bool]:
    return all if mode is Mode.ALL else any


def _judge_group(
    group: RuleGroup,
    position: int,
    readings: Mapping[str, Reading],
    now: datetime,
    before: Judgement | None,
) -> list[Result]:
    name = f"{group.name}[{position}]"
    judged = (
        msgspec.structs.replace(judge_one(rule, readings.get(rule.key), now, readings), group=name)
        for rule in group.members
    )
    return [
        each if each.rule.stable_for is None else _steady(each, readings, now, before)
        for each in judged
    ]


def _steady(
    result: Result, readings: Mapping[str, Reading], now: datetime, before: Judgement | None
) -> Result:
    """A result that holds, unless it has not done so for long enough."""
    rule = result.rule
    if result.kind is not None or rule.stable_for is None:
        return result
    used = readings_of(rule, readings)
    if not all(reading.timed for reading in used):
        return msgspec.structs.replace(result, kind=UNKNOWN_SINCE)
    since = held_since(rule, used, now, before, result.group)
    is_long = now - since >= duration.parse(rule.stable_for)
    return msgspec.structs.replace(result, kind=None if is_long else NOT_STABLE, since=since)


def _stale(rule: Rule, reading: Reading, now: datetime, other: str | None = None) -> Result | None:
    """The result of a rule whose reading came too long ago, or it is unknown when; `other` is the key of
    a reading that it is compared with.
    """
    prefix = "" if other is None else "value_"
    if not reading.timed:
        return Result(rule, f"{prefix}received_unknown", None, other)
    if now - reading.received_at > duration.parse(rule.max_age or ""):
        came = timestamp.spell(reading.received_at)
        return Result(rule, f"{prefix}received_too_old", came, other)
    return None


def _against_reference(
    rule: Rule, readings: Mapping[str, Reading], actual: Any, now: datetime
) -> Result:
    """Compare with another field. The reading that has it must be as fresh as the rule's own."""
    reference = _reference(rule)
    other = readings.get(reference.key or rule.key)
    if other is None:
        return Result(rule, "value_sensor_missing", actual)
    if isinstance(other, UnreadableReading):
        return Result(rule, "value_sensor_unreadable", actual)
    key = reference.key or rule.key
    if rule.max_age is not None and (stale := _stale(rule, other, now, key)) is not None:
        return stale
    expected = field_value(other.fields, reference.field)
    if expected is None:
        return Result(rule, "value_missing", actual)
    test = rule.check.spec.test
    assert test is not None
    return Result(rule, test(actual, expected, now), actual, expected)


def _reference(rule: Rule) -> ValueReference:
    reference = reference_of(rule.value)
    assert reference is not None
    return reference


def _against_previous(
    rule: Rule, actual: Any, now: datetime, readings: Mapping[str, Reading]
) -> Result:
    """Compare with the previous date. A reading without fields stands for a date that had a run, but no
    reading of the key: that is no first date.
    """
    previous = readings.get(previous_key(rule.key))
    if number(actual) is None:
        return Result(rule, "not_numeric", actual)
    if previous is None and change_limit(rule.value).first_passes:
        return Result(rule, None, actual)
    if previous is None or not previous.fields:
        return Result(rule, "previous_missing", actual)
    if isinstance(previous, UnreadableReading):
        return Result(rule, "previous_unreadable", actual)
    before, test = field_value(previous.fields, rule.field or ""), rule.check.spec.test
    assert test is not None
    return Result(rule, test(actual, (rule.value, before), now), actual, before)


def field_value(fields: Mapping[str, Any], path: str) -> Any:
    """The value at a path, or None. A literal name with dots wins over a way into a map."""
    if path in fields:
        return fields[path]
    head, dot, rest = path.partition(".")
    inner = fields.get(head) if dot else None
    return field_value(inner, rest) if isinstance(inner, Mapping) else None
