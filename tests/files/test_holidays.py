"""A country's holidays become dates, from the year before to ten years ahead."""

import sys

import pytest
from file_samples import pipeline_text

from interlock.domain.pipeline import Calendar, Exclusion, Schedule
from interlock.errors import ConfigError
from interlock.files import load_text
from interlock.files.holidays import country_calendar, named_calendars

HOLIDAYS = "{trigger: {key: a, check: exists}, exclude: {holidays: DE-BY}}"


def test_the_holidays_of_a_subdivision_are_dates() -> None:
    calendar = country_calendar("DE-BY", 2026)
    assert calendar.name == "holidays:DE-BY"
    assert {"2025-01-06", "2026-12-25", "2036-12-26"} <= set(calendar.dates)
    assert calendar.dates[0] >= "2025" and calendar.dates[-1] < "2037"


def test_an_unknown_country_is_refused() -> None:
    for country in ("XX", "US-ZZ"):
        with pytest.raises(ValueError, match=country):
            country_calendar(country, 2026)


def test_a_country_with_unknown_holidays_is_refused() -> None:
    with pytest.raises(ValueError, match="not known for 2089"):
        country_calendar("IN", 2090)


def test_only_the_calendars_that_are_named_are_taken() -> None:
    closing, other = Calendar(name="closing"), Calendar(name="other")
    schedules = [
        Schedule(calendar="closing"),
        Schedule(exclude=Exclusion(calendar="unknown", holidays="US")),
    ]
    assert set(named_calendars(schedules, [closing, other], 2026)) == {"closing", "holidays:US"}


def test_a_pipeline_carries_its_holidays_and_until_when_they_reach() -> None:
    pipeline = load_text(pipeline_text(schedule=HOLIDAYS), year=2026).pipeline
    assert pipeline is not None
    assert "2026-01-06" in pipeline.calendars["holidays:DE-BY"].dates
    assert pipeline.holidays_until == "2036-12-31"


def test_holidays_reach_only_as_far_as_they_are_known() -> None:
    schedule = HOLIDAYS.replace("DE-BY", "IN")  # known until 2035
    pipeline = load_text(pipeline_text(schedule=schedule), year=2026).pipeline
    assert pipeline is not None
    assert pipeline.holidays_until == "2035-12-31"


def test_a_country_without_any_holidays_is_odd() -> None:
    schedule = HOLIDAYS.replace("DE-BY", "HM")  # where only penguins live
    (problem,) = load_text(pipeline_text(schedule=schedule), year=2026).problems
    assert (problem.path, problem.is_error) == ("schedule.exclude.holidays", False)


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "holidays", None)
    country_calendar.cache_clear()
    with pytest.raises(ConfigError, match=r"interlock\[holidays\]"):
        country_calendar("DE-BY", 2026)
    (problem,) = load_text(pipeline_text(schedule=HOLIDAYS), year=2026).problems
    assert problem.path == "schedule.exclude.holidays"
    assert "interlock[holidays]" in problem.message
