"""What holds for every zone and every clock change from 2000 to 2037."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from interlock.domain.cron import Occurrence, cron_moments
from interlock.domain.deadline import wall_deadline
from interlock.domain.partition import (
    Grain,
    Label,
    hours_of,
    instant_of,
    label_at,
    labels_between,
    occurs,
    starts_at,
)
from interlock.domain.pipeline import Schedule
from interlock.domain.zones import known_zones, zone

_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
_STEP = timedelta(days=5)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class Change(NamedTuple):
    """The instant from which on a zone's clocks show another offset."""

    at: datetime
    old: timedelta
    new: timedelta


def test_no_zone_changes_its_clocks_twice_within_six_days() -> None:
    """So two looks at the offset see every change in between, as the search for moments does."""
    for _, changes in _zones():
        assert all(two.at - one.at > 6 * _DAY for one, two in pairwise(changes))


def test_occurrences_increase_and_no_label_occurs_twice() -> None:
    for name, change in _changes():
        for cron in (*_crons_at(change), "30 * * * *"):
            reach = 4 * _HOUR if cron == "30 * * * *" else 30 * _HOUR
            found = list(cron_moments(cron, name, change.at - reach, change.at + reach))
            assert _increase(found), (cron, name, change)


def test_an_occurrence_does_not_depend_on_where_the_search_begins() -> None:
    for name, change in _kinds():
        for cron in (*_crons_at(change), "0 * * * *", "45 */1 * * SUN", "*/30 * * * *"):
            until = change.at + 4 * _HOUR
            whole = list(cron_moments(cron, name, change.at - 4 * _HOUR, until))
            assert _increase(whole), (cron, name, change)
            for hours in (-3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2.5):
                since = change.at + hours * _HOUR
                found = list(cron_moments(cron, name, since, until))
                assert found == _from(whole, since), (cron, name, since)


def test_a_label_that_occurs_leads_to_an_instant_and_back() -> None:
    for name, change in _changes():
        place = zone(name)
        for label in _labels_around(change, place):
            instant = starts_at(label, place)
            assert label_at(instant, place, label.grain) == label, (name, label)
            assert label_at(instant - timedelta(seconds=1), place, label.grain) != label


def test_no_label_is_lost_between_two_ranges() -> None:
    for name, change in _changes():
        place, start, end = zone(name), change.at - 3 * _HOUR, change.at + 3 * _HOUR
        cuts = [start, change.at - _HOUR / 2, change.at, change.at + _HOUR / 2, end]
        whole = list(labels_between(start, end, place, Grain.HOUR))
        parts = [
            label
            for since, until in pairwise(cuts)
            for label in labels_between(since, until, place, Grain.HOUR)
        ]
        assert parts == whole, (name, change)


def test_a_deadline_grows_with_its_label() -> None:
    for name, change in _changes():
        place, clock = zone(name), _wall(change).strftime("%H:%M")
        schedule = Schedule(timezone=name, day_offset=1)
        days = [Label((change.at + number * _DAY).date()) for number in range(-4, 3)]
        hours = [*labels_between(change.at - 4 * _HOUR, change.at + 4 * _HOUR, place, Grain.HOUR)]
        for text, labels in ((clock, days), ("02:30", days), (":00", hours), (":30", hours)):
            instants = [_deadline(text, label, schedule, place) for label in labels]
            assert all(_grows(*pair, place) for pair in pairwise(instants)), (name, change, text)


def test_a_deadline_of_a_minute_never_shrinks() -> None:
    for name, change in _kinds():
        place, schedule = zone(name), Schedule(timezone=name)
        minutes = [
            label_at(change.at + n * _HOUR / 12, place, Grain.MINUTE) for n in range(-18, 18)
        ]
        for text in (":00", ":29", ":30"):
            found = [_deadline(text, label, schedule, place)[1] for label in sorted(set(minutes))]
            assert found == sorted(found), (name, change, text)


def _crons_at(change: Change) -> Iterator[str]:
    """Fixed times and days that the change skips, repeats or just misses."""
    wall = _wall(change)
    later = wall + abs(change.new - change.old) / 2
    yield f"{later.minute} {later.hour} * * *"
    yield f"{later.minute} {wall.hour},{(wall.hour + 1) % 24} * * *"
    yield f"{wall.minute} {(wall.hour - 1) % 24} * * *"
    yield f"{later.minute} */24 * * *"


def _wall(change: Change) -> datetime:
    """The earlier of the two walls of a change: where the gap, or the fold, begins."""
    return (change.at + min(change.old, change.new)).replace(tzinfo=None)


def _increase(moments: Sequence[Occurrence]) -> bool:
    return all(one.due_at < two.due_at and one.date < two.date for one, two in pairwise(moments))


def _from(moments: Iterable[Occurrence], since: datetime) -> list[Occurrence]:
    return [moment for moment in moments if moment.due_at >= since]


def _labels_around(change: Change, place: ZoneInfo) -> Iterator[Label]:
    day = change.at.astimezone(place).date()
    for label in (Label(day - _DAY), Label(day), Label(day + _DAY)):
        if occurs(label, place):
            yield label
    yield from hours_of(day, place)


def _deadline(
    text: str, label: Label, schedule: Schedule, place: ZoneInfo
) -> tuple[datetime, datetime]:
    """Its wall, as far as it can be told, and its instant."""
    instant = wall_deadline(text, label, schedule, place)
    assert instant is not None
    if text.startswith(":"):
        return label.wall + _HOUR + timedelta(minutes=int(text[1:])), instant
    hour, minute = map(int, text.split(":"))
    return Label(label.day, hour, minute).wall + schedule.offset * _DAY, instant


def _grows(one: tuple[datetime, datetime], two: tuple[datetime, datetime], place: ZoneInfo) -> bool:
    """Strictly, unless the earlier wall lies in a gap: all of a gap is one instant."""
    skipped = one[1].astimezone(place).replace(tzinfo=None) != one[0]
    return one[1] < two[1] or (skipped and one[1] == two[1] == instant_of(one[0], place))


def _changes() -> Iterator[tuple[str, Change]]:
    for name, changes in _zones():
        for change in changes:
            yield name, change


def _kinds() -> Iterator[tuple[str, Change]]:
    """One change of each kind: the local time, and by how much."""
    kinds = {((_wall(each).time()), each.new - each.old): (name, each) for name, each in _changes()}
    yield from kinds.values()


@lru_cache(maxsize=1)
def _zones() -> tuple[tuple[str, tuple[Change, ...]], ...]:
    """One zone of each set of those that have always changed together."""
    alike = {tuple(_changes_of(zone(name))): name for name in sorted(known_zones())}
    return tuple((name, changes) for changes, name in alike.items())


def _changes_of(place: ZoneInfo) -> Iterator[Change]:
    moment, old = _FIRST, _offset(_FIRST, place)
    while moment < _LAST:
        new = _offset(moment + _STEP, place)
        if new != old:
            yield Change(_first_with_other_offset(moment, old, place), old, new)
        moment, old = moment + _STEP, new


def _first_with_other_offset(since: datetime, old: timedelta, place: ZoneInfo) -> datetime:
    low, high = 0, int(_STEP.total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        same = _offset(since + timedelta(seconds=middle), place) == old
        low, high = (middle, high) if same else (low, middle)
    return since + timedelta(seconds=high)


def _offset(instant: datetime, place: ZoneInfo) -> timedelta:
    return instant.astimezone(place).utcoffset() or timedelta(0)
