"""Edits of a file in force: the form before answers for what lies before, the new one for what lies after."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from interlock.domain.config import Config
from interlock.domain.event import EventType, Severity
from interlock.domain.run import DeadlineKind, RunKey, Status
from interlock.queries.why import explain
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.foresee_edit import foresee_edit
from interlock.usecases.foresee_files import foresee_files
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.pause import pause
from interlock.usecases.watch import watch
from usecases.home import CADENCE, NOW, Home, assert_a_crash_changes_nothing

# NOW is 2026-03-03, eight in the morning
CRON = "schedule: {cron: '30 8 * * *', evaluation: {window: 20m}}"
NIGHTLY = CRON.replace("{cron", "{id: nightly, cron")
EVENING = CRON.replace("30 8", "30 18")
DATE = "2026-03-03"
OLD, NEW = RunKey("silver-orders", "cron", DATE), RunKey("silver-orders", "nightly", DATE)
REPEATED, MISSED = EventType.DATE_ALREADY_RUN, EventType.SCHEDULE_MISSED


def in_force(home: Home) -> Config:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    return config


def fired(home: Home, schedule: str = "cron") -> None:
    """At its moment."""
    home.clock.now = NOW + timedelta(minutes=30)
    fire_cron("silver-orders", schedule, home.ports)


def keys(home: Home) -> list[RunKey]:
    return [run.key for run in home.store.runs.of_pipeline("silver-orders", "0000", "9999", 10)]


# --- a schedule that is renamed


def test_a_date_that_ran_under_the_former_id_is_not_opened_again(home: Home) -> None:
    home.adopt(CRON)
    fired(home)
    config = home.adopt(NIGHTLY)
    assert config.standing("nightly") == config.standing("cron")
    assert config.standing("nightly").since == NOW
    for schedule in ("nightly", "cron"):  # a timer of the file before may fire yet
        fire_cron("silver-orders", schedule, home.ports)
    watch(CADENCE, home.ports)
    assert keys(home) == [OLD]
    assert home.events(REPEATED) == []


def test_a_moment_under_the_former_id_opens_the_date_of_the_present_one(home: Home) -> None:
    home.adopt(CRON)
    home.adopt(NIGHTLY)
    fired(home, "cron")
    assert keys(home) == [NEW]


def test_a_date_that_was_reported_missed_is_not_reported_again(home: Home) -> None:
    home.adopt(CRON)
    home.store.timers.cancel(list(home.armed()))
    home.pass_time(minutes=51)
    watch(CADENCE, home.ports)
    assert [event.schedule_id for event in home.events(MISSED)] == ["cron"]
    home.adopt(NIGHTLY)
    home.pass_time(minutes=5)
    watch(CADENCE, home.ports)
    assert len(home.events(MISSED)) == 1


def test_what_was_said_of_a_deadline_stays_said(home: Home) -> None:
    text = "schedule: {{{}trigger: {{key: orders, check: exists}}}}\nsla: {{deadline: '09:00'}}"
    home.adopt(text.format(""))
    home.store.pipelines.save(_older(in_force(home)))
    day = RunKey("silver-orders", "stream", "2026-03-02")
    home.pass_time(hours=1)
    assert fire_deadline(day, DeadlineKind.BREACH, home.ports)
    home.adopt(text.format("id: daily, "))
    for name in ("stream", "daily"):
        again = msgspec.structs.replace(day, schedule_id=name)
        assert not fire_deadline(again, DeadlineKind.BREACH, home.ports)
        assert arm_deadlines(again, in_force(home), home.ports) == []
    assert len(home.events(EventType.SLA_BREACH)) == 1


def _older(config: Config) -> Config:
    since = NOW - timedelta(days=3)
    return msgspec.structs.replace(
        config, version=config.version + 1, active_since=since, standings={}
    )


@pytest.mark.parametrize("schedule", ["cron", "nightly"])
def test_a_rerun_under_either_id_runs_the_date_again(home: Home, schedule: str) -> None:
    home.adopt(CRON)
    fired(home)
    home.adopt(NIGHTLY)
    request = home.request(key=RunKey("silver-orders", schedule, DATE), force=True)
    judge_rerun(request, home.ports)
    assert keys(home) == [OLD]
    other = home.request(key=RunKey("silver-orders", schedule, "2026-03-02"))
    judge_rerun(other, home.ports)
    assert RunKey("silver-orders", "nightly", "2026-03-02") in keys(home)


def test_why_tells_of_the_run_under_the_former_id(home: Home) -> None:
    home.adopt(CRON)
    fired(home)
    home.adopt(NIGHTLY)
    (why,) = explain("silver-orders", home.ports)
    assert (why.schedule_id, why.date, why.status) == ("nightly", DATE, Status.PENDING)


# --- moments that change


def test_a_moment_before_the_edit_is_not_fired(home: Home) -> None:
    home.adopt(EVENING)
    home.pass_time(minutes=40)
    config = home.adopt(CRON)
    assert config.standing("cron").since == home.clock()
    fire_cron("silver-orders", "cron", home.ports)
    watch(CADENCE, home.ports)
    home.pass_time(hours=1)
    watch(CADENCE, home.ports)
    assert keys(home) == [] and home.events(MISSED) == []


def test_a_timer_that_was_about_to_fire_is_not_lost_to_an_edit(home: Home) -> None:
    home.adopt(CRON)
    home.pass_time(minutes=30, seconds=1)
    home.adopt(CRON.replace("30 8", "0 6"))
    assert keys(home) == [OLD]


def test_a_date_that_comes_again_is_reported_once_and_not_run(home: Home) -> None:
    home.adopt(CRON)
    fired(home)
    home.adopt(EVENING)
    adopted = home.events(EventType.CONFIG_ADOPTED)[-1]
    assert adopted.severity is Severity.WARNING
    assert adopted.detail["schedules"][0]["repeated"] == [DATE]
    home.clock.now = NOW.replace(hour=18, minute=30)
    for _ in range(2):
        fire_cron("silver-orders", "cron", home.ports)
    event = home.event(REPEATED)
    assert event.detail["runStatus"] == "PENDING"
    assert event.detail["due"] == "2026-03-03T18:30:00Z"
    assert [run.attempt for run in home.store.runs.of_pipeline(None, "0000", "9999", 9)] == [0]


def test_what_was_due_before_the_edit_is_reported_by_the_file_before(home: Home) -> None:
    home.adopt(CRON)
    home.store.timers.cancel(list(home.armed()))
    forgotten = msgspec.structs.replace(in_force(home), armed={})
    home.store.pipelines.save(msgspec.structs.replace(forgotten, version=forgotten.version + 1))
    home.pass_time(hours=1)
    home.adopt(CRON.replace("30 8", "0 6"))
    event = home.event(MISSED)
    assert event.detail["cron"] == "30 8 * * *"
    assert keys(home) == []


def test_what_fell_into_a_pause_is_reported_by_the_file_before(home: Home) -> None:
    home.adopt(CRON)
    pause("silver-orders", home.ports)
    home.pass_time(minutes=35)
    home.adopt(CRON.replace("30 8", "0 6"))
    assert home.event(MISSED).detail["cause"] == "paused"
    assert keys(home) == []


def test_a_reading_without_effect_yet_counts_by_the_old_file(home: Home) -> None:
    home.adopt()
    home.reading(date="2026-03-03")
    home.pass_time(minutes=1)
    home.adopt("schedule: {trigger: {key: other, check: exists}}")
    (run,) = home.store.runs.of_pipeline(None, "0000", "9999", 9)
    assert run.opened_for == "orders"


def test_an_old_reading_opens_nothing_and_a_new_one_does(home: Home) -> None:
    home.adopt()
    home.admit("other", date=DATE)
    home.pass_time(minutes=1)
    home.adopt("schedule: {trigger: {key: other, check: exists}}")
    for _ in range(3):
        home.pass_time(minutes=5)
        watch(CADENCE, home.ports)
    assert keys(home) == []
    home.admit("other", date=DATE)
    assert [key.date for key in keys(home)] == [DATE]


def test_a_reading_of_a_date_that_ran_on_the_former_trigger_is_no_late_data(home: Home) -> None:
    home.adopt()
    home.completed()
    home.pass_time(minutes=1)
    home.adopt("schedule: {trigger: {key: other, check: exists}}")
    home.admit("other", date=DATE)
    for _ in range(3):
        home.pass_time(minutes=5)
        watch(CADENCE, home.ports)
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []
    assert home.event(REPEATED).detail["key"] == "other"
    assert home.events(EventType.TRIGGER_RECOVERED) == []


def test_a_changed_reading_of_a_date_that_ran_on_the_same_trigger_is_late_data(home: Home) -> None:
    home.adopt()
    home.completed()
    home.pass_time(minutes=1)
    home.adopt("schedule: {trigger: {key: orders, check: exists}, dayOffset: 2}")
    home.admit(date=DATE, count=2)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1


# --- what does not change


@pytest.mark.parametrize(
    "more",
    [
        "validation: {rules: [{key: b, check: exists}]}",
        "job: {type: command, config: {command: [x]}}",
    ],
)
def test_an_edit_that_says_nothing_of_when_resets_nothing(home: Home, more: str) -> None:
    home.adopt(CRON + "\nsla: {deadline: '10:00'}")
    home.pass_time(minutes=5)
    config = home.adopt(CRON + "\nsla: {deadline: '10:00'}\n" + more)
    assert config.standing("cron").since == config.standing("cron").deadlines_since == NOW
    assert home.events(EventType.CONFIG_ADOPTED)[-1].message == "the changed file is in force"


def test_a_pipeline_that_returns_starts_over_and_knows_its_former_ids(home: Home) -> None:
    home.adopt(CRON)
    fired(home)
    home.take_away()
    home.pass_time(hours=1)
    config = home.adopt(NIGHTLY)
    assert config.standing("nightly").since == config.standing("cron").since == home.clock()
    assert config.pipeline.former_ids("nightly") == ("cron",)


def test_a_config_of_the_version_before_counts_since_it_is_active(home: Home) -> None:
    home.adopt(CRON)
    home.store.pipelines.save(_older(in_force(home)))
    assert in_force(home).standing("cron").since == NOW - timedelta(days=3)
    config = home.adopt(NIGHTLY)
    assert config.standing("nightly").since == NOW - timedelta(days=3)


def test_dying_anywhere_in_an_edit_changes_nothing() -> None:
    def story(home: Home) -> Any:
        home.adopt(CRON)
        home.pass_time(minutes=30, seconds=1)
        home.want(CRON.replace("30 8", "0 6"))

    assert_a_crash_changes_nothing(story, lambda home: adopt_config("silver-orders", home.ports))


# --- beforehand


def test_what_is_foreseen_is_what_is_adopted(home: Home) -> None:
    home.adopt(CRON)
    fired(home)
    name = home.want(EVENING)
    wanted = home.store.pipelines.wanted(name)
    assert wanted is not None
    (foreseen,) = foresee_files({name: wanted.config}, False, home.ports)
    assert in_force(home).standing("cron").since == NOW  # nothing was done
    adopt_config(name, home.ports)
    adopted = home.events(EventType.CONFIG_ADOPTED)[-1]
    assert list(foreseen.schedules) == adopted.detail["schedules"]
    assert foresee_edit(None, in_force(home).pipeline, NOW, home.ports).formerly == {}
