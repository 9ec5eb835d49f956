"""An edit: which schedule is which, from when on each counts, and which dates it costs."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
import pytest

from declared import declared
from interlock.domain.edit_events import as_detail, in_words, line_of, loses_dates
from interlock.domain.edits import (
    Edit,
    EditKind,
    ScheduleEdit,
    dates_ahead,
    doubtful_dates,
    edit_of,
    paired,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.standing import Standing, standing_since

LONG_AGO = datetime.fromisoformat("2026-01-01T00:00:00Z")
NOW = datetime.fromisoformat("2026-03-02T12:00:00Z")
CRON = "schedule: {cron: '0 6 * * *'}"
NIGHTLY = "schedule: {id: nightly, cron: '0 6 * * *'}"
SENSOR = "schedule: {trigger: {key: orders, check: exists}}"
TWO = "schedules: [{id: a, cron: '0 6 * * *'}, {id: b, cron: '0 18 * * *'}]"


def edit(
    before: str, after: str, now: datetime = NOW, ran: Mapping[str, set[str]] | None = None
) -> Edit:
    old = declared(before)
    return edit_of(old, long_standing(old), declared(after), now, ran)


def long_standing(pipeline: Pipeline) -> dict[str, Standing]:
    return {each.id: standing_since(LONG_AGO) for each in pipeline.schedules}


def only(found: Edit) -> ScheduleEdit:
    (each,) = found.schedules
    return each


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (CRON, CRON, {"cron": "cron"}),
        (CRON, NIGHTLY, {"nightly": "cron"}),  # equal moments
        (SENSOR, CRON, {"cron": "stream"}),  # the only one stays the only one
        (CRON, TWO, {"a": "cron"}),
        (TWO, CRON, {"cron": "a"}),
        (TWO, "schedules: [{id: b, cron: '0 6 * * *'}, {id: a, cron: '0 18 * * *'}]",
         {"a": "a", "b": "b"}),  # the id decides
        (TWO, "schedules: [{id: a, cron: '0 7 * * *'}, {id: c, cron: '0 9 * * *'}]", {"a": "a"}),
        # two alike are taken in turn
        ("schedules: [{id: a, cron: '0 6 * * *'}, {id: b, cron: '0 6 * * *'}]",
         "schedules: [{id: c, cron: '0 6 * * *'}, {id: d, cron: '0 6 * * *'}]",
         {"c": "a", "d": "b"}),
    ],
)  # fmt: skip
def test_which_schedule_is_which(before: str, after: str, expected: dict[str, str]) -> None:
    assert paired(declared(before), declared(after)) == expected


def test_a_new_pipeline_counts_from_now_and_takes_the_readings_that_waited() -> None:
    found = edit_of(None, {}, declared(CRON), NOW)
    assert found.standings == {"cron": standing_since(NOW)}
    assert only(found).kind is EditKind.NEW
    assert found.formerly == {}
    assert doubtful_dates(None, {}, declared(CRON), NOW) == {}


def test_a_schedule_that_is_added_counts_from_now_and_takes_no_old_reading() -> None:
    found = edit(CRON, "schedules: [{id: cron, cron: '0 6 * * *'}, {id: b, cron: '0 7 * * *'}]")
    assert [each.kind for each in found.schedules] == [EditKind.UNCHANGED, EditKind.NEW]
    assert found.standings["cron"] == standing_since(LONG_AGO)
    assert found.standings["b"] == Standing(since=NOW, deadlines_since=NOW, readings_since=NOW)


def test_what_says_nothing_of_when_changes_nothing() -> None:
    found = edit(CRON, CRON + "\nvalidation: {rules: [{key: other, check: exists}]}")
    assert found.standings == {"cron": standing_since(LONG_AGO)}
    assert only(found).kind is EditKind.UNCHANGED
    assert not loses_dates(found)
    assert in_words("in force", found) == "in force"
    assert dates_ahead(declared(CRON), declared(CRON), NOW) == {}


def test_a_renamed_schedule_goes_on_under_both_ids() -> None:
    found = edit(CRON, NIGHTLY)
    assert found.standings == dict.fromkeys(("nightly", "cron"), standing_since(LONG_AGO))
    assert found.formerly == {"cron": "nightly"}
    assert line_of(only(found)) == "nightly was cron and continues with its dates"
    assert as_detail(only(found))["formerly"] == "cron"


def test_former_ids_are_kept_until_another_schedule_has_them() -> None:
    nightly = edit_of(declared(CRON), long_standing(declared(CRON)), declared(NIGHTLY), NOW)
    renamed = renamed_from(declared(NIGHTLY), nightly.formerly)
    third = "schedule: {id: third, cron: '0 6 * * *'}"
    again = edit_of(renamed, long_standing(renamed), declared(third), NOW)
    assert again.formerly == {"cron": "third", "nightly": "third"}
    taken = "schedules: [{id: nightly, cron: '0 6 * * *'}, {id: cron, cron: '0 9 * * *'}]"
    assert edit_of(renamed, long_standing(renamed), declared(taken), NOW).formerly == {}


def renamed_from(pipeline: Pipeline, formerly: dict[str, str]) -> Pipeline:
    return msgspec.structs.replace(pipeline, formerly=formerly)


def test_other_moments_count_from_now() -> None:
    found = edit(CRON, "schedule: {cron: '0 18 * * *'}", ran={"cron": {"2026-03-02"}})
    assert found.standings["cron"].since == NOW
    assert found.standings["cron"].readings_since == NOW
    changed = only(found)
    assert (changed.changed, changed.repeated, changed.skipped) == (("cron",), ("2026-03-02",), ())
    assert loses_dates(found)
    assert line_of(changed) == (
        "cron changed: cron; counts since 2026-03-02T12:00:00Z, does not repeat 2026-03-02"
    )


def test_a_date_that_has_not_run_is_left_to_the_new_moment() -> None:
    assert only(edit(CRON, "schedule: {cron: '0 18 * * *'}")).repeated == ()
    ahead = dates_ahead(declared(CRON), declared("schedule: {cron: '0 18 * * *'}"), NOW)
    assert ahead == {"cron": ["2026-03-02"]}


def test_a_date_whose_new_moment_is_over_is_skipped() -> None:
    later, earlier = "schedule: {cron: '0 18 * * *'}", "schedule: {cron: '0 6 * * *'}"
    assert only(edit(later, earlier)).skipped == ("2026-03-02",)
    assert only(edit(later, earlier, ran={"cron": {"2026-03-02"}})).skipped == ()
    assert line_of(only(edit(later, earlier))).endswith("skips 2026-03-02")


def test_a_zone_in_the_west_brings_hours_again_and_one_in_the_east_skips_them() -> None:
    hourly = "schedule: {{cron: '0 * * * *', timezone: {}}}"
    berlin, tokyo = hourly.format("Europe/Berlin"), hourly.format("Asia/Tokyo")
    ran = {"cron": {f"2026-03-02T{hour:02}" for hour in range(14)}}
    west = only(edit(berlin, hourly.format("America/New_York"), NOW + timedelta(minutes=1), ran))
    assert west.repeated == tuple(f"2026-03-02T{hour:02}" for hour in range(8, 14))
    east = only(edit(berlin, tokyo, NOW + timedelta(minutes=1), ran))
    assert east.skipped == tuple(f"2026-03-02T{hour:02}" for hour in range(14, 22))
    assert "skips 2026-03-02T14 to 2026-03-02T21 (8 dates)" in line_of(east)


def test_dates_that_began_and_whose_deadline_is_ahead_are_carried_over() -> None:
    text = "schedule: {{trigger: {{key: {}, check: exists, deadline: '15:00'}}}}\n"
    before, after = text.format("orders"), text.format("copied")
    # the day offset is 1: the deadlines of yesterday are today's, those of today are tomorrow's
    assert edit(before, after).standings["stream"].carried == ("2026-03-01", "2026-03-02")
    late = datetime.fromisoformat("2026-03-02T16:00:00Z")
    assert edit(before, after, late).standings["stream"].carried == ("2026-03-02",)
    sla = SENSOR + "\nsla: {deadline: '13:00'}"
    moved = "schedule: {trigger: {key: copied, check: exists}}\nsla: {deadline: '13:00'}"
    assert edit(sla, moved).standings["stream"].carried == ("2026-03-01", "2026-03-02")
    ready = sla.replace("deadline", "evaluationDeadline")
    assert edit(ready, moved).standings["stream"].carried == ("2026-03-01", "2026-03-02")
    dry = sla + "\ndryRun: true"
    assert edit(dry, moved).standings["stream"].carried == ()


def test_what_the_form_before_did_not_look_after_is_not_carried() -> None:
    old = declared(SENSOR + "\nsla: {deadline: '13:00'}")
    young = {"stream": standing_since(NOW - timedelta(hours=1))}
    moved = declared("schedule: {trigger: {key: b, check: exists}}\nsla: {deadline: '13:00'}")
    assert edit_of(old, young, moved, NOW).standings["stream"].carried == ()


def test_a_deadline_that_moves_into_the_past_is_named() -> None:
    text = "schedule: {{trigger: {{key: orders, check: exists}}, dayOffset: 0}}\nsla: {{deadline: '{}'}}"
    found = edit(text.format("15:00"), text.format("09:00"))
    assert found.standings["stream"] == Standing(since=LONG_AGO, deadlines_since=NOW)
    assert only(found).overtaken == ("2026-03-02",)
    assert only(found).changed == ("sla.deadline",)
    assert line_of(only(found)).endswith("the deadline of 2026-03-02 has passed")
    assert doubtful_dates(
        declared(text.format("15:00")),
        long_standing(declared(SENSOR)),
        declared(text.format("09:00")),
        NOW,
    ) == {"stream": {"2026-03-02"}}
    assert only(edit(text.format("09:00"), text.format("15:00"))).overtaken == ()


def test_a_schedule_that_is_gone_is_named() -> None:
    found = edit(TWO, "schedule: {id: a, cron: '0 6 * * *'}")
    assert [(each.schedule, each.kind) for each in found.schedules] == [
        ("a", EditKind.UNCHANGED),
        ("b", EditKind.REMOVED),
    ]
    assert in_words("in force", found) == "in force; b is removed"


def test_only_a_renamed_schedule_may_have_changed_too() -> None:
    found = only(edit(SENSOR, CRON))
    assert (found.kind, found.formerly) == (EditKind.CHANGED, "stream")
    assert line_of(found).startswith("cron (formerly stream) changed: cron, dayOffset, trigger; ")


def test_of_many_dates_some_are_shown() -> None:
    many = tuple(f"2026-03-02T{n // 60:02}:{n % 60:02}" for n in range(30))
    made = ScheduleEdit(schedule="a", kind=EditKind.CHANGED, since=NOW, skipped=many)
    assert as_detail(made)["skipped"][-1] == "and 10 more"
    assert line_of(ScheduleEdit(schedule="a", kind=EditKind.NEW, since=NOW)).startswith("a is new")
    assert (
        line_of(ScheduleEdit(schedule="a", kind=EditKind.UNCHANGED, since=NOW)) == "a is unchanged"
    )


def test_what_may_come_again_must_be_looked_up() -> None:
    before, after = declared(CRON), declared("schedule: {cron: '0 18 * * *'}")
    assert doubtful_dates(before, long_standing(before), after, NOW) == {"cron": {"2026-03-02"}}
    assert doubtful_dates(before, long_standing(before), declared(NIGHTLY), NOW) == {}
