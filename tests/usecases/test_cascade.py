"""Cascade: a completion is a reading for every pipeline that waits for it."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.samples import a_run
from interlock.domain.event import EventType
from interlock.domain.run import RunKey, Status
from interlock.domain.sensor import Reading
from interlock.usecases.cascade import cascade
from usecases.home import NOW, Home, assert_a_crash_changes_nothing

GOLD = "pipeline: {id: gold}\nschedule: {trigger: {pipeline: silver-orders}}"
WHOLE = "pipeline: {id: gold}\nschedule: {trigger: {pipeline: silver-orders, hours: all}}"
HOURLY = "schedule: {cron: '0 * * * *', timezone: Europe/Berlin}"


def complete(
    home: Home, date: str, schedule: str = "stream", attempt: int = 0, at: datetime = NOW
) -> None:
    """An upstream run is done, and reported to the pipelines that wait."""
    key = RunKey("silver-orders", schedule, date)
    run = a_run(key, at, status=Status.COMPLETED, completed_at=at, attempt=attempt)
    if not home.store.runs.open(run):
        home.database.write(
            lambda connection: connection.execute(
                "DELETE FROM runs WHERE pipeline = ? AND date = ?", (key.pipeline_id, date)
            )
        )
        assert home.store.runs.open(run)
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    cascade(run, config.pipeline, home.ports)


def readings(home: Home) -> dict[str, Reading]:
    return {each.key: each for each in home.store.sensors.of_pipeline("gold")}


def test_a_completion_is_written_where_it_is_waited_for(home: Home) -> None:
    home.adopt()
    home.adopt(GOLD)
    home.adopt("pipeline: {id: bystander}")
    complete(home, "2026-03-03")
    (reading,) = readings(home).values()
    assert reading.key == "pipeline:silver-orders#2026-03-03"
    assert reading.fields == {
        "schedule": "stream", "attempt": 0, "completedAt": "2026-03-03T08:00:00Z",
    }  # fmt: skip
    assert home.store.sensors.of_pipeline("bystander") == []


def test_it_opens_the_same_date_downstream(home: Home) -> None:
    home.adopt()
    home.adopt(GOLD)
    home.completed()
    home.settle()
    run = home.run(RunKey("gold", "stream", "2026-03-03"))
    assert (run.opened_by, run.opened_for) == ("cascade", "pipeline:silver-orders#2026-03-03")


def test_the_same_completion_again_writes_nothing(home: Home) -> None:
    home.adopt()
    home.adopt(GOLD)
    complete(home, "2026-03-03")
    before = readings(home)
    home.pass_time(minutes=5)
    complete(home, "2026-03-03")
    assert readings(home) == before  # not even a later time


def test_a_rerun_that_completes_again_is_late_data_downstream(home: Home) -> None:
    home.adopt()
    home.adopt(GOLD + "\nvalidation: {rules: [{key: 'pipeline:silver-orders', check: exists}]}")
    complete(home, "2026-03-03")
    home.settle()
    home.pass_time(minutes=1)
    home.settle()
    assert home.run(RunKey("gold", "stream", "2026-03-03")).status is Status.COMPLETED
    complete(home, "2026-03-03", attempt=1, at=home.pass_time(hours=1))
    home.settle()
    assert home.event(EventType.LATE_DATA_ARRIVAL).pipeline_id == "gold"


@pytest.mark.parametrize(
    ("day", "hours"),
    [
        ("2026-03-03", [f"{hour:02}" for hour in range(24)]),
        ("2026-03-29", [f"{hour:02}" for hour in range(24) if hour != 2]),  # 23 hours
        ("2026-10-25", [f"{hour:02}" for hour in range(24)]),  # 25 hours, 24 labels
    ],
)
def test_a_whole_day_opens_when_its_last_hour_is_done(
    home: Home, day: str, hours: list[str]
) -> None:
    home.adopt(HOURLY)
    home.adopt(WHOLE)
    *most, last = hours
    for hour in most:
        complete(home, f"{day}T{hour}", "cron")
    assert readings(home) == {}
    complete(home, f"{day}T{last}", "cron")
    (reading,) = readings(home).values()
    assert reading.key == f"pipeline:silver-orders#{day}"
    assert sorted(reading.fields["hours"]) == hours


@pytest.mark.parametrize(
    ("schedule", "day", "parts"),
    [
        ("cron: '0 8-18 * * *'", "2026-03-03", [f"{hour:02}" for hour in range(8, 19)]),
        ("cron: '0,30 9-10 * * *'", "2026-03-03", ["09:00", "09:30", "10:00", "10:30"]),
        (
            "cron: '0 */6 * * *', timezone: Australia/Lord_Howe",  # half an hour is skipped
            "2026-10-04",
            ["00", "06", "12", "18"],
        ),
        (
            "trigger: {key: orders, check: exists}, timezone: Australia/Lord_Howe",
            "2026-10-04",
            [f"{hour:02}" for hour in range(24)],
        ),
    ],
)
def test_a_whole_day_is_what_the_upstream_expects_of_it(
    home: Home, schedule: str, day: str, parts: list[str]
) -> None:
    home.adopt(f"schedule: {{{schedule}}}")
    home.adopt(WHOLE)
    name = "cron" if "cron" in schedule else "stream"
    for part in parts:
        assert readings(home) == {}
        complete(home, f"{day}T{part}", name)
    (reading,) = readings(home).values()
    assert sorted(reading.fields["hours"]) == parts


def test_the_hours_may_be_done_in_any_order(home: Home) -> None:
    home.adopt(HOURLY)
    home.adopt(WHOLE)
    for hour in (*range(5, 24), *range(5)):
        assert readings(home) == {}
        complete(home, f"2026-03-03T{hour:02}", "cron")
    assert len(readings(home)) == 1


def test_an_hour_that_is_run_again_changes_the_day(home: Home) -> None:
    home.adopt(HOURLY)
    home.adopt(WHOLE)
    for hour in range(24):
        complete(home, f"2026-03-03T{hour:02}", "cron")
    (before,) = readings(home).values()
    complete(home, "2026-03-03T07", "cron", attempt=1, at=NOW + timedelta(hours=1))
    (after,) = readings(home).values()
    assert after.version != before.version


def test_an_hour_that_failed_keeps_the_day_waiting(home: Home) -> None:
    home.adopt(HOURLY)
    home.adopt(WHOLE)
    failed = a_run(RunKey("silver-orders", "cron", "2026-03-03T00"), status=Status.FAILED_FINAL)
    home.store.runs.open(failed)
    for hour in range(1, 24):
        complete(home, f"2026-03-03T{hour:02}", "cron")
    assert readings(home) == {}


def test_a_daily_upstream_is_a_whole_day_already(home: Home) -> None:
    home.adopt()
    home.adopt(WHOLE)
    complete(home, "2026-03-03")
    assert set(readings(home)) == {"pipeline:silver-orders#2026-03-03"}


def test_without_all_each_hour_opens_its_hour(home: Home) -> None:
    home.adopt(HOURLY)
    home.adopt(GOLD)
    complete(home, "2026-03-03T07", "cron")
    assert set(readings(home)) == {"pipeline:silver-orders#2026-03-03T07"}


def test_a_dry_run_completes_for_no_downstream_pipeline(home: Home) -> None:
    home.adopt("dryRun: true")
    home.adopt(GOLD)
    home.admit()
    home.settle()
    assert "DRY_RUN_COMPLETED" in home.told()
    assert readings(home) == {}


def test_dying_at_any_line_changes_nothing() -> None:
    def scene(home: Home) -> None:
        home.adopt()
        home.adopt(GOLD)
        home.adopt(GOLD.replace("gold", "platinum"))
        home.launched()
        home.job_says("success", 0)

    home = assert_a_crash_changes_nothing(
        scene, lambda home: home.mode("complete-trigger", event="success")
    )
    assert len(readings(home)) == len(home.store.sensors.of_pipeline("platinum")) == 1
    assert home.clock() == datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
