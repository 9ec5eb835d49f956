"""Check: the operator of a rule, one row each.

A row holds everything that is known of a check: its test, the value that it compares with, the reasons
for which it fails, its symbol and its words. The gate, the file reader, the warnings, the JSON Schema,
`why`, the pages, the alerts and the reference read it there.
"""

import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from interlock.domain import canonical, duration, timestamp
from interlock.domain.change_limit import change_limit, spell_limit
from interlock.domain.numbers import number as number
from interlock.domain.text_pattern import matches_whole, pattern_problem
from interlock.domain.value_reference import reference_of

#: A producer's clock may run ahead by this much and still mean "now".
CLOCK_SKEW = timedelta(seconds=60)

_TRUTH = {"true": True, "false": False}

#: Answers None, or a stable word for what is wrong with the value of the reading.
Test = Callable[[Any, Any, datetime], str | None]


class Reason(msgspec.Struct, frozen=True):
    """What a kind of failure means; the reference prints it."""

    meaning: str
    #: Whether the line of it tells how old something is, which changes as time passes.
    tells_age: bool = False


class ValueType(msgspec.Struct, frozen=True, kw_only=True):
    """What the value of a rule must be."""

    #: As the reference calls it, and as an error does.
    name: str
    described: str
    #: Whether a value has the right type; then, what is wrong with it all the same.
    fits: Callable[[Any], bool]
    objection: Callable[[str, Any], str | None]
    #: The value as something that can be compared with others of its type.
    measure: Callable[[Any], Any]
    #: Whether it may stand in another field, as `{field: NAME}`.
    can_be_field: bool = True
    #: The value for people.
    spell: Callable[[Any], str] = msgspec.field(default_factory=lambda: shown)


class Bound(StrEnum):
    """Where the values that pass lie, seen from the value of the rule."""

    ABOVE = ">"
    FROM = ">="
    BELOW = "<"
    UP_TO = "<="
    EXACTLY = "="

    @property
    def is_lower(self) -> bool:
        return self in (Bound.ABOVE, Bound.FROM)

    @property
    def is_upper(self) -> bool:
        return self in (Bound.BELOW, Bound.UP_TO)

    @property
    def is_strict(self) -> bool:
        return self in (Bound.ABOVE, Bound.BELOW)


def shown(value: Any) -> str:
    """A value as text, cut where it would fill the line."""
    return cut(value if isinstance(value, str) else canonical.encode(value))


def cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def plain_state(actual: Any, now: datetime) -> str:
    return f"is {shown(actual)}"


class CheckSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a check, and everything that is known of it."""

    #: When it passes, for the reference.
    passes: str
    #: Between what is and what should be: in tables and alerts.
    symbol: str
    #: What a rule of it asks, in a sentence; `{}` stands for its value.
    needs: str
    #: None: it asks only for the reading, and looks at no field.
    test: Test | None
    #: None: it compares with nothing.
    value: ValueType | None
    #: Every kind that the test answers, and what it means.
    reasons: Mapping[str, Reason] = {}
    #: What the field is, in a sentence.
    state: Callable[[Any, datetime], str] = plain_state
    #: Where the values lie that pass, if that can be said: two rules on one field may contradict each other.
    bound: Bound | None = None
    #: Whether the same reading may pass now and fail later, or the other way round.
    ages: bool = False
    #: Whether it passes when the field is missing or, without a field, when there is no reading.
    wants_absence: bool = False
    #: Whether it compares with the reading of the previous expected date: its test gets that value.
    looks_back: bool = False

    @property
    def limits_age(self) -> bool:
        """Whether a reading stops passing by itself: yesterday's can't pass today for ever."""
        return self.ages and self.bound is not None and self.bound.is_upper

    @property
    def compares_numbers(self) -> bool:
        return "not_numeric" in self.reasons

    def spell(self, value: Any) -> str:
        """A value of a rule of it, for people."""
        reference = None if self.value is None else reference_of(value)
        if self.value is None or (reference is not None and self.value.can_be_field):
            return shown(value) if reference is None else str(reference)
        return self.value.spell(value)


# --------------------------------------------------------------------------------------------- the tests


def _equal(actual: Any, expected: Any, now: datetime) -> str | None:
    if type(actual) is str and type(expected) is str:  # most are, and the rest is slower
        return None if actual == expected else "not_equal"
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


def _compare(holds: Callable[[Any, Any], bool], kind: str) -> Test:
    def test(actual: Any, expected: Any, now: datetime) -> str | None:
        left, right = number(actual), number(expected)
        if left is None or right is None:
            return "not_numeric"
        return None if holds(left, right) else kind

    return test


def _unequal(actual: Any, expected: Any, now: datetime) -> str | None:
    return "equal" if _equal(actual, expected, now) is None else None


def _one_of(actual: Any, expected: Any, now: datetime) -> str | None:
    values = expected if isinstance(expected, list | tuple) else ()
    return None if any(_equal(actual, each, now) is None for each in values) else "not_in"


def _within(actual: Any, expected: Any, now: datetime) -> str | None:
    pair = expected if isinstance(expected, list | tuple) and len(expected) == 2 else (None, None)
    value, low, high = map(number, (actual, *pair))
    if value is None or low is None or high is None:
        return "not_numeric"
    return None if low <= value <= high else "out_of_range"


def _matching(actual: Any, expected: Any, now: datetime) -> str | None:
    if not isinstance(actual, str):
        return "not_text"
    try:
        return None if matches_whole(str(expected), actual) else "no_match"
    except ValueError:  # the files refuse such a pattern; another version of RE2 may have taken it
        return "no_match"


def _there(actual: Any, expected: Any, now: datetime) -> str | None:
    return "present"


def _near_previous(actual: Any, expected: Any, now: datetime) -> str | None:
    """`expected` is the rule's value and the value of the previous date."""
    limit, previous = expected
    current, before = number(actual), number(previous)
    if current is None:
        return "not_numeric"
    if before is None:
        return "previous_not_numeric"
    return None if change_limit(limit).allows(before, current) else "changed_too_much"


def _younger(actual: Any, expected: Any, now: datetime) -> str | None:
    age = _age(actual, now)
    if isinstance(age, str):
        return age
    try:
        return None if age < duration.parse(expected) else "too_old"
    except (TypeError, ValueError):  # another field has no duration there
        return "value_not_duration"


def _older(actual: Any, expected: Any, now: datetime) -> str | None:
    age = _age(actual, now)
    if isinstance(age, str):
        return age
    try:
        return None if age > duration.parse(expected) else "too_young"
    except (TypeError, ValueError):
        return "value_not_duration"


def _age(value: Any, now: datetime) -> timedelta | str:
    """How old a timestamp is, at least zero; or the word for why that is unknown."""
    then = timestamp.instant(value)
    if then is None:
        return "timestamp_invalid"
    if then - now > CLOCK_SKEW:
        return "timestamp_in_future"
    return max(now - then, timedelta(0))


# --------------------------------------------------------------------------------------- values and words


def _number_objection(check: str, value: Any) -> str | None:
    return f"{check} compares with a number, and this is not one" if number(value) is None else None


def _duration_objection(check: str, value: Any) -> str | None:
    try:
        duration.seconds(value)
    except ValueError as error:
        return str(error)
    return None


def _list_objection(check: str, value: Any) -> str | None:
    return None if value else f"{check} needs at least one value: nothing is in an empty list"


def _range_objection(check: str, value: Any) -> str | None:
    if len(value) != 2:
        return f"{check} compares with two numbers, [low, high]"
    low, high = number(value[0]), number(value[1])
    if low is None or high is None:
        return f"{check} compares with two numbers, and one of these is not one"
    return "the first number is greater than the second, so nothing passes" if low > high else None


def _pattern_objection(check: str, value: Any) -> str | None:
    return pattern_problem(value)


def _limit_objection(check: str, value: Any) -> str | None:
    try:
        change_limit(value)
    except ValueError as error:
        return str(error)
    return None


def _spell_range(value: Any) -> str:
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    return f"{shown(value[0])} and {shown(value[1])}" if is_pair else shown(value)


def _spell_list(value: Any) -> str:
    is_list = isinstance(value, list | tuple)
    return cut(", ".join(map(shown, value))) if is_list else shown(value)


def _text_state(actual: Any, now: datetime) -> str:
    said = plain_state(actual, now)
    return said if isinstance(actual, str) else f"{said}, which is not a text"


def _number_state(actual: Any, now: datetime) -> str:
    said = plain_state(actual, now)
    return f"{said}, which is not a number" if number(actual) is None else said


def _age_state(actual: Any, now: datetime) -> str:
    age = _age(actual, now)
    if isinstance(age, timedelta):
        return f"is {duration.for_ages(age)} old"
    if age == "timestamp_in_future":
        return "lies in the future"
    return f"{plain_state(actual, now)}, which is not a timestamp"


ANYTHING = ValueType(
    name="value",
    described="a value",
    fits=lambda value: True,
    objection=lambda check, value: None,
    measure=lambda value: value,
)
NUMBER = ValueType(
    name="number",
    described="a number",
    fits=lambda value: isinstance(value, int | Decimal | str) and not isinstance(value, bool),
    objection=_number_objection,
    measure=number,
)
DURATION = ValueType(
    name="duration",
    described="a duration such as 2h",
    fits=lambda value: isinstance(value, str),
    objection=_duration_objection,
    measure=duration.seconds,
)

LIST = ValueType(
    name="list",
    described="a list of values",
    fits=lambda value: isinstance(value, list | tuple),
    objection=_list_objection,
    measure=lambda value: value,
    can_be_field=False,
    spell=_spell_list,
)
RANGE = ValueType(
    name="two numbers",
    described="two numbers, [low, high]",
    fits=lambda value: isinstance(value, list | tuple),
    objection=_range_objection,
    measure=lambda value: tuple(map(number, value)),
    can_be_field=False,
    spell=_spell_range,
)
PATTERN = ValueType(
    name="pattern",
    described="a regular expression",
    fits=lambda value: isinstance(value, str),
    objection=_pattern_objection,
    measure=lambda value: value,
    can_be_field=False,
)
LIMIT = ValueType(
    name="limit",
    described="a number, a percentage such as 20%, or a map of down and up",
    fits=lambda value: (
        isinstance(value, int | Decimal | str | Mapping) and not isinstance(value, bool)
    ),
    objection=_limit_objection,
    measure=lambda value: value,
    can_be_field=False,
    spell=spell_limit,
)

_NUMBERS = {
    "not_numeric": Reason("one side is neither a finite number nor a plain decimal text"),
}
_TIMESTAMPS = {
    "timestamp_invalid": Reason("the value is neither RFC 3339 with a zone nor an epoch number"),
    "timestamp_in_future": Reason("the timestamp lies more than 60 s ahead"),
    "value_not_duration": Reason("the field that `value` names has no duration such as 2h"),
}


class Check(StrEnum):
    """The operator of a rule."""

    spec: CheckSpec

    def __new__(cls, name: str, spec: CheckSpec | None = None) -> "Check":
        """A name and its row; `Check("gte")` finds the member of that name."""
        assert spec is not None
        member = str.__new__(cls, name)
        member._value_, member.spec = name, spec
        return member

    EXISTS = (
        "exists",
        CheckSpec(
            passes="there is a reading for the date",
            symbol="exists",
            needs="must be there",
            test=None,
            value=None,
        ),
    )
    EQUALS = (
        "equals",
        CheckSpec(
            passes="the values are equal: numbers by value (5 = 5.0), text exactly, lists and maps by"
            " structure; a number also equals the text that spells it, and true and false the texts"
            " `true` and `false`",
            symbol="=",
            needs="needs {}",
            test=_equal,
            value=ANYTHING,
            reasons={"not_equal": Reason("the value is another one")},
            bound=Bound.EXACTLY,
        ),
    )
    NOT_EQUALS = (
        "not_equals",
        CheckSpec(
            passes="`equals` would not pass on the same values",
            symbol="!=",
            needs="needs anything but {}",
            test=_unequal,
            value=ANYTHING,
            reasons={"equal": Reason("the value is the one that it must not be")},
        ),
    )
    IN = (
        "in",
        CheckSpec(
            passes="the value equals one of the list, as `equals` compares",
            symbol="in",
            needs="needs one of {}",
            test=_one_of,
            value=LIST,
            reasons={"not_in": Reason("the value equals none of the list")},
        ),
    )
    MATCHES = (
        "matches",
        CheckSpec(
            passes="the whole text matches the pattern, a regular expression in RE2 syntax",
            symbol="matches",
            needs="needs to match {}",
            test=_matching,
            value=PATTERN,
            reasons={
                "not_text": Reason("the value is not a text"),
                "no_match": Reason("the text, as a whole, does not match"),
            },
            state=_text_state,
        ),
    )
    ABSENT = (
        "absent",
        CheckSpec(
            passes="with a field: there is a reading, and it lacks the field or the field is null."
            " Without: there is no reading of that key for the date",
            symbol="absent",
            needs="must be absent",
            test=_there,
            value=None,
            reasons={"present": Reason("the field, or the reading, is there")},
            wants_absence=True,
        ),
    )
    GT = (
        "gt",
        CheckSpec(
            passes="the value is greater than the number",
            symbol=">",
            needs="needs > {}",
            test=_compare(operator.gt, "not_greater"),
            value=NUMBER,
            reasons={**_NUMBERS, "not_greater": Reason("the value is not greater")},
            state=_number_state,
            bound=Bound.ABOVE,
        ),
    )
    GTE = (
        "gte",
        CheckSpec(
            passes="the value is greater than or equal to the number",
            symbol=">=",
            needs="needs >= {}",
            test=_compare(operator.ge, "not_greater_or_equal"),
            value=NUMBER,
            reasons={**_NUMBERS, "not_greater_or_equal": Reason("the value is smaller")},
            state=_number_state,
            bound=Bound.FROM,
        ),
    )
    LT = (
        "lt",
        CheckSpec(
            passes="the value is less than the number",
            symbol="<",
            needs="needs < {}",
            test=_compare(operator.lt, "not_less"),
            value=NUMBER,
            reasons={**_NUMBERS, "not_less": Reason("the value is not less")},
            state=_number_state,
            bound=Bound.BELOW,
        ),
    )
    LTE = (
        "lte",
        CheckSpec(
            passes="the value is less than or equal to the number",
            symbol="<=",
            needs="needs <= {}",
            test=_compare(operator.le, "not_less_or_equal"),
            value=NUMBER,
            reasons={**_NUMBERS, "not_less_or_equal": Reason("the value is greater")},
            state=_number_state,
            bound=Bound.UP_TO,
        ),
    )
    BETWEEN = (
        "between",
        CheckSpec(
            passes="the value is at least the first number and at most the second",
            symbol="between",
            needs="needs to lie between {}",
            test=_within,
            value=RANGE,
            reasons={**_NUMBERS, "out_of_range": Reason("the value is smaller or greater")},
            state=_number_state,
        ),
    )
    CHANGED_BY = (
        "changed_by",
        CheckSpec(
            passes="the value is as near to that of the previous expected date as the limit says: a number,"
            " a percentage of the previous value, or a map of `down` and `up`",
            symbol="changed by at most",
            needs="may change by at most {}",
            test=_near_previous,
            value=LIMIT,
            reasons={
                **_NUMBERS,
                "previous_missing": Reason("there is no reading of the previous expected date"),
                "previous_unreadable": Reason("what is stored of the previous date can't be read"),
                "previous_not_numeric": Reason("the field of the previous date has no number"),
                "changed_too_much": Reason("the value moved farther than allowed"),
            },
            state=_number_state,
            looks_back=True,
        ),
    )
    AGE_LT = (
        "age_lt",
        CheckSpec(
            passes="the timestamp is younger than the duration",
            symbol="younger than",
            needs="needs to be younger than {}",
            test=_younger,
            value=DURATION,
            reasons={
                **_TIMESTAMPS,
                "too_old": Reason("the timestamp is as old as the value, or older", True),
            },
            state=_age_state,
            bound=Bound.BELOW,
            ages=True,
        ),
    )
    AGE_GT = (
        "age_gt",
        CheckSpec(
            passes="the timestamp is older than the duration",
            symbol="older than",
            needs="needs to be older than {}",
            test=_older,
            value=DURATION,
            reasons={
                **_TIMESTAMPS,
                "too_young": Reason("the timestamp is as old as the value, or younger", True),
            },
            state=_age_state,
            bound=Bound.ABOVE,
            ages=True,
        ),
    )


def symbol_of(name: str) -> str:
    """How a check is written between what is and what should be; its name, if this version lacks it."""
    return Check(name).spec.symbol if name in _NAMES else name


def in_symbols(name: str, value: Any, against: Any = None) -> str:
    """What a rule asks, as in a table: `>= 5`. A check that compares with nothing stands alone; the value
    that stood elsewhere, `against`, follows.
    """
    if name not in _NAMES:
        return f"{name} {shown(value)}"
    spec = Check(name).spec
    if spec.value is None:
        return spec.symbol
    asked = f"{spec.symbol} {spec.spell(value)}"
    if against is None:
        return asked
    return f"{asked} from {shown(against)}" if spec.looks_back else f"{asked} ({shown(against)})"


_NAMES = frozenset(Check)
