"""Holidays: a country's public holidays as a calendar of dates.

The library behind it is an extra and slow to import; it is imported only when a file names a country.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from types import ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

from interlock.domain.pipeline import Calendar, Schedule, holiday_calendar
from interlock.errors import ConfigError

_YEARS_BACK = 1
_YEARS_AHEAD = 10


def named_calendars(
    schedules: Iterable[Schedule], calendars: Sequence[Calendar], year: int
) -> dict[str, Calendar]:
    """The calendars that schedules name, by name, holidays of countries among them.

    A name that no calendar has is left out. Raises ValueError for an unknown country, ConfigError
    when the library is not installed.
    """
    by_name = {calendar.name: calendar for calendar in calendars}
    found: dict[str, Calendar] = {}
    for schedule in schedules:
        exclude = schedule.exclude
        names = (schedule.calendar, None if exclude is None else exclude.calendar)
        found |= {name: by_name[name] for name in names if name is not None and name in by_name}
        if exclude is not None and exclude.holidays is not None:
            calendar = country_calendar(exclude.holidays, year)
            found[calendar.name] = calendar
    return found


@lru_cache(maxsize=512)
def country_calendar(country: str, year: int) -> Calendar:
    """The holidays from the year before to ten years ahead, as far as the library knows them.

    Raises ValueError for an unknown country, ConfigError when the library is not installed.
    """
    code, _, subdivision = country.partition("-")
    years = range(max(1, year - _YEARS_BACK), min(9999, year + _YEARS_AHEAD) + 1)
    days = _days(code, subdivision or None, years)
    dates = tuple(sorted({day.isoformat() for day in days}))
    return Calendar(name=holiday_calendar(country), dates=dates)


def _days(code: str, subdivision: str | None, years: range) -> Iterable[date]:
    """Only years that the library is certain about: it warns where its data is incomplete."""
    for last in reversed(years):
        with catch_warnings(record=True) as doubts:
            simplefilter("always")
            days = _ask(code, subdivision, range(years.start, last + 1))
        if not doubts:
            return days
    raise ValueError(f"the holidays of {code} are not known for {years.start} and later")


def _ask(code: str, subdivision: str | None, years: range) -> Iterable[date]:
    library: Any = _library()
    try:
        found: Iterable[date] = library.country_holidays(code, subdiv=subdivision, years=years)
    except (NotImplementedError, KeyError):
        name = code if subdivision is None else f"{code}-{subdivision}"
        raise ValueError(f"no holidays are known for {name}; {_known(library, code)}") from None
    return found


def _known(library: Any, code: str) -> str:
    """The codes that would be right: the subdivisions of a known country, or the countries."""
    countries: dict[str, list[str]] = library.list_supported_countries(include_aliases=False)
    if code in countries:
        parts = countries[code]
        listed = ", ".join(f"{code}-{each}" for each in parts)
        return f"there are: {listed}" if parts else f"{code} has no subdivisions"
    listed = ", ".join(sorted(countries))
    return f"a country has two letters, and may have a subdivision as in DE-BY; there are: {listed}"


def _library() -> ModuleType:
    try:
        import holidays  # imported here: it is an extra and takes 80 ms
    except ImportError:
        raise ConfigError(
            "country holidays need an extra: pip install 'interlock[holidays]'"
        ) from None
    return holidays
