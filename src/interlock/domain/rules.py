"""Rules: the constraints of a pipeline, judged against readings.

`judge` is the gate: a job starts only behind a Verdict that is ready. What can't be compared fails its
rule and says why.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration, timestamp
from interlock.domain.check import Check, Reason, shown
from interlock.domain.pipeline import Mode, Pipeline, Rule, Schedule
from interlock.domain.sensor import Reading, UnreadableReading


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
    test = rule.check.spec.test
    if test is None:
        return Result(rule)
    actual = field_value(reading.fields, rule.field or "")
    if actual is None:
        return Result(rule, "field_missing")
    return Result(rule, test(actual, rule.value, now), actual)


def field_value(fields: Mapping[str, Any], path: str) -> Any:
    """The value at a path, or None. A literal name with dots wins over a way into a map."""
    if path in fields:
        return fields[path]
    head, dot, rest = path.partition(".")
    inner = fields.get(head) if dot else None
    return field_value(inner, rest) if isinstance(inner, Mapping) else None


def explain(result: Result, now: datetime) -> str:
    """One line for people: what is, and what it should be."""
    rule = result.rule
    spec = rule.check.spec
    name = f"{rule.key}.{rule.field}" if rule.field and spec.test is not None else rule.key
    if result.kind == "sensor_missing":
        return f"no reading of {rule.key}"
    if result.kind == "sensor_unreadable":
        return f"the stored reading of {rule.key} can't be read: {shown(result.actual)}"
    if result.kind == "field_missing":
        return f"{name} is missing"
    if (needed := receipt_need(result.kind, result.expected)) is not None:
        return f"{rule.key} {_receipt(result, now)}, needs one {needed}"
    return f"{name} {spec.state(result.actual, now)}, {spec.needs.format(shown(rule.value))}"


def receipt_need(kind: str | None, expected: Any) -> str | None:
    """What a rule asks that fails by its `maxAge`, whatever its check; None for any other."""
    return f"received within {shown(expected)}" if kind in OF_RECEIPT else None


def _receipt(result: Result, now: datetime) -> str:
    """When the reading came, as far as that is known."""
    then = timestamp.instant(result.actual)
    if then is None:
        return "has a reading that does not say when it came"
    return f"was received {duration.for_ages(now - then)} ago"


def _of_checks() -> dict[str, Reason]:
    """The reasons of all checks; one that several share names them all."""
    owners: dict[str, list[Check]] = {}
    for check in Check:
        for kind in check.spec.reasons:
            owners.setdefault(kind, []).append(check)
    return {
        kind: Reason(
            f"{' '.join(f'`{each}`' for each in checks)}: {checks[0].spec.reasons[kind].meaning}",
            checks[0].spec.reasons[kind].tells_age,
        )
        for kind, checks in owners.items()
    }


#: What can be wrong with the reading, whatever the check.
_OF_READING = {
    "sensor_missing": Reason("there is no reading of that key for the date"),
    "sensor_unreadable": Reason("the stored reading of that key can't be read"),
    "field_missing": Reason("the reading lacks the field, or it is null"),
}

#: The kinds that `maxAge` gives.
OF_RECEIPT = {
    "received_too_old": Reason("the reading was received longer ago than `maxAge`", True),
    "received_unknown": Reason("`maxAge` is set, and the row does not say when the reading came"),
}

#: Every kind that a result can have, and what it means; the reference prints this table.
REASONS: dict[str, Reason] = {**_OF_READING, **_of_checks(), **OF_RECEIPT}

#: The kinds whose line tells how old something is.
AGES = frozenset(kind for kind, reason in REASONS.items() if reason.tells_age)
