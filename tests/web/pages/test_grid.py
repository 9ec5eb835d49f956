"""The grid: everything stands where its date is, in whatever zone, and nothing stands in two places."""

from datetime import UTC, date, datetime, timedelta

import pytest

from contracts.samples import a_config
from declared import declared
from interlock.domain.config import Config
from interlock.domain.history import Tally
from interlock.domain.run import RunKey, Status
from interlock.queries.timeline import TimelineCell, cells_of
from interlock.web.pages.days import day_rows
from interlock.web.pages.grid import HOUR, GridRow, HourWindow, Slot, hour_rows

NOW = datetime(2026, 3, 3, 10, 30, tzinfo=UTC)
SINCE = datetime(2026, 3, 2, 0, tzinfo=UTC)
WINDOW = HourWindow(SINCE, 48, NOW)


def config_of(text: str = "") -> Config:
    return a_config(declared(text), active_since=datetime(2026, 1, 1, tzinfo=UTC))


def cell(
    when: str, status: str = "COMPLETED", schedule: str = "stream", **more: object
) -> TimelineCell:
    return TimelineCell(schedule_id=schedule, date=when, status=status, **more)  # type: ignore[arg-type]


def row_of(text: str, *cells: TimelineCell, window: HourWindow = WINDOW) -> GridRow:
    (row,) = hour_rows(config_of(text), cells, window)
    return row


def places(row: GridRow) -> dict[int, Slot]:
    """By first column."""
    found, column = {}, 0
    for slot in row.slots:
        if slot.standing is not None:
            found[column] = slot
        column += slot.columns
    return found


def test_a_row_always_fills_its_window() -> None:
    for cells in ([], [cell("2026-03-02")], [cell("2026-03-02T05"), cell("2026-03-03T23")]):
        assert sum(slot.columns for slot in row_of("", *cells).slots) == 48


def test_an_hour_is_a_column_and_a_day_is_a_day() -> None:
    assert [(at, s.columns) for at, s in places(row_of("", cell("2026-03-02T05"))).items()] == [
        (5, 1)
    ]
    assert [(at, s.columns) for at, s in places(row_of("", cell("2026-03-03"))).items()] == [
        (24, 24)
    ]


@pytest.mark.parametrize(
    ("zone", "when", "column", "columns"),
    [
        ("Europe/Berlin", "2026-03-03", 23, 24),
        ("Europe/Berlin", "2026-03-02T05", 4, 1),
        ("Asia/Kolkata", "2026-03-02T10", 4, 1),  # half past four, UTC
        ("America/New_York", "2026-03-02", 5, 24),
        ("Europe/Berlin", "2026-03-02", 0, 23),  # its first hour lies before the window
        ("America/New_York", "2026-03-03", 29, 19),  # its last hours lie behind it
    ],
)
def test_a_date_stands_where_its_zone_puts_it(
    zone: str, when: str, column: int, columns: int
) -> None:
    text = f"schedule: {{trigger: {{key: orders, check: exists}}, timezone: {zone}}}"
    found = places(row_of(text, cell(when)))
    assert [(at, slot.columns) for at, slot in found.items()] == [(column, columns)]


def test_a_day_of_23_hours_is_23_columns() -> None:
    text = "schedule: {trigger: {key: orders, check: exists}, timezone: Europe/Berlin}"
    window = HourWindow(datetime(2026, 3, 28, 12, tzinfo=UTC), 48, NOW)
    found = places(row_of(text, cell("2026-03-29"), window=window))
    assert [(at, slot.columns) for at, slot in found.items()] == [(11, 23)]


def test_dates_outside_the_window_are_nowhere() -> None:
    cells = [cell("2026-03-01T23"), cell("2026-03-04T00"), cell("2026-02-01")]
    assert places(row_of("", *cells)) == {}


def test_minutes_share_their_hour_and_the_worst_is_seen() -> None:
    cells = [cell("2026-03-02T05:00"), cell("2026-03-02T05:15", "FAILED"), cell("2026-03-02T05:30")]
    slot = places(row_of("", *cells))[5]
    assert slot.standing is not None and slot.standing.name == "failed"
    assert (slot.count, slot.alike) == (3, 1)
    assert slot.key == RunKey("silver-orders", "stream", "2026-03-02T05:15")


def test_the_line_of_now_is_in_one_slot_of_every_row() -> None:
    for cells in ([], [cell("2026-03-03")], [cell("2026-03-03T10")]):
        slots = [slot for slot in row_of("", *cells).slots if slot.now is not None]
        assert len(slots) == 1
        assert slots[0].now is not None and 0 <= slots[0].now <= slots[0].width


def test_deadlines_are_marked_for_what_is_not_done() -> None:
    text = "sla: {deadline: '09:00', expectedDuration: 30m}"  # of the next day
    waiting = row_of(text, cell("2026-03-02", "PENDING"))
    done = row_of(text, cell("2026-03-02", "COMPLETED"))
    marks = [(slot.columns, mark.at) for slot in waiting.slots for mark in slot.marks]
    assert marks == [(24, 9 * 60)]
    assert not [mark for slot in done.slots for mark in slot.marks]


def test_each_schedule_has_a_row_of_its_own() -> None:
    text = "schedules:\n- {id: a, trigger: {key: orders, check: exists}}\n- {id: b, cron: '0 6 * * *'}\n"
    rows = list(hour_rows(config_of(text), [cell("2026-03-02", schedule="b")], WINDOW))
    assert [row.schedule_id for row in rows] == ["a", "b"]
    assert not places(rows[0]) and places(rows[1])


# --- days

DAYS = [date(2026, 2, 25) + timedelta(days=n) for n in range(8)]


def tally(day: str, status: Status = Status.COMPLETED, count: int = 1) -> Tally:
    key = RunKey("silver-orders", "cron", day)
    return Tally(newest=key, status=status, sla_verdict=None, count=count)


def standings(text: str, *tallies: Tally) -> dict[str, str]:
    (row,) = day_rows(config_of(text), tallies, DAYS, NOW)
    return {
        day.isoformat(): slot.standing.name
        for day, slot in zip(DAYS, row.slots, strict=True)
        if slot.standing is not None
    }


def test_a_past_day_without_its_runs_is_missing_and_a_day_to_come_is_expected() -> None:
    found = standings("schedule: {cron: '0 6 * * *'}", tally("2026-02-25"))
    assert found["2026-02-25"] == "done"
    assert found["2026-02-26"] == found["2026-03-03"] == "missing"
    assert found["2026-03-04"] == "expected"


def test_a_moment_that_is_yet_to_come_today_is_not_missing() -> None:
    assert "2026-03-03" not in standings("schedule: {cron: '0 23 * * *'}")


def test_one_absent_hour_is_seen_among_the_others() -> None:
    hourly = "schedule: {cron: '0 * * * *'}"
    whole = [tally(f"2026-02-{day}T23", count=24) for day in (25, 26, 27, 28)]
    assert standings(hourly, *whole)["2026-02-27"] == "done"
    whole[2] = tally("2026-02-27T23", count=23)
    assert standings(hourly, *whole)["2026-02-27"] == "missing"


def test_days_that_the_calendar_excludes_are_empty() -> None:
    found = standings("schedule: {cron: '0 6 * * *', exclude: {weekends: true}}")
    assert "2026-02-28" not in found and "2026-03-01" not in found
    assert found["2026-02-27"] == "missing"


def test_what_only_readings_open_is_missing_once_its_deadline_has_passed() -> None:
    text = "sla: {deadline: '12:00', expectedDuration: 30m}"  # at noon of the next day
    found = standings(text)
    assert found["2026-03-01"] == "missing"
    assert "2026-03-02" not in found  # due at noon, and it is half past ten
    assert standings("") == {}


def test_a_day_before_the_file_was_adopted_is_empty() -> None:
    config = a_config(declared("schedule: {cron: '0 6 * * *'}"), active_since=NOW - 3 * 24 * HOUR)
    (row,) = day_rows(config, [], DAYS, NOW)
    names = [slot.standing.name if slot.standing else "" for slot in row.slots]
    assert names == ["", "", "", "", "missing", "missing", "missing", "expected"]


def test_the_shortcut_by_the_day_counts_as_the_schedule_does() -> None:
    """What a plain day has is counted once and for all; the exact way must agree, over DST too."""
    for cron in ("0 * * * *", "*/15 2 * * *", "0 6,18 * * *", "30 2 * * *"):
        text = f"schedule: {{cron: '{cron}', timezone: Europe/Berlin}}"
        config = config_of(text)
        days = [date(2026, 3, 25) + timedelta(days=n) for n in range(8)]
        now = datetime(2026, 4, 10, tzinfo=UTC)
        for day in days:
            (row,) = day_rows(config, [], [day], now)
            since = datetime(day.year, day.month, day.day, tzinfo=UTC) - 2 * HOUR
            cells = cells_of(config, [], since, since + 28 * HOUR, now)
            expected = [each for each in cells if each.date.startswith(day.isoformat())]
            assert (row.slots[0].standing is not None) == bool(expected), (cron, day)
