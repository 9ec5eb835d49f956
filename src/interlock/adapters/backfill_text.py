"""Backfill text: a backfill as one text, short enough for a row of any store.

The dates of a day share its name, and each ending is one letter in the place of its date: a year of hours
takes fewer than fifty thousand characters.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from interlock.domain import canonical
from interlock.domain.backfill import Backfill, BackfillState, DateEnding
from interlock.domain.partition import Label

#: One letter for each ending; stored, so none may ever change.
_LETTERS: dict[DateEnding, str] = {
    DateEnding.COMPLETED: "C",
    DateEnding.FAILED: "F",
    DateEnding.REMOVED: "R",
    DateEnding.NOT_EXPECTED: "N",
    DateEnding.DRY_RUN: "D",
    DateEnding.REPLACED: "L",
    DateEnding.REFUSED: "X",
    DateEnding.UNKNOWN_PIPELINE: "P",
    DateEnding.EXCLUDED: "E",
    DateEnding.BEYOND_HORIZON: "H",
    DateEnding.IN_PROGRESS: "I",
    DateEnding.BUDGET: "B",
    DateEnding.SKIPPED: "K",
    DateEnding.NO_NEW_DATA: "S",
    DateEnding.UNREADABLE: "U",
}
_ENDINGS = {letter: ending for ending, letter in _LETTERS.items()}
_NOT_ENDED = "."


def encode_backfill(backfill: Backfill) -> str:
    plain = canonical.as_json(backfill)
    plain["dates"] = ";".join(_days(backfill.dates))
    plain["ended"] = "".join(_letter(backfill.ended.get(date)) for date in backfill.dates)
    return canonical.encode(plain)


def decode_backfill(text: str) -> Backfill:
    """Raises ValueError, TypeError or msgspec's errors for a text that is not a backfill's."""
    plain = canonical.decode(text)
    if not isinstance(plain, dict):
        raise ValueError("it is not an object")
    dates = list(_dates(plain["dates"]))
    letters = plain["ended"]
    if not isinstance(letters, str) or len(letters) != len(dates):
        raise ValueError("its endings do not match its dates")
    ended = {
        date: _ENDINGS[letter]
        for date, letter in zip(dates, letters, strict=True)
        if letter != _NOT_ENDED
    }
    found = msgspec.convert({**plain, "dates": dates, "ended": ended}, Backfill)
    _check(found)
    return found


def _days(dates: Iterable[str]) -> Iterator[str]:
    """`2026-03-03T00,01,02` for three hours of a day."""
    for day, of_day in groupby(dates, lambda date: date[:10]):
        times = [date[11:] for date in of_day]
        yield day if times == [""] else f"{day}T{','.join(times)}"


def _dates(text: str) -> Iterator[str]:
    for each in text.split(";"):
        day, mark, times = each.partition("T")
        yield from [f"{day}T{time}" for time in times.split(",")] if mark else [day]


def _letter(ending: DateEnding | None) -> str:
    return _NOT_ENDED if ending is None else _LETTERS[ending]


def _check(found: Backfill) -> None:
    if list(found.dates) != sorted(set(found.dates)):
        raise ValueError("its dates are not in order")
    for date in found.dates:
        if str(Label.parse(date)) != date:
            raise ValueError(f"{date} is not a date in our format")
    if found.begun.keys() & found.ended.keys() or not found.begun.keys() <= set(found.dates):
        raise ValueError("a begun date has ended, or is none of its dates")
    if found.state is BackfillState.DONE and len(found.ended) != len(found.dates):
        raise ValueError("it is done, but not all of its dates have ended")
