"""Stored config: a pipeline from a store, decoded but not yet validated.

This half of the package needs neither YAML nor the holiday library: a compiled config includes everything
it names.
"""

from typing import Any, TypeVar

import msgspec

from interlock.domain.pipeline import Calendar, holiday_calendar
from interlock.files.authored import StoredPipeline
from interlock.files.json_nodes import node_of
from interlock.files.loaded import LoadedPipeline, in_order, load, read_whole, unreadable
from interlock.files.nodes import Unreadable
from interlock.files.problem import Problem, quoted
from interlock.files.problem_collector import ProblemCollector, known

Part = TypeVar("Part", bound=msgspec.Struct)


def read_config(value: Any) -> LoadedPipeline:
    """Read a decoded JSON config, with the checks of a file. It includes its calendars, by name."""
    try:
        node = node_of(value)
    except Unreadable as error:
        return LoadedPipeline(None, (unreadable(error),))
    return load(node, StoredPipeline, _Written)


def read_part(kind: type[Part], value: Any) -> tuple[Part | None, tuple[Problem, ...]]:
    """Read one part of a file, such as a Schedule, by itself: without the checks between its fields."""
    reading = ProblemCollector()
    try:
        part = read_whole(kind, node_of(value), reading)
    except Unreadable as error:
        return None, (unreadable(error),)
    return part if reading.is_sound else None, in_order(reading.problems)


class _Written:
    """The calendars included in a config."""

    def __init__(self, config: StoredPipeline) -> None:
        self._calendars = config.calendars if known(config.calendars) else {}

    def calendar(self, name: str) -> Calendar:
        calendar = self._calendars.get(name)
        if calendar is None or not known(calendar) or calendar.name != name:
            raise ValueError(f"this config does not include the calendar {quoted(name)}")
        return calendar

    def holidays(self, country: str) -> Calendar:
        return self.calendar(holiday_calendar(country))
