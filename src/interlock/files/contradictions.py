"""Contradictions: pairs of rules on one field that no reading can satisfy together, refused as errors."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from interlock.domain import canonical
from interlock.domain.check import Bound, in_symbols, number
from interlock.domain.pipeline import Mode, Rule
from interlock.domain.rules import judge_one
from interlock.domain.sensor import Reading
from interlock.files.authored import PipelineFile
from interlock.files.nodes import find
from interlock.files.problem import ProblemKind, printable
from interlock.files.problem_collector import At

#: Comparing pairs costs the square of this; more rules on one field are unrealistic.
_MOST_ON_ONE_FIELD = 20

#: What `equals` says does not change with time.
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)

_TO_DO = "remove one of the two, or use trigger: ANY if one is enough"


def check_contradictions(file: PipelineFile, at: At) -> None:
    """A file whose rules never hold would open runs that can only expire. Every part must be valid."""
    if file.validation.trigger is Mode.ALL:
        _refuse(file.validation.rules, at.inner("validation", "rules"), _TO_DO)
    if file.post_run is not None:
        _refuse(file.post_run.rules, at.inner("postRun", "rules"), "remove one of the two")


def _refuse(rules: Sequence[Rule], at: At, hint: str) -> None:
    for first, second in contradictions(rules):
        line = find(at.node, (first,)).line
        place = f" in line {line}" if line else ""
        field = rules[second].field
        both = f"{_asked(rules[first])} and {_asked(rules[second])}"
        message = f"contradicts rule [{first}]{place}: {field} can't be {both}"
        where = find(at.node, (second,))
        at.reading.error((*at.path, second), where, ProblemKind.CONFLICT, message, hint)


def _asked(rule: Rule) -> str:
    value = rule.value if isinstance(rule.value, str) else canonical.encode(rule.value)
    return in_symbols(rule.check, printable(value))


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
    if first.check.spec.test is None or second.check.spec.test is None:
        return False
    if first.check.spec.bound is Bound.EXACTLY:
        return _exclude(first, second)
    if second.check.spec.bound is Bound.EXACTLY:
        return _exclude(second, first)
    if first.check.spec.value is not second.check.spec.value:
        return False
    return _is_empty(first, second) or _is_empty(second, first)


def _exclude(equals: Rule, other: Rule) -> bool:
    """Whether no value that satisfies the equals satisfies the other, too."""
    if other.check.spec.ages:
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
    """Whether nothing lies between a lower and an upper bound of one kind."""
    floor, ceiling, kind = lower.check.spec.bound, upper.check.spec.bound, lower.check.spec.value
    if floor is None or ceiling is None or kind is None:
        return False
    if not floor.is_lower or not ceiling.is_upper:
        return False
    low, high = kind.measure(lower.value), kind.measure(upper.value)
    if low is None or high is None:
        return False
    return bool(low > high or (low == high and (floor.is_strict or ceiling.is_strict)))
