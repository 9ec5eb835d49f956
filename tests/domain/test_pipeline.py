"""A pipeline as declared: what follows from what its owner left out."""

from datetime import timedelta

import msgspec
import pytest

from declared import declared
from interlock.domain.check import Check
from interlock.domain.pipeline import Evaluation, Job, Rule, Sla, Trigger


@pytest.mark.parametrize(
    ("text", "schedule_id", "offset"),
    [
        ("trigger: {key: orders, check: exists}", "stream", 1),  # its data comes the day after
        ("cron: '0 6 * * *'", "cron", 0),
        ("include: {dates: [2026-03-03]}", "stream", 0),
        ("cron: '0 6 * * *', trigger: {key: orders, check: exists}", "cron", 0),
        ("id: nightly, cron: '0 6 * * *', dayOffset: 2", "nightly", 2),
    ],
)
def test_a_schedule_has_a_name_and_a_day_offset(text: str, schedule_id: str, offset: int) -> None:
    (schedule,) = declared(f"schedule: {{{text}}}").schedules
    assert (schedule.id, schedule.offset) == (schedule_id, offset)


def test_a_schedule_is_found_by_its_id() -> None:
    pipeline = declared(
        "schedules: [{id: early, cron: '0 6 * * *'}, {id: late, cron: '0 18 * * *'}]"
    )
    assert pipeline.schedule("late").cron == "0 18 * * *"
    assert pipeline.has_schedule("early")
    assert not pipeline.has_schedule("stream")
    with pytest.raises(KeyError, match="stream"):
        pipeline.schedule("stream")


@pytest.mark.parametrize(
    ("evaluation", "every"),
    [
        (Evaluation(), timedelta(minutes=5)),
        (Evaluation("2m"), timedelta(minutes=2)),  # not longer than the window
        (Evaluation("1h", "90s"), timedelta(seconds=90)),
    ],
)
def test_rules_are_judged_every_five_minutes_unless_said(
    evaluation: Evaluation, every: timedelta
) -> None:
    assert evaluation.every == every


def test_a_poll_window_of_nothing_is_the_usual_one() -> None:
    assert Job("command", job_poll_window_seconds=0).poll_window == timedelta(hours=1)
    assert Job("command", job_poll_window_seconds=60).poll_window == timedelta(minutes=1)


def test_a_trigger_is_a_rule_and_so_is_a_completion_upstream() -> None:
    assert Trigger("orders", Check.GT, "n", 5).rule == Rule("orders", Check.GT, "n", 5)
    assert Trigger(pipeline="bronze").rule == Rule("pipeline:bronze", Check.EXISTS)


@pytest.mark.parametrize(
    ("sla", "has_deadline"),
    [
        (Sla("10:00"), True),
        (Sla(max_duration="1h"), True),
        (Sla(evaluation_deadline="09:00"), False),
    ],
)
def test_by_when_rules_must_hold_is_no_deadline_of_a_run(sla: Sla, has_deadline: bool) -> None:
    assert sla.has_deadline is has_deadline


def test_a_job_is_polled_as_its_owner_says_or_by_itself() -> None:
    assert Job("command").polled_every is None
    assert Job("command", poll_interval="2m").polled_every == timedelta(minutes=2)


def test_a_schedule_is_found_by_the_ids_that_it_had() -> None:
    plain = declared("schedule: {id: nightly, cron: '0 6 * * *'}")
    assert not plain.has_schedule("cron") and plain.former_ids("nightly") == ()
    renamed = msgspec.structs.replace(plain, formerly={"cron": "nightly"})
    assert renamed.schedule("cron") is renamed.schedule("nightly")
    assert renamed.has_schedule("cron") and not renamed.has_schedule("other")
    assert renamed.former_ids("nightly") == ("cron",)
    assert renamed.present_id("other") == "other"
    assert "formerly" not in msgspec.to_builtins(plain)  # so that no hash changes
