"""Pausing and resuming: nothing opens meanwhile, and no date is lost."""

from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.config import Config
from interlock.domain.event import EventType
from interlock.domain.run import RunKey, Status
from interlock.domain.timestamp import spell
from interlock.errors import NotFoundError, TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.pause import pause, resume
from usecases.home import (
    KEY,
    NOW,
    Home,
    assert_a_crash_changes_nothing,
    crashed_everywhere,
)

PAUSED = EventType.PIPELINE_PAUSED
CRON = "schedule: {cron: '30 * * * *', evaluation: {window: 1h}}"


def hour(label: str) -> RunKey:
    return RunKey("silver-orders", "cron", label)


def test_while_paused_nothing_opens_and_readings_are_kept(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports)
    home.admit(count=1)
    assert home.store.runs.find([KEY]) == {}
    assert set(home.store.sensors.find("silver-orders", ["orders"])) == {"orders"}


def test_who_paused_and_why_outlasts_a_new_file_and_ends_with_the_pause(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports, by="ada", reason="upstream moves")
    home.pass_time(minutes=5)
    pause("silver-orders", home.ports, NOW + timedelta(days=1), "bob", "it still does")
    home.adopt("sla: {maxDuration: 5h}")
    config = home.store.pipelines.find("silver-orders")
    assert config is not None and config.paused_since == NOW  # since the first time
    assert (config.paused_by, config.paused_reason) == ("bob", "it still does")
    config = resume("silver-orders", home.ports)
    assert (config.paused_by, config.paused_reason, config.paused_since) == ("", "", None)


def test_what_came_in_the_pause_is_acted_on_at_its_end(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports)
    home.pass_time(minutes=5)
    home.admit(count=1)
    home.reading("orders#2026-03-01")  # of an older day, with its own key
    home.pass_time(hours=1)
    resume("silver-orders", home.ports)
    assert home.run().status is Status.PENDING
    assert home.run(RunKey("silver-orders", "stream", "2026-03-01")).status is Status.PENDING


def test_a_reading_from_before_the_pause_is_not_acted_on_again(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: gt, field: count, value: 5}}")
    home.reading(date="2026-03-03", count=9)  # nothing has acted on it; the watchdog will
    home.pass_time(minutes=1)
    pause("silver-orders", home.ports)
    resume("silver-orders", home.ports)
    assert home.store.runs.find([KEY]) == {}


def test_drift_in_the_pause_is_seen_at_its_end(home: Home) -> None:
    home.adopt(
        "validation: {rules: [{key: orders, check: exists}, {key: audit, check: exists}]}\n"
        "postRun: {rules: [{key: audit, check: gte, field: n, value: 1}]}"
    )
    home.reading("audit", date="2026-03-03", n=100)
    home.completed()
    pause("silver-orders", home.ports)
    home.pass_time(minutes=5)
    home.admit("audit", n=200)
    assert home.events(EventType.POST_RUN_DRIFT) == []
    resume("silver-orders", home.ports)
    assert home.event(EventType.POST_RUN_DRIFT).detail["current"] == 200


def test_late_data_in_the_pause_is_seen_at_its_end(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    pause("silver-orders", home.ports)
    home.pass_time(minutes=5)
    home.admit(count=2)
    resume("silver-orders", home.ports)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    assert home.run().attempt == 1  # and the request that it made is judged


def test_cron_moments_of_the_pause_are_fired_while_that_makes_sense(home: Home) -> None:
    home.adopt(CRON)
    pause("silver-orders", home.ports)
    for _ in range(3):
        home.pass_time(hours=1)
        fire_cron("silver-orders", "cron", home.ports)
    home.pass_time(minutes=15)
    resume("silver-orders", home.ports)
    runs = home.store.runs.of_pipeline("silver-orders", "0000", "9999", 10)
    assert [run.key for run in runs] == [hour("2026-03-03T10")]  # the others are the watchdog's
    home.settle()
    missed = home.events(EventType.SCHEDULE_MISSED)
    assert [event.date for event in missed] == ["2026-03-03T08", "2026-03-03T09"]


def test_a_pause_may_end_by_itself(home: Home) -> None:
    home.adopt()
    config = pause("silver-orders", home.ports, until=NOW + timedelta(hours=1))
    assert config.is_paused(NOW)
    assert config.is_paused(NOW + timedelta(minutes=59))
    assert not config.is_paused(NOW + timedelta(hours=1))


def test_pausing_twice_keeps_the_first_beginning(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports)
    home.pass_time(hours=1)
    assert pause("silver-orders", home.ports).paused_since == NOW


def test_resuming_what_is_not_paused_changes_nothing(home: Home) -> None:
    home.adopt()
    assert resume("silver-orders", home.ports).paused_since is None
    assert home.told() == []


def test_a_pause_survives_a_change_of_the_file(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports)
    config = home.adopt("sla: {deadline: '10:00'}")
    assert config.paused_since == NOW


@pytest.mark.parametrize("act", [pause, resume])
def test_only_a_pipeline_in_force_can_be_paused(home: Home, act: Any) -> None:
    with pytest.raises(NotFoundError, match="no pipeline gold is in force"):
        act("gold", home.ports)
    home.adopt()
    home.take_away()
    with pytest.raises(NotFoundError):
        act("silver-orders", home.ports)


class Busy:
    """Configs that another process writes first, this many times."""

    def __init__(self, home: Home, times: int) -> None:
        self._pipelines, self._times = home.store.pipelines, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipelines, name)

    def save(self, config: Config, events: Any = ()) -> bool:
        self._times -= 1
        return self._times < 0 and self._pipelines.save(config, events)


def test_who_is_overtaken_tries_again_but_not_for_ever(home: Home) -> None:
    home.adopt()
    assert pause("silver-orders", home.with_ports(pipelines=Busy(home, 3))).paused_since == NOW
    with pytest.raises(TransientError, match="other processes got there first"):
        pause("silver-orders", home.with_ports(pipelines=Busy(home, 99)), reason="again")


def test_dying_at_any_line_of_a_resume_loses_nothing() -> None:
    def scene(home: Home) -> None:
        home.adopt(CRON + "\nvalidation: {rules: [{key: stock, check: exists}]}")
        home.settle()
        pause("silver-orders", home.ports)
        home.pass_time(hours=1)
        fire_cron("silver-orders", "cron", home.ports)

    def act(home: Home) -> None:
        resume("silver-orders", home.ports)
        home.pass_time(minutes=10)
        home.settle()  # what a dying resume left undone, the watchdog does

    for number, home in crashed_everywhere(scene, act):
        run = home.run(hour("2026-03-03T08"))
        assert run.status is Status.PENDING, f"after write {number}"
        assert home.events(EventType.SCHEDULE_MISSED) == []


def test_a_pause_and_its_end_are_told_once_with_who_and_why(home: Home) -> None:
    home.adopt()
    until = NOW + timedelta(hours=2)
    for _ in range(2):
        pause("silver-orders", home.ports, until, "ada", "it moves")
    for _ in range(2):
        resume("silver-orders", home.ports, "bob", "it has moved")
    paused, resumed = home.event(PAUSED), home.event(EventType.PIPELINE_RESUMED)
    assert paused.message == "paused by ada (it moves)"
    assert (paused.detail["until"], paused.detail["requestedBy"]) == (spell(until), "ada")
    assert resumed.message == "resumed by bob (it has moved)"
    assert resumed.detail["since"] == spell(NOW)
    pause("silver-orders", home.ports, by="ada", reason="once more")
    assert len(home.events(PAUSED)) == 2


def test_a_pause_whose_event_can_not_be_published_holds_and_is_told_later(home: Home) -> None:
    home.adopt()
    home.fails(Call.PUBLISH)
    pause("silver-orders", home.ports, by="ada")
    assert home.events(PAUSED) == []
    home.pass_time(minutes=5)
    home.settle()
    assert home.event(PAUSED).detail["requestedBy"] == "ada"


def test_a_pause_that_is_over_already_is_not_told(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports, NOW - timedelta(hours=1))
    assert home.events(PAUSED) == []


def test_pausing_is_one_write() -> None:
    assert_a_crash_changes_nothing(
        lambda home: home.adopt(), lambda home: pause("silver-orders", home.ports)
    )
