"""The demo's files are sound, and its sources report each hour of each day."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from interlock.demo.demo_project import files
from interlock.demo.demo_sources import HOURS, day_of_reports, play, regions
from interlock.errors import ConfigError
from interlock.files import load_text

DAY = date(2026, 3, 2)


@pytest.mark.parametrize("hour_seconds", [1, 6, 3600])
def test_every_file_validates_at_every_speed(hour_seconds: float) -> None:
    for name, text in files(hour_seconds).items():
        if name.startswith("pipelines/"):
            assert load_text(text, name).errors == ()


def test_both_sources_end_with_every_hour_complete() -> None:
    last = {(report.pipeline, report.key): report.fields for report in day_of_reports(DAY)}
    for hour in range(HOURS):
        key = f"hourly-status#2026-03-02T{hour:02}"
        assert last["earthquake-silver", key]["loads"] == 3
        assert last["crypto-silver", key]["count"] >= 250
        assert last["crypto-silver", key]["nullPrices"] == 0


def test_some_hours_are_short_wrong_late_or_corrected() -> None:
    reports = day_of_reports(DAY)
    again = len(reports) - 2 * HOURS
    assert again >= 8
    assert [report.at for report in reports] == sorted(report.at for report in reports)


class Stage:
    """Notes what is put and said; it is over after this many reports."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.put_keys: list[str] = []
        self.said: list[str] = []
        self.seconds = 0.0

    def put(self, pipeline: str, key: str, fields: dict[str, Any]) -> None:
        if key.endswith("T25"):
            raise ConfigError("key is 'T25'")
        self.put_keys.append(key)

    def wait(self, seconds: float) -> bool:
        assert seconds >= 0
        self.seconds += seconds
        self._left -= 1
        return self._left < 0


def test_one_day_follows_another_and_nothing_is_left_out() -> None:
    stage = Stage(most=3 * len(day_of_reports(DAY)))
    play(DAY, 2.0, stage.put, stage.said.append, stage.wait)
    days = {key.partition("#")[2][:10] for key in stage.put_keys}
    assert {"2026-03-02", "2026-03-03", "2026-03-04"} <= days
    first = [key for key in stage.put_keys if "2026-03-02T" in key]
    assert len(set(first)) == HOURS
    assert 130 < stage.seconds < 150  # three days, two seconds an hour


def test_what_is_refused_at_the_door_is_said_and_the_rest_goes_on() -> None:
    stage = Stage(most=len(day_of_reports(DAY)))
    play(DAY, 1.0, stage.put, stage.said.append, stage.wait)
    at = stage.said.index("refused: key is 'T25'")
    assert "no day has" in stage.said[at - 1]
    assert len(stage.said) > at + 10


def test_the_table_of_regions_is_of_today() -> None:
    report = regions(datetime(2026, 3, 2, tzinfo=UTC))
    assert report.fields["updatedAt"] == "2026-03-02T00:00:00Z"
    assert report.pipeline == "earthquake-gold"
