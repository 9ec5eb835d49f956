"""Rule text: what a rule asks and why it does not hold, in a line for people."""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Protocol

import msgspec

from interlock.domain import duration, timestamp
from interlock.domain.check import in_symbols, shown
from interlock.domain.pipeline import Rule
from interlock.domain.reasons import AGES, OF_RECEIPT
from interlock.domain.rules import Result, is_choice, obstacles
from interlock.domain.stability import NOT_STABLE, UNKNOWN_SINCE
from interlock.domain.value_reference import ValueReference, reference_of


class ObstacleLine(msgspec.Struct, frozen=True):
    """Why a rule does not hold; `tells_age`: it says how old something is, which changes."""

    text: str
    tells_age: bool


def obstacle_lines(results: Sequence[Result], now: datetime) -> list[ObstacleLine]:
    """One line for each rule that stands in the way, and one for an `anyOf` of which no member holds."""
    lines: list[ObstacleLine] = []
    for group, found in groupby(obstacles(results), key=lambda each: each.group):
        members = [ObstacleLine(explain(each, now), each.kind in AGES) for each in found]
        lines += [_none_holds(group or "", members)] if is_choice(group) else members
    return lines


def _none_holds(group: str, members: Sequence[ObstacleLine]) -> ObstacleLine:
    said = "; ".join(each.text for each in members)
    return ObstacleLine(f"none of {group} holds: {said}", any(each.tells_age for each in members))


def explain(result: Result, now: datetime) -> str:
    """One line for people: what is, and what it should be."""
    rule, spec = result.rule, result.rule.check.spec
    has_field = rule.field and spec.test is not None
    name = f"{rule.key}.{rule.field}" if has_field else rule.key
    if result.kind in OF_RECEIPT:
        needed = receipt_need(result.kind, result.expected)
        return f"{_receipt(result, now)}, needs one {needed}"
    said = _SAID.get(result.kind or "")
    if said is not None:
        return said(result, name, now)
    asked = spec.needs.format(spec.spell(rule.value))
    if result.against is not None:
        asked = f"{asked} ({shown(result.against)})"
    return f"{name} {spec.state(result.actual, now)}, {asked}"


def receipt_need(kind: str | None, expected: Any) -> str | None:
    """What a rule asks that fails by its `maxAge`, whatever its check; None for any other."""
    return f"received within {shown(expected)}" if kind in OF_RECEIPT else None


class AskedRule(Protocol):
    """What a record says of a rule."""

    @property
    def check(self) -> str: ...

    @property
    def expected(self) -> Any: ...

    @property
    def kind(self) -> str | None: ...

    @property
    def against(self) -> Any: ...

    @property
    def stable_for(self) -> str | None: ...


def needed(rule: AskedRule) -> str:
    """What a rule asks, as in a table."""
    received = receipt_need(rule.kind, rule.expected)
    if received is not None:
        return received
    said = in_symbols(rule.check, rule.expected, rule.against)
    return said if rule.stable_for is None else f"{said} for {rule.stable_for}"


def _receipt(result: Result, now: datetime) -> str:
    """When the reading came, as far as that is known."""
    key = result.rule.key if result.against is None else str(result.against)
    then = timestamp.instant(result.actual)
    if then is None:
        return f"{key} has a reading that does not say when it came"
    return f"{key} was received {duration.for_ages(now - then)} ago"


def _present(result: Result, name: str, now: datetime) -> str:
    if not result.rule.field:
        return f"there is a reading of {name}, which must be absent"
    return f"{name} is {shown(result.actual)}, must be absent"


def _value_missing(result: Result, name: str, now: datetime) -> str:
    other = _reference(result.rule)
    missing = f"{other.key or result.rule.key}.{other.field} is missing"
    return f"{name} is {shown(result.actual)}, and {missing}"


def _value_unseen(result: Result, name: str, now: datetime) -> str:
    key = _reference(result.rule).key
    is_missing = result.kind == "value_sensor_missing"
    lost = f"there is no reading of {key}" if is_missing else f"the reading of {key} can't be read"
    return f"{name} is {shown(result.actual)}, and {lost} to compare with"


def _previous_unknown(result: Result, name: str, now: datetime) -> str:
    lost = "has no reading" if result.kind == "previous_missing" else "has a row that can't be read"
    return f"{name} is {shown(result.actual)}, and the previous date {lost} to compare with"


def _changed(result: Result, name: str, now: datetime) -> str:
    spec, before = result.rule.check.spec, "nothing" if result.against is None else result.against
    asked = spec.needs.format(spec.spell(result.rule.value))
    return f"{name} {spec.state(result.actual, now)}, was {shown(before)} on the previous date, {asked}"


def _unstable(result: Result, name: str, now: datetime) -> str:
    span = result.rule.stable_for
    if result.since is None:
        return f"{name} has a reading that does not say when it came, needs to hold for {span}"
    return f"{name} has held for {duration.for_ages(now - result.since)}, needs {span}"


def _reference(rule: Rule) -> ValueReference:
    reference = reference_of(rule.value)
    assert reference is not None
    return reference


#: The lines of the kinds that do not follow "what is, what it should be".
_SAID: dict[str, Callable[[Result, str, datetime], str]] = {
    "sensor_missing": lambda result, name, now: f"no reading of {result.rule.key}",
    "sensor_unreadable": lambda result, name, now: (
        f"the stored reading of {result.rule.key} can't be read: {shown(result.actual)}"
    ),
    "field_missing": lambda result, name, now: f"{name} is missing",
    "present": _present,
    "value_missing": _value_missing,
    "value_sensor_missing": _value_unseen,
    "value_sensor_unreadable": _value_unseen,
    "previous_missing": _previous_unknown,
    "previous_unreadable": _previous_unknown,
    "previous_not_numeric": _changed,
    "changed_too_much": _changed,
    NOT_STABLE: _unstable,
    UNKNOWN_SINCE: _unstable,
}
