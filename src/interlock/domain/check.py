"""Check: the operator of a rule, one row each.

A row holds everything that is known of a check: its test, the value that it compares with, the reasons
for which it fails, its symbol and its words. The gate, the file reader, the warnings, the JSON Schema,
`why`, the pages, the alerts and the reference read it there.
"""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from interlock.domain import canonical, duration, timestamp

#: A producer's clock may run ahead by this much and still mean "now".
CLOCK_SKEW = timedelta(seconds=60)

_PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
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
    text = value if isinstance(value, str) else canonical.encode(value)
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

    @property
    def limits_age(self) -> bool:
        """Whether a reading stops passing by itself: yesterday's can't pass today for ever."""
        return self.ages and self.bound is not None and self.bound.is_upper


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


@lru_cache(maxsize=4096)
def _plain_number(text: str) -> Decimal | None:
    if _PLAIN_NUMBER.fullmatch(text) is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond what Decimal can hold
        return None


# --------------------------------------------------------------------------------------------- the tests


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


def _compare(holds: Callable[[Any, Any], bool], kind: str) -> Test:
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

_NUMBERS = {
    "not_numeric": Reason("one side is neither a finite number nor a plain decimal text"),
}
_TIMESTAMPS = {
    "timestamp_invalid": Reason("the value is neither RFC 3339 with a zone nor an epoch number"),
    "timestamp_in_future": Reason("the timestamp lies more than 60 s ahead"),
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


def in_symbols(name: str, value: str) -> str:
    """What a rule asks, as in a table: `>= 5`. A check that compares with nothing stands alone."""
    alone = name in _NAMES and Check(name).spec.value is None
    return symbol_of(name) if alone else f"{symbol_of(name)} {value}"


_NAMES = frozenset(Check)
