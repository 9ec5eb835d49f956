"""Ping: what stands in an address is a signal, and the day it came is its date."""

from datetime import UTC, datetime

import pytest

from interlock.domain.ping import PingSource, Signal, reading_of, signal_of
from interlock.domain.zones import zone

NIGHT = datetime(2026, 3, 3, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", (Signal.SUCCESS, None)),
        ("start", (Signal.START, None)),
        ("fail", (Signal.FAIL, None)),
        ("0", (Signal.SUCCESS, 0)),
        ("1", (Signal.FAIL, 1)),
        ("255", (Signal.FAIL, 255)),
        ("256", None),
        ("-1", None),
        ("success", None),
        ("log", None),
    ],
)
def test_a_signal_is_read_as_healthchecks_reads_it(
    said: str, meant: tuple[Signal, int | None] | None
) -> None:
    assert signal_of(said) == meant


def test_its_date_is_the_day_where_the_pipeline_lives() -> None:
    berlin = zone("Europe/Berlin")
    fields = reading_of(Signal.FAIL, 7, berlin, hourly=False, now=NIGHT)
    assert fields == {
        "signal": "fail",
        "date": "2026-03-04",
        "updatedAt": "2026-03-03T23:30:00Z",
        "exitCode": 7,
    }
    hourly = reading_of(Signal.START, None, berlin, hourly=True, now=NIGHT)
    assert hourly["hour"] == 0 and "exitCode" not in hourly


def test_a_source_does_not_show_its_token() -> None:
    assert "secret" not in repr(PingSource(token="a-secret-token-of-22", pipeline="p", key="k"))
