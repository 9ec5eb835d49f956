"""Contradictions: pairs of rules on one field that no reading can satisfy together, refused as errors."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import msgspec

from interlock.domain.check import Bound, Check, in_symbols, number
from interlock.domain.pipeline import Mode, Rule
from interlock.domain.rules import judge_one
from interlock.domain.sensor import Reading
from interlock.domain.value_reference import is_reference
from interlock.files.authored import PipelineFile
from interlock.files.nodes import find
from interlock.files.problem import Path, ProblemKind, printable, spell
from interlock.files.problem_collector import At
from interlock.files.rule_checks import placed_rules

#: Comparing pairs costs the square of this; more rules on one field are unrealistic.
_MOST_ON_ONE_FIELD = 20

#: What `equals` says does not change with time.
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)

_TO_DO = "remove one of the two, or use trigger: ANY if one is enough"


def check_contradictions(file: PipelineFile, at: At) -> None:
    """A file whose rules never hold would open runs that can only expire. Every part must be valid."""
    if file.validation.trigger is Mode.ALL:
        # the members of an `anyOf` need not hold together
        placed = [each for each in placed_rules(file.validation.rules) if "anyOf" not in each[0]]
        _refuse(placed, at.inner("validation", "rules"), _TO_DO)
    if file.post_run is not None:
        placed = [*placed_rules(file.post_run.rules)]
        _refuse(placed, at.inner("postRun", "rules"), "remove one of the two")


def _refuse(placed: Sequence[tuple[Path, Rule]], at: At, hint: str) -> None:
    rules = [rule for _, rule in placed]
    for first, second in contradictions(rules):
        earlier, later = placed[first][0], placed[second][0]
        line = find(at.node, earlier).line
        place = f" in line {line}" if line else ""
        both = f"{_asked(rules[first])} and {_asked(rules[second])}"
        is_reading = rules[first].wants_no_reading or rules[second].wants_no_reading
        what = rules[second].key if is_reading else rules[second].field
        message = f"contradicts rule {spell(earlier)}{place}: {what} can't be {both}"
        where = find(at.node, later)
        at.reading.error((*at.path, *later), where, ProblemKind.CONFLICT, message, hint)


def _asked(rule: Rule) -> str:
    return printable(in_symbols(rule.check, rule.value))


class Extent(msgspec.Struct, frozen=True):
    """The values between two bounds; None: there is no bound on that side."""

    low: Any = None
    high: Any = None
    #: Whether a bound itself is outside.
    low_strict: bool = False
    high_strict: bool = False

    def misses(self, other: "Extent") -> bool:
        """Whether everything in it lies below the other."""
        if self.high is None or other.low is None:
            return False
        strict = self.high_strict or other.low_strict
        return bool(self.high < other.low or (self.high == other.low and strict))


def contradictions(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """The positions of two rules that can't hold together, the earlier first."""
    fields: defaultdict[tuple[str, str | None], list[int]] = defaultdict(list)
    for position, rule in enumerate(rules):
        fields[rule.key, rule.field].append(position)
    for positions in fields.values():
        for first, second in combinations(positions[:_MOST_ON_ONE_FIELD], 2):
            if _contradict(rules[first], rules[second]):
                yield first, second
    yield from _unwanted(rules)


def _unwanted(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """A key that must have no reading, and a rule that needs one."""
    absent = {rule.key: n for n, rule in enumerate(rules) if rule.wants_no_reading}
    for position, rule in enumerate(rules):
        if rule.key in absent and not rule.wants_no_reading:
            yield min(absent[rule.key], position), max(absent[rule.key], position)


def _contradict(first: Rule, second: Rule) -> bool:
    if not _is_comparable(first) or not _is_comparable(second):
        return False
    if (values := _listed(first)) is not None:
        return _exclude(first, values, second)
    if (values := _listed(second)) is not None:
        return _exclude(second, values, first)
    one, other = _extent(first), _extent(second)
    if one is None or other is None or first.check.spec.ages != second.check.spec.ages:
        return False
    return one.misses(other) or other.misses(one)


def _is_comparable(rule: Rule) -> bool:
    """Whether the file alone says which values pass."""
    spec = rule.check.spec
    return spec.test is not None and not spec.looks_back and not is_reference(rule.value)


def _listed(rule: Rule) -> list[Any] | None:
    """The only values that pass, if there are such."""
    if rule.check is Check.IN:
        return list(rule.value)
    return [rule.value] if rule.check.spec.bound is Bound.EXACTLY else None


def _exclude(rule: Rule, values: Sequence[Any], other: Rule) -> bool:
    """Whether none of the values that satisfy a rule satisfies the other, too."""
    if other.check.spec.ages or other.wants_no_reading:
        return False
    if _minds_spelling(other) and not all(isinstance(value, str) for value in values):
        return False  # a number has endless spellings as text
    twins = (twin for value in values for twin in _twins(value))
    return not any(_holds(rule, twin) and _holds(other, twin) for twin in twins)


def _minds_spelling(rule: Rule) -> bool:
    """Whether two texts that spell one number may fare differently."""
    differs = rule.check is Check.NOT_EQUALS and isinstance(rule.value, str)
    return differs or rule.check is Check.MATCHES


def _twins(value: Any) -> list[Any]:
    """The values equal to one, in every spelling that counts."""
    twins = [value, number(value)]
    if isinstance(value, str) and value in ("true", "false"):
        twins.append(value == "true")
    return [twin for twin in twins if twin is not None]


def _holds(rule: Rule, value: Any) -> bool:
    field = rule.field or "value"
    return judge_one(rule, Reading("", rule.key, {field: value}, _ANY_TIME), _ANY_TIME).passed


def _extent(rule: Rule) -> Extent | None:
    """Where the values lie that pass; None if that can't be said."""
    spec = rule.check.spec
    if rule.check is Check.BETWEEN:
        low, high = number(rule.value[0]), number(rule.value[1])
        return Extent(low, high)
    if spec.bound is None or spec.value is None:
        return None
    value, strict = spec.value.measure(rule.value), spec.bound.is_strict
    if spec.bound.is_lower:
        return Extent(low=value, low_strict=strict)
    return Extent(high=value, high_strict=strict)
