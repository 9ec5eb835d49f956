"""Instants as producers write them."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.timestamp import instant, spell

NOON = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-03T12:00:00Z", NOON),
        ("2026-03-03t12:00:00z", NOON),  # either case
        ("2026-03-03T13:30:00+01:30", NOON),
        ("2026-03-03T07:00:00-05:00", NOON),
        ("2026-03-03T12:00:00.25Z", NOON.replace(microsecond=250_000)),
        ("2026-03-03T12:00:00.1234567899Z", NOON.replace(microsecond=123_456)),  # cut off below
        ("2026-03-03 12:00:00Z", None),  # no blank
        ("2026-03-03T12:00:00", None),  # no zone: it could be any
        ("2026-03-03T12:00Z", None),  # seconds are part of it
        ("2026-03-03T12:00:00+0100", None),
        ("2026-03-03T12:00:00+01:60", None),
        ("2026-03-03T12:00:00+24:00", None),
        ("2026-03-03T12:00:60Z", None),  # no second 60
        ("2026-02-30T12:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", None),  # before the calendar begins
        ("2026-03-03T12:00:00,5Z", None),
        ("٢٠٢٦-03-03T12:00:00Z", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_text_is_an_instant_only_in_full(text: str, expected: datetime | None) -> None:
    assert instant(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1772539200, NOON),
        (1772539200000, NOON),  # milliseconds from 1e12 on
        (999_999_999_999, None),  # still seconds, and beyond the calendar
        ("1772539200", NOON),
        ("1772539200000", NOON),
        (Decimal("1772539200.5"), NOON.replace(microsecond=500_000)),
        (-86400, datetime(1969, 12, 31, tzinfo=UTC)),
        ("-86400", None),  # a text of digits only
        (True, None),
        (10**18, None),
        ("9" * 40, None),
        (Decimal("NaN"), None),
        (Decimal("Infinity"), None),
        (Decimal("1e999999"), None),  # refused, not written out
        (None, None),
        ([], None),
        (1772539200.0, None),  # readings hold no binary fractions
    ],
)
def test_a_number_counts_from_the_epoch(value: Any, expected: datetime | None) -> None:
    assert instant(value) == expected


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-03-03T12:00:00Z"),
        (NOON.replace(microsecond=5000), "2026-03-03T12:00:00.005Z"),
        (NOON.replace(microsecond=999), "2026-03-03T12:00:00Z"),  # less than a millisecond
        (NOON.astimezone(timezone(timedelta(hours=9))), "2026-03-03T12:00:00Z"),
    ],
)
def test_an_instant_is_spelt_in_utc_and_shortly(moment: datetime, text: str) -> None:
    assert spell(moment) == text


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9999, 1, 1)))  # noqa: DTZ001
def test_what_is_spelt_reads_back_to_the_millisecond(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    back = instant(spell(aware))
    assert back is not None
    assert timedelta(0) <= aware - back < timedelta(milliseconds=1)


@given(st.one_of(st.text(), st.integers(), st.decimals(), st.booleans(), st.none()))
def test_nothing_that_a_producer_writes_is_an_error(value: Any) -> None:
    found = instant(value)
    assert found is None or found.tzinfo is not None
