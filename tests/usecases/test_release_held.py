"""Mutes: what is held is summed up at their end, and what is still open gets its thread."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest

from alert_samples import HOOK, SLACK, a_file, a_route, told
from contracts.samples import NOW, a_key
from interlock.domain.alerting.alert_rules import Alerts, Match, Mute
from interlock.domain.alerting.deliveries import NoChannel, SendFailed, Target, TryLater
from interlock.domain.event import EventType, Severity
from interlock.usecases.release_held import release_held
from usecases.alert_desk import Desk, a_desk

E = EventType
C0MAIN = Target("slack", "C0MAIN")
MUTED = Mute(match=Match(), until=(NOW + timedelta(hours=1)).isoformat(), reason="maintenance")
OTHER = a_key(date="2026-01-01")
FAILED = told(E.JOB_FAILED, 1, message="it failed")
STILL = told(E.JOB_FAILED, 2, key=OTHER, message="another failed")
DONE = told(E.JOB_COMPLETED, 3, message="it succeeded")


def muted(**sinks: object) -> Alerts:
    return a_file(mutes=(MUTED,), **sinks)  # type: ignore[arg-type]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk(muted()) as opened:
        yield opened


def test_what_recovers_is_summed_up_and_what_does_not_gets_its_thread(desk: Desk) -> None:
    desk.tell(FAILED, STILL, DONE)
    desk.settle(minutes=59)
    assert desk.slack.posts == []
    assert desk.state(FAILED) == {"slack C0MAIN": "held"}
    desk.settle(minutes=2)
    assert desk.slack.said == ["summary 1 open 1 recovered", "root another failed"]
    assert desk.state(FAILED) == desk.state(STILL) == {"slack C0MAIN": "sent"}
    assert desk.state(DONE) == {}  # the problem was never sent
    desk.tell(told(E.JOB_COMPLETED, 9, key=OTHER, message="another succeeded"))
    desk.settle(minutes=1)
    assert desk.slack.said[-1] == "reply another succeeded"


def test_a_critical_alert_passes_and_others_of_the_mute_do_not(desk: Desk) -> None:
    desk.tell(FAILED, msgspec.structs.replace(STILL, severity=Severity.CRITICAL))
    desk.settle(minutes=1)
    assert desk.slack.said == ["root another failed"]


def test_what_was_held_is_no_digest_however_much_it_is(desk: Desk) -> None:
    alerts = [
        told(E.JOB_FAILED, part, key=a_key(date=f"2026-01-{part + 1:02}"), message=f"m{part}")
        for part in range(9)
    ]
    desk.tell(*alerts)
    desk.settle(hours=2)
    assert desk.slack.said == [
        "summary 9 open 0 recovered",
        *(f"root m{part}" for part in range(9)),
    ]


def test_events_without_a_date_are_open(desk: Desk) -> None:
    desk.tell(told(E.WATCHDOG_DEGRADED, key=None, message="it does not watch"))
    desk.settle(hours=2)
    assert desk.slack.said == ["summary 1 open 0 recovered", "root it does not watch"]


def test_each_channel_has_its_own_summary() -> None:
    routes = (a_route(goes_on=True), a_route("ops"))
    file = a_file(*routes, mutes=(MUTED,), slack=SLACK, ops=HOOK)
    with a_desk(file) as desk:
        desk.tell(FAILED, DONE)
        desk.settle(hours=2)
        assert desk.slack.said == ["summary 0 open 1 recovered"]
        assert desk.sinks["ops"].said == ["summary 0 open 1 recovered"]


def test_a_summary_that_must_wait_waits_with_all_that_it_tells_of(desk: Desk) -> None:
    desk.slack.answers.append(TryLater(timedelta(seconds=30)))
    desk.tell(FAILED, STILL, DONE)
    desk.settle(minutes=60, seconds=29)
    assert desk.slack.posts == []
    assert desk.state(FAILED) == {"slack C0MAIN": "held"}
    desk.settle(minutes=1)
    assert desk.slack.said == ["summary 1 open 1 recovered", "root another failed"]


def test_a_summary_waits_for_a_slot(desk: Desk) -> None:
    desk.store.paces.block("C0MAIN", NOW + timedelta(minutes=90))
    desk.tell(FAILED, DONE)
    desk.settle(minutes=89)
    assert desk.slack.posts == []
    desk.settle(minutes=2)
    assert desk.slack.said == ["summary 0 open 1 recovered"]


@pytest.mark.parametrize("answer", [SendFailed("HTTP 500"), NoChannel("is_archived")])
def test_when_there_can_be_no_summary_each_goes_its_own_way(desk: Desk, answer: SendFailed) -> None:
    desk.slack.answers.append(answer)
    desk.tell(FAILED, STILL, DONE)
    desk.settle(hours=2)
    assert desk.slack.said == ["root it failed", "root another failed"]


def test_what_was_held_for_a_sink_that_is_gone_goes_to_the_default(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle()
    del desk.sinks["slack"]
    desk.alerts = Alerts()
    desk.settle(hours=2)
    assert desk.console.said == ["reply it failed"]


def test_released_twice_is_released_once(desk: Desk) -> None:
    desk.tell(FAILED, STILL, DONE)
    desk.settle()
    desk.clock.advance(hours=1)
    alerting = desk.alerting
    assert len(release_held(C0MAIN, alerting.alerts, alerting.ports)) == 1
    assert release_held(C0MAIN, alerting.alerts, alerting.ports) == []
    desk.settle(minutes=1)
    assert desk.slack.said == ["summary 1 open 1 recovered", "root another failed"]


def test_if_the_releasing_sender_dies_nothing_is_lost(desk: Desk) -> None:
    desk.tell(FAILED, STILL)
    desk.settle()
    desk.clock.advance(hours=1)

    class Death(BaseException):
        pass

    def die() -> None:
        desk.slack.on_post = lambda: None
        raise Death

    desk.slack.on_post = die
    alerting = desk.alerting
    with pytest.raises(Death):
        release_held(C0MAIN, alerting.alerts, alerting.ports)
    desk.settle(minutes=5)
    assert sorted(desk.slack.said) == ["root another failed", "root it failed"]


def test_a_release_already_in_progress_is_left_alone(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle()
    desk.clock.advance(hours=1)

    def first() -> None:
        desk.slack.on_post = lambda: None
        alerting = desk.alerting
        assert release_held(C0MAIN, alerting.alerts, alerting.ports) == []

    desk.slack.on_post = first
    alerting = desk.alerting
    release_held(C0MAIN, alerting.alerts, alerting.ports)
    assert desk.slack.said == ["summary 1 open 0 recovered"]
