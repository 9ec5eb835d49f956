"""What a scalar means depends on how it is written and on what is due in its place."""

from decimal import Decimal

import pytest

from interlock.files.nodes import Scalar
from interlock.files.scalars import Meaning, boolean, is_nothing, meaning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("NO", "NO"),
        ("10:00", "10:00"),
        ("12:30:45", "12:30:45"),
        ("2026-03-03", "2026-03-03"),
        ("1_000", "1_000"),
        ("12", 12),
        ("+12", 12),
        ("-3", -3),
        ("010", 10),  # not eight: YAML 1.2
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0.1", Decimal("0.1")),
        ("1.", Decimal(1)),
        (".5", Decimal("0.5")),
        ("1e3", Decimal(1000)),
        ("-1.5E-2", Decimal("-0.015")),
        (".", "."),
        ("-", "-"),
        ("1e", "1e"),
        ("1.2.3", "1.2.3"),
        ("9007199254740993", 9007199254740993),
        (".inf", Decimal("Infinity")),
        ("-.INF", Decimal("-Infinity")),
        ("\u0661", "\u0661"),  # a digit, but not of ours
    ],
)
def test_a_plain_scalar_is_read_by_the_core_schema(text: str, expected: Meaning) -> None:
    actual = meaning(Scalar(text, plain=True))
    assert actual == expected and type(actual) is type(expected)


@pytest.mark.parametrize("text", ["", "12", "true", "null", "1e3"])
def test_a_quoted_scalar_is_always_text(text: str) -> None:
    assert meaning(Scalar(text, plain=False)) == text
    assert boolean(Scalar(text, plain=False)) is None
    assert not is_nothing(Scalar(text, plain=False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("Yes", True),
        ("ON", True),
        ("false", False),
        ("no", False),
        ("Off", False),
        ("y", None),
        ("1", None),
        ("", None),
        ("oN", None),
    ],
)
def test_where_a_boolean_is_due_every_word_for_one_counts(text: str, expected: bool | None) -> None:
    assert boolean(Scalar(text, plain=True)) is expected


@pytest.mark.parametrize(
    "text", [".nan", "1e99999999999999999999999", "1" * 5000, "0x" + "f" * 5000, "1." + "0" * 5000]
)
def test_a_number_that_can_not_be_represented_is_not_a_number(text: str) -> None:
    value = meaning(Scalar(text, plain=True))
    assert isinstance(value, Decimal) and value.is_nan()
