"""Firing cron: a run for every moment that is due, and a timer for the next."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from interlock.domain.config import Config
from interlock.domain.event import EventType
from interlock.domain.run import OpenedBy, RunKey
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.pause import pause
from usecases.home import NOW, Home, assert_a_crash_changes_nothing

HOURLY = "schedule: {cron: '30 * * * *', evaluation: {window: 2h}}"
HOUR = timedelta(hours=1)
FIRST = NOW + HOUR / 2


def fire(home: Home, schedule_id: str = "cron") -> None:
    fire_cron("silver-orders", schedule_id, home.ports)


def dates(home: Home) -> list[str]:
    runs = home.store.runs.of_pipeline("silver-orders", "0000", "9999", 100)
    return sorted(run.key.date for run in runs)


def timer(moment: datetime, schedule_id: str = "cron") -> dict[str, datetime]:
    return {f"cron.silver-orders.{schedule_id}.{moment:%Y-%m-%dT%H}": moment}


def test_a_new_file_arms_its_next_moment_and_fires_nothing_of_the_past(home: Home) -> None:
    home.adopt(HOURLY)
    assert home.armed() == timer(FIRST)
    assert dates(home) == []


def test_a_fire_opens_its_date_and_arms_the_next(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(minutes=30)
    fire(home)
    run = home.run(RunKey("silver-orders", "cron", "2026-03-03T08"))
    assert (run.opened_by, run.opened_for) == (OpenedBy.CRON, "")
    assert home.armed() == timer(FIRST) | timer(FIRST + HOUR)  # its own still stands
    assert "lateBy" not in home.event(EventType.TRIGGER_STARTED).detail


def test_a_second_fire_finds_the_run(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(hours=1)
    fire(home)
    before = home.state()
    fire(home)
    assert home.state() == before


def test_after_downtime_moments_within_the_window_are_fired_late(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(hours=5)
    fire(home)
    assert dates(home) == ["2026-03-03T11", "2026-03-03T12"]  # not 08, 09 and 10
    late = [event.detail["lateBy"] for event in home.events(EventType.TRIGGER_STARTED)]
    assert late == ["1h 30m", "30m"]


def test_nothing_from_before_the_pipeline_is_fired(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(minutes=29)
    fire(home)
    assert dates(home) == []


def test_a_listed_date_without_a_trigger_fires_at_its_time(home: Home) -> None:
    home.adopt('schedule: {include: {dates: ["2026-03-04", "2026-03-06"]}, time: "09:30"}')
    assert home.armed() == {
        "cron.silver-orders.stream.2026-03-04": datetime.fromisoformat("2026-03-04T09:30Z")
    }
    home.clock.now = datetime.fromisoformat("2026-03-04T09:30Z")
    fire(home, "stream")
    assert dates(home) == ["2026-03-04"]
    assert "cron.silver-orders.stream.2026-03-06" in home.armed()
    home.clock.now = datetime.fromisoformat("2026-03-06T09:30Z")
    fire(home, "stream")
    assert not any(name.endswith("2026-03-07") for name in home.armed())  # there is no next


def test_a_listed_date_with_a_trigger_waits_for_its_reading(home: Home) -> None:
    home.adopt(
        'schedule: {include: {dates: ["2026-03-04"]}, trigger: {key: orders, check: exists}}'
    )
    assert home.armed() == {}
    home.pass_time(days=1)
    fire(home, "stream")
    assert dates(home) == []


def test_an_excluded_day_has_no_moment(home: Home) -> None:
    home.adopt("schedule: {cron: '0 9 * * *', exclude: {days: [tuesday]}}")
    assert home.armed() == {
        "cron.silver-orders.cron.2026-03-04": datetime.fromisoformat("2026-03-04T09:00Z")
    }


def test_each_schedule_has_a_timer_of_its_own(home: Home) -> None:
    home.adopt("schedules: [{id: a, cron: '30 * * * *'}, {id: b, cron: '30 9 * * *'}]")
    home.pass_time(minutes=30)
    fire(home, "a")
    assert dates(home) == ["2026-03-03T08"]
    assert [name for name in home.armed() if ".b." in name] == ["cron.silver-orders.b.2026-03-03"]


@pytest.mark.parametrize("schedule_id", ["gone", "cron"])
def test_a_timer_of_a_schedule_that_is_gone_fires_nothing(home: Home, schedule_id: str) -> None:
    home.adopt("schedule: {id: new, trigger: {key: orders, check: exists}}")
    home.pass_time(hours=1)
    fire(home, schedule_id)
    fire(home, "new")  # it has a trigger and does not fire by itself
    assert dates(home) == []


def test_a_timer_of_a_pipeline_that_is_gone_fires_nothing(home: Home) -> None:
    fire(home)
    home.adopt(HOURLY)
    home.take_away()
    home.pass_time(hours=1)
    fire(home)
    assert dates(home) == []
    assert home.armed() == {}


def test_while_paused_nothing_is_opened_and_the_next_moment_is_armed(home: Home) -> None:
    home.adopt(HOURLY)
    pause("silver-orders", home.ports)
    home.pass_time(hours=1)
    fire(home)
    assert dates(home) == []
    assert timer(FIRST + HOUR).items() <= home.armed().items()


def test_a_start_that_fails_leaves_the_timer_to_be_tried_again(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(hours=1)
    home.fails(Call.START)
    with pytest.raises(TransientError):
        fire(home)
    fire(home)
    assert len(home.started()) == 1
    assert len(home.events(EventType.TRIGGER_STARTED)) == 1


class CountingTimers:
    """Timers that count how often they are asked."""

    def __init__(self) -> None:
        self.calls = 0

    def arm(self, timers: object) -> None:
        self.calls += 1


def test_what_is_armed_already_touches_nothing(home: Home) -> None:
    config = home.adopt(HOURLY)
    timers = CountingTimers()
    found = home.store.pipelines.find("silver-orders")
    assert found is not None and found.armed
    arm_cron(found, home.clock(), home.with_ports(timers=timers))
    assert timers.calls == 0
    assert config.armed == found.armed


class Overtaken:
    """Configs that another writer changes or removes before we store what we armed."""

    def __init__(self, home: Home, taken_away: bool = False) -> None:
        self._home, self._taken_away, self.tries = home, taken_away, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._home.store.pipelines, name)

    def save(self, config: Config, events: Any = ()) -> bool:
        self.tries += 1
        if self.tries == 1:
            self._home.take_away() if self._taken_away else pause("silver-orders", self._home.ports)
        return self._home.store.pipelines.save(config, events)


def test_who_is_overtaken_arms_what_is_in_force(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(hours=1)
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    pipelines = Overtaken(home)
    arm_cron(config, home.clock(), home.with_ports(pipelines=pipelines))
    assert pipelines.tries == 2
    found = home.store.pipelines.find("silver-orders")
    assert found is not None
    assert found.armed["cron"].due_at == FIRST + HOUR
    assert found.paused_since is not None


def test_who_finds_the_pipeline_gone_stops(home: Home) -> None:
    home.adopt(HOURLY)
    home.pass_time(hours=1)
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    arm_cron(config, home.clock(), home.with_ports(pipelines=Overtaken(home, taken_away=True)))
    found = home.store.pipelines.find("silver-orders")
    assert found is not None and found.is_retired


def test_dying_at_any_line_changes_nothing() -> None:
    def scene(home: Home) -> None:
        home.adopt(HOURLY + "\nsla: {deadline: ':30'}")
        home.pass_time(hours=2)

    home = assert_a_crash_changes_nothing(scene, fire)
    assert dates(home) == ["2026-03-03T08", "2026-03-03T09"]
