"""Labels of runs, and the way between label, zone and instant."""

from datetime import UTC, date, datetime, timedelta

import pytest

from interlock.domain.partition import (
    Grain,
    Label,
    hours_of,
    instant_of,
    label_at,
    labels_between,
    occurs,
    shifted,
    starts_at,
    utc,
    within_calendar,
)
from interlock.domain.zones import zone

BERLIN, NEW_YORK = zone("Europe/Berlin"), zone("America/New_York")
APIA, LORD_HOWE = zone("Pacific/Apia"), zone("Australia/Lord_Howe")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "dashed", "grain"),
    [
        ("2026-03-03", "2026-03-03", Grain.DAY),
        ("20260303", "2026-03-03", Grain.DAY),
        ("2026-03-03T07", "2026-03-03T07", Grain.HOUR),
        ("20260303T07", "2026-03-03T07", Grain.HOUR),
        ("2026-03-03T07:05", "2026-03-03T07:05", Grain.MINUTE),
        ("20260303T0705", "2026-03-03T07:05", Grain.MINUTE),
        ("0099-01-01", "0099-01-01", Grain.DAY),
        ("0099-01-01T07", "0099-01-01T07", Grain.HOUR),
    ],
)
def test_both_spellings_are_the_same_label(text: str, dashed: str, grain: Grain) -> None:
    label = Label.parse(text)
    assert (str(label), label.grain) == (dashed, grain)
    assert Label.parse(label.compact) == label


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30",
        "2026-3-3",
        "2026-03-03T24",
        "2026-03-03T10:60",
        "2026-03-03T1015",  # half of each spelling
        "20260303T10:15",
        "2026-03-03 ",
        "2026-03-03\n",
        "٢026-03-03",  # a digit, but not ours
        "today",
        "",
    ],
)
def test_what_is_not_a_label_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Label.parse(text)


def test_labels_of_one_grain_sort_as_their_texts_do() -> None:
    labels = [Label.parse(text) for text in ("2026-03-03T09", "2026-03-03T10", "2026-03-04T00")]
    assert sorted(labels) == labels


def test_an_instant_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 3, 3)  # noqa: DTZ001 - that is the point
    with pytest.raises(ValueError, match="has no zone"):
        utc(naive)
    with pytest.raises(ValueError, match="has no zone"):
        label_at(naive, BERLIN, Grain.DAY)


def test_an_instant_belongs_to_the_label_of_its_zone() -> None:
    instant = at("2026-03-03T23:30:00Z")
    assert str(label_at(instant, BERLIN, Grain.DAY)) == "2026-03-04"
    assert str(label_at(instant, NEW_YORK, Grain.HOUR)) == "2026-03-03T18"
    assert str(label_at(instant, NEW_YORK, Grain.MINUTE)) == "2026-03-03T18:30"


@pytest.mark.parametrize(
    ("wall", "instant"),
    [
        ("2026-03-03T08:00", "2026-03-03T07:00Z"),
        ("2026-03-29T02:30", "2026-03-29T01:00Z"),  # in the gap: the first instant after it
        ("2026-03-29T03:00", "2026-03-29T01:00Z"),
        ("2026-10-25T02:30", "2026-10-25T00:30Z"),  # in the fold: the first time
        ("2026-10-25T03:00", "2026-10-25T02:00Z"),
    ],
)
def test_a_wall_time_is_one_instant(wall: str, instant: str) -> None:
    assert instant_of(at(wall), BERLIN) == at(instant)


def test_a_skipped_label_never_occurs() -> None:
    assert not occurs(Label.parse("2026-03-29T02"), BERLIN)
    assert not occurs(Label.parse("2011-12-30"), APIA)  # the day that Samoa left out
    assert starts_at(Label.parse("2011-12-30"), APIA) == at("2011-12-30T10:00Z")


def test_a_label_that_is_skipped_in_part_occurs() -> None:
    half = Label.parse("2026-10-04T02")  # the gap is from 02:00 to 02:30
    assert not occurs(Label(half.day, 2, 10), LORD_HOWE)
    assert label_at(starts_at(half, LORD_HOWE), LORD_HOWE, Grain.HOUR) == half


def test_a_day_has_the_hours_that_its_clocks_show() -> None:
    assert len(list(hours_of(date(2026, 3, 29), BERLIN))) == 23
    assert len(list(hours_of(date(2026, 10, 25), BERLIN))) == 24  # one of them twice as long
    assert list(hours_of(date(2011, 12, 30), APIA)) == []


@pytest.mark.parametrize("text", ["9999-12-31", "0001-01-01", "9999-12-31T23:59"])
def test_the_ends_of_the_calendar_have_instants(text: str) -> None:
    label = Label.parse(text)
    for each in (BERLIN, NEW_YORK, APIA):
        assert starts_at(label, each).astimezone(each).year in (1, 9999)
        assert occurs(label, each)


def test_no_shift_leaves_the_calendar() -> None:
    last = Label.parse("9999-12-31").wall
    assert shifted(last, timedelta(days=7)) <= last
    assert shifted(last, timedelta(days=-7)) == last - timedelta(days=7)
    assert shifted(datetime(1, 1, 1, tzinfo=UTC), timedelta(days=-1)).tzinfo is UTC


def test_a_search_stays_a_month_within_the_calendar() -> None:
    first, last = (datetime(*ends, tzinfo=UTC) for ends in ((1, 1, 1), (9999, 12, 31)))
    assert within_calendar(first) - timedelta(days=30) > first
    assert within_calendar(last) + timedelta(days=29) < last
    assert within_calendar(at("2026-03-03T08:00:00+08:00")) == at("2026-03-03T00:00Z")


def labels(since: str, until: str, zone_name: str, grain: Grain) -> list[str]:
    found = labels_between(at(since), at(until), zone(zone_name), grain)
    return [str(label) for label in found]


def test_labels_between_are_those_that_begin_there() -> None:
    days = labels("2026-03-02T23:00Z", "2026-03-04T23:00Z", "Europe/Berlin", Grain.DAY)
    assert days == ["2026-03-03", "2026-03-04"]
    hours = labels("2026-03-03T08:00:01Z", "2026-03-03T10:00:01Z", "UTC", Grain.HOUR)
    assert hours == ["2026-03-03T09", "2026-03-03T10"]
    assert labels("2026-03-03T08:01Z", "2026-03-03T08:30Z", "UTC", Grain.HOUR) == []


def test_labels_between_leave_out_what_the_clocks_skip() -> None:
    hours = labels("2026-03-29T00:00Z", "2026-03-29T02:00Z", "Europe/Berlin", Grain.HOUR)
    assert hours == ["2026-03-29T01", "2026-03-29T03"]
    days = labels("2011-12-29T10:00Z", "2011-12-31T10:00Z", "Pacific/Apia", Grain.DAY)
    assert days == ["2011-12-29", "2011-12-31"]


def test_labels_between_name_a_repeated_hour_once() -> None:
    hours = labels("2026-10-25T00:00Z", "2026-10-25T03:00Z", "Europe/Berlin", Grain.HOUR)
    assert hours == ["2026-10-25T02", "2026-10-25T03"]


def test_labels_between_see_a_day_that_the_clocks_take_back() -> None:
    # St. John's went from 00:01 back to 23:01 of the day before
    since, until = "2006-10-29T02:30Z", "2006-10-29T02:45Z"
    assert labels(since, until, "America/St_Johns", Grain.DAY) == ["2006-10-29"]
    assert labels(since, until, "America/St_Johns", Grain.HOUR) == ["2006-10-29T00"]
