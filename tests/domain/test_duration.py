"""Durations as people write them, and back."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain import duration

_LONGEST = timedelta(days=106_751)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", "90"),
        ("2h30m", "9000"),
        ("1d", "86400"),
        ("+1h", "3600"),
        ("1h1h", "7200"),  # units may repeat, as in Go
        ("1.m", "60"),
        (".5m", "30"),
        ("1ns", "1e-9"),
        ("1µs", "1e-6"),  # the micro sign
        ("1μs", "1e-6"),  # the Greek letter
    ],
)
def test_a_duration_is_an_exact_number_of_seconds(text: str, seconds: str) -> None:
    assert duration.seconds(text) == Decimal(seconds)


@pytest.mark.parametrize("text", ["", "+", "5", "0", "-5m", "++5m", " 1h", "1h\n", "1w", "1M", "h"])
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration such as"):
        duration.seconds(text)


def test_a_duration_longer_than_292_years_is_refused() -> None:
    assert duration.parse("106751d")
    with pytest.raises(ValueError, match="292 years"):
        duration.seconds("106752d")


def test_a_text_of_any_length_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="too long"):
        duration.seconds("1h" * 100)


def test_what_is_below_a_microsecond_is_cut_off() -> None:
    assert duration.parse("1999ns") == timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(minutes=90), "1h30m"),
        (timedelta(days=2), "2d"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(microseconds=1), "0.000001s"),
        (timedelta(0), "0s"),
        (timedelta(seconds=100), "1m40s"),
    ],
)
def test_a_span_is_spelt_as_short_as_possible(span: timedelta, text: str) -> None:
    assert duration.spell(span) == text


@given(st.timedeltas(timedelta(0), _LONGEST))
def test_what_is_spelt_reads_back_as_the_same_span(span: timedelta) -> None:
    assert duration.parse(duration.spell(span)) == span


@given(st.text(alphabet="0123456789.+-dhmsunµμ ", max_size=12))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        assert duration.seconds(text) >= 0
    except ValueError:
        return


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(hours=1, minutes=5, seconds=3), "1h 5m"),
        (timedelta(seconds=42.4), "42s"),
        (timedelta(days=3, minutes=2), "3d 2m"),
        (timedelta(0), "0s"),
        (timedelta(seconds=0.32), "320ms"),
        (timedelta(milliseconds=1), "1ms"),
        (timedelta(microseconds=300), "0s"),
        (timedelta(seconds=0.9996), "1s"),
        (timedelta(seconds=1.4), "1s"),
        (timedelta(seconds=-5), "0s"),  # clocks of two machines may disagree a little
    ],
)
def test_people_read_at_most_two_units(span: timedelta, text: str) -> None:
    assert duration.for_people(span) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [(timedelta(seconds=0.32), "0s"), (timedelta(seconds=0.7), "1s"), (timedelta(days=1), "1d")],
)
def test_an_age_has_whole_seconds(span: timedelta, text: str) -> None:
    assert duration.for_ages(span) == text
