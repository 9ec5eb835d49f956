"""Edit events: what an edit changes in schedules, as lines for people and as the detail of an event."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from interlock.domain.edits import Edit, EditKind, ScheduleEdit
from interlock.domain.timestamp import spell

#: How many dates of a kind are named.
_SHOWN = 20


def in_words(said: str, edit: Edit) -> str:
    """One line: which schedules have changed, and since when each counts."""
    told = [line_of(each) for each in edit.schedules if each.kind is not EditKind.UNCHANGED]
    return "; ".join((said, *told))


def loses_dates(edit: Edit) -> bool:
    """Whether the edit loses dates, which its owner may not have intended."""
    return any(each.skipped or each.repeated or each.overtaken for each in edit.schedules)


def line_of(edit: ScheduleEdit) -> str:
    """What an edit means for one schedule."""
    return ", ".join((_WHAT[edit.kind](edit), *_consequences(edit)))


def as_detail(edit: ScheduleEdit) -> dict[str, Any]:
    """The same for programs; of many dates, the first ones."""
    found: dict[str, Any] = {
        "schedule": edit.schedule,
        "change": edit.kind,
        "since": spell(edit.since),
        "formerly": edit.formerly,
        "changed": list(edit.changed),
        "nextDate": edit.next_date,
        "nextDue": None if edit.next_due is None else spell(edit.next_due),
        "skipped": _shown(edit.skipped),
        "repeated": _shown(edit.repeated),
        "overtaken": _shown(edit.overtaken),
    }
    return {name: value for name, value in found.items() if value}


def _shown(dates: Sequence[str]) -> list[str]:
    more = len(dates) - _SHOWN
    return [*dates[:_SHOWN], f"and {more} more"] if more > 0 else list(dates)


def _consequences(edit: ScheduleEdit) -> Iterator[str]:
    if edit.skipped:
        yield f"skips {_span(edit.skipped)}"
    if edit.repeated:
        yield f"does not repeat {_span(edit.repeated)}"
    if edit.overtaken:
        yield f"the deadline of {_span(edit.overtaken)} has passed"


def _span(dates: Sequence[str]) -> str:
    if len(dates) == 1:
        return dates[0]
    return f"{dates[0]} to {dates[-1]} ({len(dates)} dates)"


def _changed(edit: ScheduleEdit) -> str:
    was = f" (formerly {edit.formerly})" if edit.formerly else ""
    return (
        f"{edit.schedule}{was} changed: {', '.join(edit.changed)}; counts since {spell(edit.since)}"
    )


_WHAT: dict[EditKind, Callable[[ScheduleEdit], str]] = {
    EditKind.NEW: lambda edit: f"{edit.schedule} is new, counts since {spell(edit.since)}",
    EditKind.UNCHANGED: lambda edit: f"{edit.schedule} is unchanged",
    EditKind.RENAMED: lambda edit: (
        f"{edit.schedule} was {edit.formerly} and continues with its dates"
    ),
    EditKind.CHANGED: _changed,
    EditKind.REMOVED: lambda edit: f"{edit.schedule} is removed",
}
