"""Text: a pipeline or calendar file, from its text."""

from collections.abc import Sequence
from datetime import UTC, datetime

from interlock.domain.pipeline import Calendar, holiday_calendar
from interlock.files.authored import PipelineFile
from interlock.files.holidays import country_calendar
from interlock.files.loaded import LoadedPipeline, in_order, load, read_whole, unreadable
from interlock.files.nodes import Node, Unreadable
from interlock.files.problem import Problem, ProblemKind, quoted
from interlock.files.problem_collector import At, ProblemCollector, known
from interlock.files.yaml_nodes import parse


def load_text(
    text: str | bytes,
    file: str = "",
    calendars: Sequence[Calendar] = (),
    year: int | None = None,
) -> LoadedPipeline:
    """Read one pipeline file. Never raises: the result lists every problem of the text.

    Country holidays are included around `year`, by default the current one.
    """
    try:
        node = parse(text)
    except Unreadable as error:
        return LoadedPipeline(None, (unreadable(error, file),))
    return load_node(node, file, calendars, year)


def load_node(
    node: Node, file: str = "", calendars: Sequence[Calendar] = (), year: int | None = None
) -> LoadedPipeline:
    """Read a pipeline embedded in another document."""
    shelf = _Shelf(calendars, this_year() if year is None else year)
    return load(node, PipelineFile, lambda _: shelf, file)


def load_calendar(text: str | bytes, file: str = "") -> tuple[Calendar | None, tuple[Problem, ...]]:
    """Read one calendar file; None when it has errors."""
    reading = ProblemCollector(file)
    try:
        node = parse(text)
    except Unreadable as error:
        return None, (unreadable(error, file),)
    calendar = read_whole(Calendar, node, reading)
    if calendar is not None and _is_reserved(calendar.name):
        message = "names that begin with holidays: are reserved for countries"
        At(reading, node, ()).error("name", ProblemKind.BAD_VALUE, message)
    return calendar if reading.is_sound else None, in_order(reading.problems)


def _is_reserved(name: str) -> bool:
    return known(name) and name.startswith(holiday_calendar(""))


def this_year() -> int:
    return datetime.now(UTC).year


class _Shelf:
    """The calendars of a project, and the holidays of every country."""

    def __init__(self, calendars: Sequence[Calendar], year: int) -> None:
        self._calendars = {calendar.name: calendar for calendar in calendars}
        self._year = year

    def calendar(self, name: str) -> Calendar:
        if name not in self._calendars:
            names = ", ".join(sorted(self._calendars)) or "none in calendars/"
            raise ValueError(f"unknown calendar {quoted(name)}; known calendars: {names}")
        return self._calendars[name]

    def holidays(self, country: str) -> Calendar:
        return country_calendar(country, self._year)
