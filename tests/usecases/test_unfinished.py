"""Completions of which a part was left undone: the next pass does it."""

from typing import Any

import pytest

from contracts.samples import a_run
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.run import DeadlineKind, RunKey, Status
from interlock.errors import TransientError
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.watch import watch
from usecases.home import CADENCE, Home, assert_a_crash_changes_nothing, crashed_everywhere

GOLD = "pipeline: {id: gold}\nschedule: {trigger: {pipeline: silver-orders}}"
PROMISED = "sla: {deadline: '10:00'}"


def look(home: Home, **span: float) -> None:
    home.pass_time(**(span or {"minutes": 5}))
    report = watch(CADENCE, home.ports)
    assert report is not None and report.failures == []


class FullSensors:
    """Readings of a store that takes no more."""

    def __init__(self, home: Home) -> None:
        self._sensors = home.store.sensors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sensors, name)

    def put(self, reading: Any) -> None:
        raise TransientError("the store is busy")


def not_cascaded(home: Home) -> None:
    """It completed, and downstream never heard of it."""
    home.adopt()
    home.adopt(GOLD)
    home.launched()
    home.job_says("success", 0)
    home.mode("check-job")
    with pytest.raises(TransientError):
        home.mode(
            "complete-trigger", event="success", ports=home.with_ports(sensors=FullSensors(home))
        )
    assert (home.run().status, home.run().cascading) == (Status.COMPLETED, True)


def not_settled(home: Home) -> None:
    """It completed, and its deadline was not judged."""
    home.adopt(PROMISED)
    home.completed()
    assert home.run().sla_verdict is None


def test_a_completion_reaches_downstream_in_the_next_pass(home: Home) -> None:
    not_cascaded(home)
    look(home)
    (reading,) = home.store.sensors.of_pipeline("gold")
    assert reading.key == "pipeline:silver-orders#2026-03-03"
    assert not home.run().cascading
    assert home.event(EventType.TRIGGER_RECOVERED).detail["how"] == "follow-up"
    look(home)
    assert len(home.events(EventType.TRIGGER_RECOVERED)) == 1
    home.settle()
    assert home.run(RunKey("gold", "stream", "2026-03-03")).opened_by == "cascade"


def test_a_completion_has_its_verdict_in_the_next_pass(home: Home) -> None:
    not_settled(home)
    look(home)
    assert home.run().sla_verdict is SlaVerdict.MET
    assert len(home.events(EventType.SLA_MET)) == 1
    assert home.armed() == {}
    look(home)
    assert len(home.events(EventType.SLA_MET)) == 1


def test_what_completes_just_now_is_left_to_its_execution(home: Home) -> None:
    not_settled(home)
    look(home, minutes=1)
    assert home.run().sla_verdict is None
    assert home.events(EventType.TRIGGER_RECOVERED) == []


def test_a_deadline_that_its_file_has_dropped_is_not_looked_at_for_ever(home: Home) -> None:
    not_settled(home)
    home.adopt("")
    look(home)
    assert home.run().sla_verdict is None
    assert home.store.runs.due(home.pass_time(days=1)) == []


def test_what_waits_for_nothing_is_finished_in_one_write(home: Home) -> None:
    home.adopt()
    home.completed()
    assert not home.run().is_unfinished
    assert home.store.runs.due(home.pass_time(days=1)) == []


def test_dying_after_any_write_of_the_cascade_changes_nothing() -> None:
    assert_a_crash_changes_nothing(not_cascaded, look)


def test_dying_after_any_write_of_the_verdict_leaves_at_most_timers_that_tell_nothing() -> None:
    (_, plain), *crashed = crashed_everywhere(not_settled, look)
    assert crashed
    for number, home in crashed:
        home.pass_time(days=2)
        for name in home.armed():
            fire_deadline(home.run().key, DeadlineKind(name.split(".")[0]), home.ports)
        assert home.told() == plain.told(), f"after write {number}"
        assert home.run().sla_verdict is SlaVerdict.MET
        assert not home.run().is_unfinished


@pytest.mark.parametrize("text", [GOLD, PROMISED])
def test_a_dry_run_leaves_nothing_to_do(home: Home, text: str) -> None:
    home.adopt(GOLD)
    home.adopt(f"{PROMISED}\ndryRun: true")
    home.admit()
    home.settle()
    run = home.run(RunKey("silver-orders", "stream", "2026-03-03", dry=True))
    assert (run.status, run.is_unfinished) == (Status.COMPLETED, False)


def test_a_schedule_that_its_file_has_dropped_is_finished_without_its_deadline(home: Home) -> None:
    text = "{id: early, trigger: {key: orders, check: exists}}"
    other = "{id: late, cron: '0 20 * * *'}"
    home.adopt(f"schedules: [{text}, {other}]\n{PROMISED}")
    home.adopt(GOLD)
    key = RunKey("silver-orders", "early", "2026-03-03")
    run = a_run(
        key,
        home.clock(),
        status=Status.COMPLETED,
        completed_at=home.clock(),
        breach_at=home.clock(),
        cascading=True,
    )
    assert home.store.runs.open(run)
    home.adopt(f"schedules: [{other}]\n{PROMISED}")
    look(home)
    assert not home.run(key).is_unfinished
    assert [each.key for each in home.store.sensors.of_pipeline("gold")] == [
        "pipeline:silver-orders#2026-03-03"
    ]
