"""Rules: the constraints of a pipeline, judged against readings.

`judge` is the gate: a job starts only behind a Verdict that is ready. What can't be compared fails its
rule and says why.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import msgspec

from interlock.domain import canonical, duration, timestamp
from interlock.domain.pipeline import Check, Mode, Pipeline, Rule, Schedule
from interlock.domain.sensor import Reading, UnreadableReading

#: A producer's clock may run ahead by this much and still mean "now".
CLOCK_SKEW = timedelta(seconds=60)

_PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TRUTH = {"true": True, "false": False}


class Result(msgspec.Struct, frozen=True):
    """How one rule fared. `kind` is None when it passed, else a stable word for what is wrong."""

    rule: Rule
    kind: str | None = None
    actual: Any = None

    @property
    def passed(self) -> bool:
        return self.kind is None

    @property
    def expected(self) -> Any:
        """What was asked of `actual`: the rule's value, or the age that its reading may have."""
        return self.rule.max_age if self.kind in OF_RECEIPT else self.rule.value


class Verdict(msgspec.Struct, frozen=True):
    """Whether it is safe, with the result of every rule."""

    ready: bool
    results: tuple[Result, ...]

    @property
    def failing(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if not result.passed)

    @property
    def passing(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.passed)


def judge(
    rules: Sequence[Rule], readings: Mapping[str, Reading], now: datetime, mode: Mode = Mode.ALL
) -> Verdict:
    """Judge every rule. No rules is never ready: safety is not assumed."""
    results = tuple([judge_one(rule, readings.get(rule.key), now) for rule in rules])
    enough = all if mode is Mode.ALL else any
    return Verdict(bool(results) and enough([r.kind is None for r in results]), results)


def judge_date(
    pipeline: Pipeline, schedule: Schedule, readings: Mapping[str, Reading], now: datetime
) -> Verdict:
    """Whether a date may start: its rules hold, and so does the trigger of a date that a cron opened."""
    declared = pipeline.validation
    verdict = judge(declared.bounded_rules, readings, now, declared.trigger)
    gate = schedule.gate
    if gate is None:
        return verdict
    opening = judge_one(gate, readings.get(gate.key), now)
    others = tuple(result for result in verdict.results if result.rule != gate)
    return Verdict(opening.passed and verdict.ready, (opening, *others))


def judge_one(rule: Rule, reading: Reading | None, now: datetime) -> Result:
    """Judge one rule. What can't be compared fails and says why: unknown is unsafe."""
    if reading is None:
        return Result(rule, "sensor_missing")
    if isinstance(reading, UnreadableReading):
        return Result(rule, "sensor_unreadable", reading.problem)
    if rule.max_age is not None and not reading.timed:
        return Result(rule, "received_unknown")
    if rule.max_age is not None and now - reading.received_at > duration.parse(rule.max_age):
        return Result(rule, "received_too_old", timestamp.spell(reading.received_at))
    if rule.check is Check.EXISTS:
        return Result(rule)
    actual = field_value(reading.fields, rule.field or "")
    if actual is None:
        return Result(rule, "field_missing")
    return Result(rule, _TESTS[rule.check](actual, rule.value, now), actual)


def field_value(fields: Mapping[str, Any], path: str) -> Any:
    """The value at a path, or None. A literal name with dots wins over a way into a map."""
    if path in fields:
        return fields[path]
    head, dot, rest = path.partition(".")
    inner = fields.get(head) if dot else None
    return field_value(inner, rest) if isinstance(inner, Mapping) else None


def number(value: Any) -> int | Decimal | None:
    """A finite number or a plain decimal text, exactly; None for anything else, booleans too."""
    kind = type(value)
    if kind is int:
        return value  # type: ignore[no-any-return] # `type(value) is int` does not narrow Any
    if kind is Decimal:
        return value if value.is_finite() else None
    if kind is str:
        return _plain_number(value)
    return None


def explain(result: Result, now: datetime) -> str:
    """One line for people: what is, and what it should be."""
    rule = result.rule
    name = f"{rule.key}.{rule.field}" if rule.field and rule.check is not Check.EXISTS else rule.key
    if result.kind == "sensor_missing":
        return f"no reading of {rule.key}"
    if result.kind == "sensor_unreadable":
        return f"the stored reading of {rule.key} can't be read: {_shown(result.actual)}"
    if result.kind == "field_missing":
        return f"{name} is missing"
    if (needed := receipt_need(result.kind, result.expected)) is not None:
        return f"{rule.key} {_receipt(result, now)}, needs one {needed}"
    need = _NEEDS[rule.check].format(_shown(rule.value))
    return f"{name} {_state(result, now)}{need}"


def receipt_need(kind: str | None, expected: Any) -> str | None:
    """What a rule asks that fails by its `maxAge`, whatever its check; None for any other."""
    return f"received within {_shown(expected)}" if kind in OF_RECEIPT else None


@lru_cache(maxsize=4096)
def _plain_number(text: str) -> Decimal | None:
    if _PLAIN_NUMBER.fullmatch(text) is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond what Decimal can hold
        return None


def _equal(actual: Any, expected: Any, now: datetime) -> str | None:
    if isinstance(actual, str) != isinstance(expected, str):
        text, other = (actual, expected) if isinstance(actual, str) else (expected, actual)
        if isinstance(other, bool):
            same = _TRUTH.get(text) is other
        else:
            same = number(other) is not None and number(text) == number(other)
    else:
        same = _same(actual, expected)
    return None if same else "not_equal"


def _same(left: Any, right: Any) -> bool:
    """Equal in structure; numbers by value, and a boolean is never a number, at no depth."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _compare(holds: Callable[[Any, Any], bool], kind: str) -> "Test":
    def test(actual: Any, expected: Any, now: datetime) -> str | None:
        left, right = number(actual), number(expected)
        if left is None or right is None:
            return "not_numeric"
        return None if holds(left, right) else kind

    return test


def _younger(actual: Any, expected: Any, now: datetime) -> str | None:
    age = _age(actual, now)
    if isinstance(age, str):
        return age
    return None if age < duration.parse(expected) else "too_old"


def _older(actual: Any, expected: Any, now: datetime) -> str | None:
    age = _age(actual, now)
    if isinstance(age, str):
        return age
    return None if age > duration.parse(expected) else "too_young"


def _age(value: Any, now: datetime) -> timedelta | str:
    """How old a timestamp is, at least zero; or the word for why nobody can tell."""
    then = timestamp.instant(value)
    if then is None:
        return "timestamp_invalid"
    if then - now > CLOCK_SKEW:
        return "timestamp_in_future"
    return max(now - then, timedelta(0))


def _state(result: Result, now: datetime) -> str:
    if result.kind in ("timestamp_invalid", "not_numeric"):
        what = "a timestamp" if result.kind == "timestamp_invalid" else "a number"
        return f"is {_shown(result.actual)}, which is not {what}, "
    age = _age(result.actual, now) if result.rule.check in (Check.AGE_LT, Check.AGE_GT) else ""
    if isinstance(age, timedelta):
        return f"is {duration.for_people(age)} old, "
    return "lies in the future, " if age else f"is {_shown(result.actual)}, "


def _receipt(result: Result, now: datetime) -> str:
    """When the reading came, as far as that is known."""
    then = timestamp.instant(result.actual)
    if then is None:
        return "has a reading that does not say when it came"
    return f"was received {duration.for_people(now - then)} ago"


def _shown(value: Any) -> str:
    """A value as text, cut where it would fill the line."""
    text = value if isinstance(value, str) else canonical.encode(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


Test = Callable[[Any, Any, datetime], str | None]

#: Each answers None, or a stable word for what is wrong.
_TESTS: dict[Check, Test] = {
    Check.EQUALS: _equal,
    Check.GT: _compare(operator.gt, "not_greater"),
    Check.GTE: _compare(operator.ge, "not_greater_or_equal"),
    Check.LT: _compare(operator.lt, "not_less"),
    Check.LTE: _compare(operator.le, "not_less_or_equal"),
    Check.AGE_LT: _younger,
    Check.AGE_GT: _older,
}

_NEEDS: dict[Check, str] = {
    Check.EXISTS: "must be there",
    Check.EQUALS: "needs {}",
    Check.GT: "needs > {}",
    Check.GTE: "needs >= {}",
    Check.LT: "needs < {}",
    Check.LTE: "needs <= {}",
    Check.AGE_LT: "needs to be younger than {}",
    Check.AGE_GT: "needs to be older than {}",
}

#: Every kind that a result can have, and what it means; the reference prints this table.
KINDS: dict[str, str] = {
    "sensor_missing": "there is no reading of that key for the date",
    "sensor_unreadable": "the stored reading of that key can't be read",
    "field_missing": "the reading lacks the field, or it is null",
    "not_equal": "`equals`: the value is another one",
    "not_numeric": "`gt` `gte` `lt` `lte`: one side is neither a finite number nor a plain decimal text",
    "not_greater": "`gt`: the value is not greater",
    "not_greater_or_equal": "`gte`: the value is smaller",
    "not_less": "`lt`: the value is not less",
    "not_less_or_equal": "`lte`: the value is greater",
    "timestamp_invalid": "`age_lt` `age_gt`: the value is neither RFC 3339 with a zone nor an epoch number",
    "timestamp_in_future": "`age_lt` `age_gt`: the timestamp lies more than 60 s ahead",
    "too_old": "`age_lt`: the timestamp is as old as the value, or older",
    "too_young": "`age_gt`: the timestamp is as old as the value, or younger",
    "received_too_old": "the reading was received longer ago than `maxAge`",
    "received_unknown": "`maxAge` is set, and the row does not say when the reading came",
}

#: The kinds whose line tells how old something is.
AGES = frozenset({"too_old", "too_young", "received_too_old"})

#: The kinds that `maxAge` gives.
OF_RECEIPT = frozenset({"received_too_old", "received_unknown"})
