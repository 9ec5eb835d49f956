"""One spelling per value, exact numbers, and the hash of it."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain import canonical
from interlock.domain.budgets import Spending


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert canonical.encode({"b": 1, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'


@pytest.mark.parametrize(
    "text",
    [
        "0.1",
        "0.10",  # the spelling stays: another one is other content
        "1E+400",
        str(2**53 + 1),
        "100000000000000000000000000001",  # more than 64 bits
        "-9223372036854775809",
    ],
)
def test_a_number_is_what_was_written(text: str) -> None:
    value = canonical.decode(text)
    assert value == Decimal(text)
    assert canonical.encode(value) == text


def test_a_number_with_a_point_is_a_decimal() -> None:
    assert type(canonical.decode(b"5.0")) is Decimal
    assert type(canonical.decode("5")) is int


def test_the_order_of_keys_makes_no_other_hash() -> None:
    one, other = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    assert canonical.content_hash(one) == canonical.content_hash(other)
    assert canonical.content_hash(one) != canonical.content_hash({**one, "a": 2})


def test_a_hash_is_as_long_as_asked() -> None:
    whole = canonical.content_hash("x")
    assert len(whole) == 64
    assert canonical.content_hash("x", 12) == whole[:12]


def test_a_struct_becomes_plain_values_with_its_outside_names() -> None:
    assert canonical.as_json(Spending(drift_reruns=2)) == {
        "retries": 0,
        "codeRetries": 0,
        "driftReruns": 2,
        "manualReruns": 0,
    }


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        canonical.decode("{")


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False).filter(
        lambda d: "E" in str(d) or "." in str(d)
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_VALUES)
def test_what_is_encoded_reads_back_the_same(value: Any) -> None:
    assert canonical.decode(canonical.encode(value)) == value
