"""Opening a run: claim a date, arm its deadlines, start its first attempt."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.opening import Opening
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, Status
from interlock.domain.sla import SlaWatch
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

PROMISED = "sla: {deadline: '10:00', expectedDuration: 30m}\nschedule: {cron: '0 8 * * *'}"
CRON = RunKey("silver-orders", "cron", "2026-03-03")
BREACH_AT = NOW + timedelta(hours=2)


def opened(home: Home, key: RunKey = KEY, ports: Ports | None = None, **given: Any) -> Run:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    opening = Opening(key, OpenedBy.CRON, "", home.clock(), **given)
    return open_run(opening, config, ports or home.ports)


def test_a_date_is_opened_told_and_started(home: Home) -> None:
    home.adopt()
    run = opened(home)
    assert run == home.run()
    assert (run.status, run.attempt) == (Status.PENDING, 0)
    assert home.started() == [run.execution_name]
    event = home.event(EventType.TRIGGER_STARTED)
    assert event.timestamp == NOW
    assert event.detail["openedBy"] == "cron"
    assert "lateBy" not in event.detail


def test_the_execution_gets_all_eight_fields_and_the_whole_file(home: Home) -> None:
    home.adopt()
    opened(home)
    claimed = home.store.workflows.claim("silver-orders-stream-2026-03-03", NOW)
    assert claimed is not None
    given = json.loads(claimed.given)
    config = given.pop("config")
    assert given == {
        "pipelineId": "silver-orders",
        "scheduleId": "stream",
        "date": "2026-03-03",
        "attempt": 0,
        "executionName": "silver-orders-stream-2026-03-03",
        "openedAt": "2026-03-03T08:00:00Z",
        "windowEnd": "2026-03-03T09:00:00Z",
    }
    assert config["job"]["maxCodeRetries"] == 1  # its defaults are filled in


def test_only_the_first_to_open_a_date_wins(home: Home) -> None:
    home.adopt()
    first = opened(home)
    home.pass_time(minutes=1)
    assert opened(home) == first
    assert len(home.events(EventType.TRIGGER_STARTED)) == 1


def test_a_date_that_has_moved_on_is_not_started_again(home: Home) -> None:
    home.adopt()
    run = home.completed()
    assert opened(home) == run
    assert home.started() == ["silver-orders-stream-2026-03-03"]


def test_a_late_fire_says_by_how_much(home: Home) -> None:
    home.adopt()
    opened(home, due_at=NOW - timedelta(minutes=65))
    assert home.event(EventType.TRIGGER_STARTED).detail["lateBy"] == "1h 5m"


def test_deadlines_are_armed_with_the_opening(home: Home) -> None:
    home.adopt(PROMISED)
    opened(home, CRON)
    assert home.armed() | {} == {
        "breach.silver-orders.cron.2026-03-03": BREACH_AT,
        "warning.silver-orders.cron.2026-03-03": BREACH_AT - timedelta(minutes=30),
        "cron.silver-orders.cron.2026-03-04": NOW + timedelta(days=1),
    }


def test_what_was_said_before_the_run_opened_stays_said(home: Home) -> None:
    home.adopt(PROMISED)
    watch = SlaWatch(
        key=CRON,
        breach_at=BREACH_AT,
        armed={DeadlineKind.BREACH: BREACH_AT},
        told=(DeadlineKind.WARNING, DeadlineKind.BREACH),
        verdict=SlaVerdict.BREACHED,
    )
    home.store.claims.save_watch(watch)
    run = opened(home, CRON)
    assert (run.sla_verdict, run.sla_told) == (SlaVerdict.BREACHED, watch.told)
    assert not any(name.startswith(("breach", "warning")) for name in home.armed())


def test_a_deadline_that_says_nothing_about_the_date_is_reported_once(home: Home) -> None:
    home.adopt("sla: {deadline: ':30'}")
    opened(home)
    opened(home)
    event = home.event(EventType.DEADLINE_UNKNOWN)
    assert event.detail["deadline"] == ":30"
    assert home.armed() == {}


def test_a_start_that_fails_leaves_the_row_pending_and_the_next_try_starts_it(home: Home) -> None:
    home.adopt()
    home.fails(Call.START)
    with pytest.raises(TransientError):
        opened(home)
    assert home.run().status is Status.PENDING
    assert home.started() == []
    opened(home)
    assert home.started() == ["silver-orders-stream-2026-03-03"]
    assert len(home.events(EventType.TRIGGER_STARTED)) == 1


def test_a_publish_that_fails_fails_the_step_and_is_made_up_for(home: Home) -> None:
    home.adopt()
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        opened(home)
    assert home.events(EventType.TRIGGER_STARTED) == []
    assert home.started() == []  # state first, then told, then started
    opened(home)
    assert len(home.events(EventType.TRIGGER_STARTED)) == 1


def test_dying_at_any_line_changes_nothing() -> None:
    home = assert_a_crash_changes_nothing(
        lambda home: home.adopt(PROMISED), lambda home: opened(home, CRON)
    )
    assert home.told() == ["TRIGGER_STARTED"]


@dataclass
class Overtaken:
    """Timers during whose arming another process opens the date."""

    home: Home

    def arm(self, timers: object) -> None:
        opened(self.home, due_at=NOW - timedelta(minutes=1))

    def cancel(self, names: object) -> None: ...


def test_who_is_overtaken_returns_the_run_of_the_winner(home: Home) -> None:
    home.adopt()
    ports = home.with_ports(timers=Overtaken(home))
    run = opened(home, ports=ports)
    assert run == home.run()
    assert home.event(EventType.TRIGGER_STARTED).detail["lateBy"] == "1m"
