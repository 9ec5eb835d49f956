"""A standing says from when on a schedule counts, and what its form is made of."""

from datetime import datetime, timedelta

import pytest

from declared import declared
from interlock.domain.pipeline import Calendar
from interlock.domain.standing import (
    Standing,
    changed_fields,
    deadlines_of,
    moments_of,
    standing_since,
)

NOW = datetime.fromisoformat("2026-03-03T12:00:00Z")
BEFORE = NOW - timedelta(seconds=1)


def test_what_begins_before_does_not_count_unless_it_was_carried_over() -> None:
    standing = Standing(since=NOW, deadlines_since=NOW, carried=("2026-03-02",))
    assert standing.counts("2026-03-03", NOW)
    assert not standing.counts("2026-03-03", BEFORE)
    assert standing.counts("2026-03-02", BEFORE)


def test_an_instant_before_its_deadline_was_declared_is_none() -> None:
    standing = standing_since(NOW)
    assert standing.promised(NOW) == NOW
    assert standing.promised(BEFORE) is None
    assert standing.promised(None) is None


def test_readings_of_before_open_only_what_waited_for_them() -> None:
    assert standing_since(NOW).opens(BEFORE)
    edited = Standing(since=NOW, deadlines_since=NOW, readings_since=NOW)
    assert edited.opens(NOW) and not edited.opens(BEFORE)


CLOSED = Calendar("closed", dates=("2026-03-06",))
OPEN = Calendar("closed", dates=("2026-03-07",))
CRON = "schedule: {cron: '0 6 * * *', exclude: {calendar: closed, holidays: DE}}"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("schedule: {cron: '0 7 * * *'}", ("cron",)),
        ("schedule: {cron: '0 6 * * *', timezone: Europe/Berlin}", ("timezone",)),
        ("schedule: {cron: '0 6 * * *', dayOffset: 1}", ("dayOffset",)),
        ("schedule: {cron: '0 6 * * *', exclude: {weekends: true}}", ("exclude",)),
        ("schedule: {cron: '0 6 * * *', trigger: {key: a, check: exists}}", ("trigger",)),
        (
            "schedule: {include: {dates: ['2026-03-03']}, time: '06:00'}",
            ("cron", "time", "include"),
        ),
        ("schedule: {cron: '0 6 * * *', trigger: {pipeline: up, hours: all}}", ("trigger",)),
        # none of these says when
        ("schedule: {id: other, cron: '0 6 * * *', grace: 1h, evaluation: {window: 2h}}", ()),
    ],
)
def test_the_moments_of_a_schedule_are_what_says_when(text: str, changed: tuple[str, ...]) -> None:
    (before,) = declared("schedule: {cron: '0 6 * * *'}").schedules
    (after,) = declared(text).schedules
    assert changed_fields(moments_of(before, {}), moments_of(after, {})) == changed


def test_a_calendar_that_says_other_days_is_another_form() -> None:
    before, after = declared(CRON, CLOSED), declared(CRON, OPEN)
    forms = [moments_of(each.schedules[0], each.calendars) for each in (before, after)]
    assert changed_fields(*forms) == ("calendar",)


def test_deadlines_are_those_of_the_sla() -> None:
    before, after = declared("sla: {deadline: '09:00'}"), declared("sla: {deadline: '10:00'}")
    assert changed_fields(deadlines_of(before), deadlines_of(after)) == ("deadline",)
    assert changed_fields(deadlines_of(declared()), deadlines_of(before)) == ("deadline",)
    assert deadlines_of(declared("sla: {deadline: '09:00', critical: true}")) == deadlines_of(
        before
    )


def test_what_a_trigger_reading_must_say_is_a_rule_and_no_moment() -> None:
    text = "schedule: {{trigger: {{key: orders, check: gte, field: count, value: {}}}}}"
    (before,), (after,) = (declared(text.format(n)).schedules for n in (1000, 800))
    assert moments_of(before, {}) == moments_of(after, {})
