"""Contradictions: pairs of rules on one field that no reading can satisfy together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from interlock.domain import duration
from interlock.domain.pipeline import Check, Rule
from interlock.domain.rules import judge_one, number
from interlock.domain.sensor import Reading

#: Comparing pairs costs the square of this; more rules on one field are unrealistic.
_MOST_ON_ONE_FIELD = 20

_LOWER = frozenset({Check.GT, Check.GTE})
_UPPER = frozenset({Check.LT, Check.LTE})
_STRICT = frozenset({Check.GT, Check.LT})
#: What `equals` says does not change with time.
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


def contradictions(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """The positions of two rules that can't hold together, the earlier first."""
    fields: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
    for position, rule in enumerate(rules):
        fields[rule.key, rule.field].append(position)
    for positions in fields.values():
        for first, second in combinations(positions[:_MOST_ON_ONE_FIELD], 2):
            if _contradict(rules[first], rules[second]):
                yield first, second


def _contradict(first: Rule, second: Rule) -> bool:
    checks = {first.check, second.check}
    if Check.EXISTS in checks:
        return False
    if Check.EQUALS in checks:
        return _exclude(first, second)
    if checks == {Check.AGE_LT, Check.AGE_GT}:
        younger, older = _sorted(first, second, Check.AGE_LT)
        return duration.seconds(older.value) >= duration.seconds(younger.value)
    if checks & _LOWER and checks & _UPPER:
        return _is_empty(*_sorted(first, second, *_LOWER))
    return False


def _exclude(first: Rule, second: Rule) -> bool:
    """Whether no value that satisfies the equals among them satisfies the other, too."""
    equals, other = _sorted(first, second, Check.EQUALS)
    if other.check in (Check.AGE_LT, Check.AGE_GT):
        return False
    return not any(_holds(equals, twin) and _holds(other, twin) for twin in _twins(equals.value))


def _twins(value: Any) -> list[Any]:
    """The values equal to one, in every spelling that counts."""
    twins = [value, number(value)]
    if isinstance(value, str) and value in ("true", "false"):
        twins.append(value == "true")
    return [twin for twin in twins if twin is not None]


def _holds(rule: Rule, value: Any) -> bool:
    field = rule.field or "value"
    return judge_one(rule, Reading("", rule.key, {field: value}, _ANY_TIME), _ANY_TIME).passed


def _is_empty(lower: Rule, upper: Rule) -> bool:
    low, high = number(lower.value), number(upper.value)
    if low is None or high is None:
        return False
    return low > high or (low == high and bool({lower.check, upper.check} & _STRICT))


def _sorted(first: Rule, second: Rule, *checks: Check) -> tuple[Rule, Rule]:
    """The rule with one of these checks first."""
    return (first, second) if first.check in checks else (second, first)
