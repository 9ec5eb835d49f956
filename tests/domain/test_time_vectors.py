"""Vectors of time: cases with one right answer each, our own copy and those beside the project."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import holidays
import msgspec
import pytest

from interlock.domain import duration
from interlock.domain.calendars import excluded
from interlock.domain.cron import cron_moments
from interlock.domain.deadline import closes_at, deadlines
from interlock.domain.partition import Label
from interlock.domain.pipeline import Calendar, Schedule, Sla, holiday_calendar

_PROJECT = Path(__file__).parents[2]
_FOLDERS = (_PROJECT / "tests/vectors", _PROJECT / "../shared/vectors")


def _vectors(area: str) -> list[Any]:
    found: dict[str, Any] = {}
    for file in (folder / f"{area}.json" for folder in _FOLDERS):
        if file.exists():
            document = json.loads(file.read_text(), parse_float=Decimal)
            found |= {vector["id"]: vector for vector in document["vectors"]}
    return [pytest.param(each["input"], each["expected"], id=name) for name, each in found.items()]


@pytest.mark.parametrize(("given", "expected"), _vectors("durations"))
def test_a_duration_is_read_exactly(given: Any, expected: Any) -> None:
    if "error" in expected:
        with pytest.raises(ValueError):
            duration.seconds(given["text"])
    else:
        assert duration.seconds(given["text"]) == expected["seconds"]


@pytest.mark.parametrize(("given", "expected"), _vectors("cron"))
def test_a_cron_is_due_at_its_moments(given: Any, expected: Any) -> None:
    since, until = _instant(given["from"]), _instant(given["to"])
    moments = cron_moments(given["cron"], given["timezone"], since, until)
    assert [(moment.due_at, moment.date) for moment in moments] == [
        (_instant(each["at"]), each["date"]) for each in expected
    ]


@pytest.mark.parametrize(("given", "expected"), _vectors("deadlines"))
def test_a_date_has_its_deadlines(given: Any, expected: Any) -> None:
    schedule, label = msgspec.convert(given["schedule"], Schedule), Label.parse(given["date"])
    actual: dict[str, datetime | None] = {"closesAt": closes_at(schedule, label)}
    if "sla" in given:
        first = _instant(given.get("firstSensorAt"))
        due = deadlines(schedule, msgspec.convert(given["sla"], Sla), label, first).earliest
        actual |= {"warningAt": due.warning_at, "breachAt": due.breach_at}
    assert {key: actual[key] for key in expected} == {
        key: _instant(text) for key, text in expected.items()
    }


@pytest.mark.parametrize(("given", "expected"), _vectors("exclusions"))
def test_a_day_is_excluded_or_not(given: Any, expected: bool) -> None:
    schedule, day = msgspec.convert(given["schedule"], Schedule), Label.parse(given["date"]).day
    calendars = {each["name"]: msgspec.convert(each, Calendar) for each in given["calendars"]}
    reason = excluded(schedule, {**calendars, **_holidays(schedule, day)}, day)
    assert (reason is not None) is expected


def _holidays(schedule: Schedule, day: date) -> Mapping[str, Calendar]:
    country = schedule.exclude and schedule.exclude.holidays
    if not country:
        return {}
    code, _, subdivision = country.partition("-")
    days = holidays.country_holidays(code, subdiv=subdivision or None, years=day.year)
    name = holiday_calendar(country)
    return {name: Calendar(name, dates=tuple(each.isoformat() for each in days))}


def _instant(text: str | None) -> Any:
    return text and datetime.fromisoformat(text)
