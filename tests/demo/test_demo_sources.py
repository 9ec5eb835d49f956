"""The demo's files are sound, and its sources report every period once it is over, and none before."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

import pytest

from interlock.demo.demo_project import files
from interlock.demo.demo_sources import (
    COINS,
    DAY,
    HOUR,
    DemoReading,
    coinlore_hour,
    failed_day,
    opening,
    play,
    regions,
    reports,
    usgs_hour,
)
from interlock.errors import ConfigError
from interlock.files import load_text

NOW = datetime(2026, 3, 4, 13, 20, 30, tzinfo=UTC)
SINCE = NOW - 2 * DAY


def before(now: datetime, since: datetime = SINCE) -> list[DemoReading]:
    return list(takewhile(lambda report: report.at <= now, reports(since, now)))


def of(pipeline: str, found: Iterable[DemoReading]) -> list[DemoReading]:
    return [report for report in found if report.pipeline == pipeline]


def test_every_file_is_valid_without_a_warning() -> None:
    for name, text in files(NOW.date(), failed_day(NOW)).items():
        if name.startswith("pipelines/"):
            assert load_text(text, name).problems == ()


def test_reports_come_in_order_and_never_about_the_future() -> None:
    found = before(NOW)
    assert [report.at for report in found] == sorted(report.at for report in found)
    for report in found:
        label = report.key.partition("#")[2]
        if label and not label.endswith("T25"):
            whole = label if "T" in label else f"{label}T00"
            start = datetime.fromisoformat(f"{whole}:00" if len(whole) == 13 else whole)
            assert start.replace(tzinfo=UTC) < report.at <= NOW


def test_both_hourly_sources_end_with_every_earlier_hour_complete() -> None:
    hours = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in range(24)]
    for hour in hours:
        *_, quakes = usgs_hour(hour)
        *_, coins = coinlore_hour(hour, NOW)
        assert quakes.fields["loads"] == 3
        assert coins.fields["count"] >= 250 and coins.fields["nullPrices"] == 0
    again = sum(len([*usgs_hour(hour), *coinlore_hour(hour, NOW)]) for hour in hours)
    assert again >= 2 * 24 + 7


@pytest.mark.parametrize("minute", [0, 3, 4, 5, 6, 59])
def test_the_coins_sag_before_the_last_hour_is_short_of_the_rule(minute: int) -> None:
    now = NOW.replace(minute=minute)
    counts = [report.fields["count"] for report in of("crypto-silver", before(now))][-12:]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == COINS and counts[-2] >= 250 > counts[-1]


def test_minutes_are_reported_for_a_quarter_of_an_hour_and_then_for_ever() -> None:
    assert len(of("clickstream-sessions", before(NOW))) == 14
    live = of("fraud-scores", islice(reports(NOW, NOW), 60))
    assert len({report.key for report in live}) > 20
    assert min(report.at for report in live) >= NOW


@pytest.mark.parametrize("hour", [0, 1, 2, 3, 12, 23])
def test_whatever_the_time_the_failed_day_is_over_and_its_reruns_too(hour: int) -> None:
    now = NOW.replace(hour=hour)
    over = datetime.combine(failed_day(now) + DAY, datetime.min.time(), UTC)
    assert over + HOUR < now < over + 2 * DAY + 2 * HOUR
    (invoices,) = (r for r in of("invoices-report", before(now)) if str(failed_day(now)) in r.key)
    assert invoices.at < over + timedelta(minutes=10)
    assert f"#{now.date()}" in opening(now)[0].key


class Stage:
    """Notes what is put and said; it is over after this many reports."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.put_keys: list[str] = []
        self.said: list[str] = []
        self.waited_for: list[datetime] = []

    def put(self, pipeline: str, key: str, fields: dict[str, Any]) -> None:
        if key.endswith("T25"):
            raise ConfigError("key is 'T25'")
        self.put_keys.append(key)

    def wait(self, moment: datetime) -> bool:
        self.waited_for.append(moment)
        self._left -= 1
        return self._left < 0


def test_what_is_refused_at_the_door_is_said_and_the_rest_goes_on() -> None:
    stage = Stage(most=200)
    play(reports(SINCE, NOW), stage.put, stage.said.append, stage.wait)
    at = stage.said.index("refused: key is 'T25'")
    assert "no day has" in stage.said[at - 1]
    assert len(stage.said) > at + 10 and len(stage.waited_for) == 201


def test_the_table_of_regions_is_of_that_time() -> None:
    report = regions(datetime(2026, 3, 2, tzinfo=UTC))
    assert report.fields["updatedAt"] == "2026-03-02T00:00:00Z"
    assert report.pipeline == "earthquake-gold"
