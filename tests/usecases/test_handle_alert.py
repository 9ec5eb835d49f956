"""Acknowledging, snoozing and escalating: who looks after a date, and who hears of it until someone does."""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from alert_samples import CONSOLE, SLACK, a_file, told
from contracts.samples import ALERT, KEY, NOW
from interlock.domain.alerting.alert_rules import (
    Alerts,
    EscalationStep,
    Match,
    Mute,
    Route,
    RouteTarget,
)
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.note import RootNote
from interlock.domain.alerting.threads import AlertKey
from interlock.domain.event import Event, EventType, Severity
from interlock.domain.run import RunKey
from interlock.errors import ConfigError, ConflictError, NotFoundError
from interlock.usecases.acknowledge_alert import acknowledge_alert
from interlock.usecases.change_handling import AlertOrder
from interlock.usecases.release_held import release_held
from interlock.usecases.snooze_alert import snooze_alert, unsnooze_alert
from usecases.alert_desk import Desk, a_desk

E = EventType
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
SECONDS = 60.0

FAILED = told(E.JOB_FAILED, 1, message="it failed", attempt=0)
LATE = told(E.SLA_BREACH, 3600, message="it is late")
AGAIN = told(E.JOB_FAILED, 1200, message="it failed again", part=1, attempt=1)
GRAVE = told(E.INFRA_FAILURE, 1200, message="it broke", severity=Severity.CRITICAL)
DONE = told(E.JOB_COMPLETED, 1500, message="it succeeded", part=2, attempt=2)


def escalating(*steps: tuple[str, str], mutes: tuple[Mute, ...] = (), **match: Any) -> Alerts:
    """Alerts go to C0MAIN, and after each span to the next channel."""
    escalate = tuple(
        EscalationStep(after, (RouteTarget("slack", channel),)) for after, channel in steps
    )
    route = Route(Match(**match), (RouteTarget("slack"),), escalate=escalate)
    return Alerts(sinks={"slack": SLACK}, routes=(route,), mutes=mutes)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk(a_file()) as opened:
        yield opened


def alerted(desk: Desk, *events: Event) -> None:
    desk.tell(*events)
    desk.settle(minutes=1)


def order(by: str = "ada", reason: str = "I look into it", key: AlertKey = ALERT) -> AlertOrder:
    return AlertOrder(key, by, reason)


def ack(desk: Desk, **given: Any) -> Handling:
    return acknowledge_alert(order(**given), desk.ports, desk.store)


def snooze(desk: Desk, span: timedelta = HOUR, **given: Any) -> Handling:
    return snooze_alert(order(), span, desk.ports, desk.store, **given)


def acknowledged(desk: Desk) -> str | None:
    found = desk.store.handlings.find(ALERT)
    return None if found is None or found.acknowledged is None else found.acknowledged.by


def root(desk: Desk) -> RootNote:
    """The first message of the thread, as it was last shown."""
    note = desk.slack.updates[-1][2]
    assert isinstance(note, RootNote)
    return note


def said_in(desk: Desk, channel: str) -> list[str]:
    return [
        f"{note.event.message} ({note.note})"  # type: ignore[union-attr]
        for place, note, _ in desk.slack.posts
        if place == channel
    ]


# --- acknowledge ----------------------------------------------------------------------------------


def test_an_acknowledgement_is_stored_announced_and_shown_in_the_first_message(desk: Desk) -> None:
    alerted(desk, FAILED)
    done = ack(desk)
    assert done.acknowledged is not None
    assert (done.acknowledged.by, done.acknowledged.reason) == ("ada", "I look into it")
    assert (done.acknowledged.severity, done.acknowledged.attempt) == (Severity.ERROR, 0)
    assert desk.store.handlings.find(ALERT) == done
    desk.settle(minutes=1)
    (event,) = desk.told_of("ALERT_ACKNOWLEDGED")
    assert (event.date, event.detail["requestedBy"]) == (KEY.date, "ada")
    assert desk.slack.said[-1] == "reply acknowledged by ada: I look into it"
    assert root(desk).thread.handled == (
        "acknowledged by ada at 2026-03-03 10:01 UTC: I look into it"
    )


def test_a_repeat_changes_nothing_and_another_person_takes_over(desk: Desk) -> None:
    alerted(desk, FAILED)
    first = ack(desk)
    desk.settle(minutes=1)
    assert ack(desk) == first
    assert len(desk.told_of("ALERT_ACKNOWLEDGED")) == 1
    ack(desk, by="bob")
    assert acknowledged(desk) == "bob"
    assert len(desk.told_of("ALERT_ACKNOWLEDGED")) == 2


def test_without_an_alert_there_is_nothing_to_look_after(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match=r"silver-orders 2026-03-03 has no alert"):
        ack(desk)
    desk.tell(told(E.TRIGGER_STARTED))
    with pytest.raises(NotFoundError):
        snooze(desk)
    alerted(desk, FAILED, DONE)
    with pytest.raises(ConflictError, match="has recovered"):
        ack(desk)
    with pytest.raises(ConflictError, match="has recovered"):
        snooze(desk)
    assert desk.store.handlings.find(ALERT) is None


@pytest.mark.parametrize("event", [AGAIN, GRAVE], ids=["a new attempt", "a graver event"])
def test_a_new_failure_ends_the_acknowledgement(desk: Desk, event: Event) -> None:
    alerted(desk, FAILED)
    ack(desk)
    desk.settle(minutes=1)
    alerted(desk, event)
    assert acknowledged(desk) is None
    assert root(desk).thread.handled == ""
    assert f"{event.message} (new since ada acknowledged it)" in said_in(desk, "C0MAIN")


@pytest.mark.parametrize(
    "event",
    [
        LATE,
        told(E.SLA_WARNING, 1200),
        told(E.JOB_FAILED, 1200, part=7, attempt=0),
        told(E.JOB_FAILED, 2, part=8, attempt=5),  # it happened before
        told(E.RETRY_EXHAUSTED, 1200, attempt=0),
        told(E.TRIGGER_STARTED, 1200, attempt=1),
    ],
    ids=lambda event: f"{event.type} {event.attempt}",
)
def test_what_is_no_new_failure_leaves_it(desk: Desk, event: Event) -> None:
    alerted(desk, FAILED)
    ack(desk)
    alerted(desk, event)
    assert acknowledged(desk) == "ada"


def test_alerts_without_a_date_are_those_of_a_type_and_day(desk: Desk) -> None:
    rejected = told(E.CONFIG_REJECTED, 1, key=None, message="a file is wrong")
    alerted(desk, rejected)
    key = AlertKey("_system", "CONFIG_REJECTED", "2026-03-03")
    done = ack(desk, key=key)
    assert done.acknowledged is not None and done.acknowledged.severity is Severity.ERROR
    desk.settle(minutes=1)
    assert desk.slack.said == ["root a file is wrong", "reply acknowledged by ada: I look into it"]
    assert "acknowledged by ada" in root(desk).thread.handled
    (event,) = desk.told_of("ALERT_ACKNOWLEDGED")
    assert (event.pipeline_id, event.date) == (None, None)
    with pytest.raises(NotFoundError, match="CONFIG_MISSING 2026-03-03 has no alert"):
        ack(desk, key=msgspec.structs.replace(key, schedule="CONFIG_MISSING"))


# --- snooze ---------------------------------------------------------------------------------------


def test_a_snooze_holds_further_alerts_until_its_end_but_no_critical_ones(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk)
    alerted(desk, LATE, GRAVE)
    assert "reply it broke" in desk.slack.said and "reply it is late" not in desk.slack.said
    assert desk.state(LATE) == {"slack C0MAIN": "held"}
    desk.settle(hours=1)
    assert desk.slack.said[-2:] == ["summary 1 open 0 recovered", "reply it is late"]
    assert "snoozed by ada until 2026-03-03 11:01 UTC" in root(desk).thread.handled


def test_on_request_critical_alerts_wait_as_well(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk, include_critical=True)
    alerted(desk, GRAVE)
    assert desk.state(GRAVE) == {"slack C0MAIN": "held"}


def test_another_date_is_not_snoozed(desk: Desk) -> None:
    other = told(E.JOB_FAILED, 2, key=RunKey("silver-orders", "stream", "2026-03-02"))
    alerted(desk, FAILED)
    snooze(desk)
    alerted(desk, other)
    assert desk.state(other) == {"slack C0MAIN": "sent"}


def test_who_ends_a_snooze_gets_what_it_held(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk)
    alerted(desk, LATE)
    unsnooze_alert(order(reason="back"), desk.ports, desk.store)
    desk.settle(minutes=1)
    assert desk.slack.said[-2:] == ["summary 1 open 0 recovered", "reply it is late"]
    assert root(desk).thread.handled == ""
    with pytest.raises(ConflictError, match="is not snoozed"):
        unsnooze_alert(order(), desk.ports, desk.store)


def test_a_longer_snooze_holds_what_the_shorter_held(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk)
    alerted(desk, LATE)
    snooze(desk, 3 * HOUR)
    desk.settle(hours=2)
    assert desk.state(LATE) == {"slack C0MAIN": "held"}
    desk.settle(hours=2)
    assert desk.state(LATE) == {"slack C0MAIN": "sent"}


def test_a_mute_goes_on_when_the_snooze_is_over() -> None:
    until = (NOW + 5 * HOUR).isoformat().replace("+00:00", "Z")
    since = (NOW + 30 * MINUTE).isoformat().replace("+00:00", "Z")
    mute = Mute(match=Match(), since=since, until=until)
    with a_desk(a_file(mutes=(mute,))) as desk:
        alerted(desk, FAILED)
        snooze(desk)
        alerted(desk, LATE)
        desk.settle(hours=4)
        assert desk.state(LATE) == {"slack C0MAIN": "held"}
        unsnoozed = told(E.SLA_WARNING, 99)
        desk.settle(hours=1)
        assert desk.state(LATE) == {"slack C0MAIN": "sent"}
        alerted(desk, unsnoozed)


def test_a_recovery_while_snoozed_is_summarised(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk)
    alerted(desk, LATE, told(E.JOB_COMPLETED, 3700, message="it succeeded", part=2))
    desk.settle(hours=1)
    assert desk.slack.said[-1] == "summary 0 open 2 recovered"


def test_alerts_without_a_date_are_released_too(desk: Desk) -> None:
    first, second = (
        told(E.CONFIG_REJECTED, after, key=None, part=after, message=f"wrong {after}")
        for after in (1, 2)
    )
    alerted(desk, first)
    asked = order(key=AlertKey("_system", "CONFIG_REJECTED", "2026-03-03"))
    snooze_alert(asked, HOUR, desk.ports, desk.store)
    alerted(desk, second)
    assert desk.state(second) == {"slack C0MAIN": "held"}
    unsnooze_alert(asked, desk.ports, desk.store)
    desk.settle(minutes=1)
    assert desk.state(second) == {"slack C0MAIN": "sent"}


@pytest.mark.parametrize("span", [timedelta(0), -HOUR, timedelta(days=8)])
def test_a_snooze_has_an_end_within_a_week(desk: Desk, span: timedelta) -> None:
    alerted(desk, FAILED)
    with pytest.raises(ConfigError, match="up to 7d"):
        snooze(desk, span)


# --- escalate -------------------------------------------------------------------------------------

STEPS = (("30m", "C0ONCALL"), ("2h", "C0BOSS"))


def test_an_alert_that_is_not_acknowledged_goes_to_others_once_per_step() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        desk.settle(minutes=28)
        assert said_in(desk, "C0ONCALL") == []
        desk.settle(minutes=5)
        assert said_in(desk, "C0ONCALL") == ["it failed (unacknowledged for 30m)"]
        desk.settle(hours=10)
        assert said_in(desk, "C0ONCALL") == ["it failed (unacknowledged for 30m)"]
        assert said_in(desk, "C0BOSS") == ["it failed (unacknowledged for 2h)"]


def test_an_acknowledgement_stops_the_escalation() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        ack(desk)
        desk.settle(hours=5)
        assert said_in(desk, "C0ONCALL") == said_in(desk, "C0BOSS") == []
        found = desk.store.deliveries.of_events([FAILED])[FAILED.event_id]
        assert [(each.state, each.error) for each in found if each.escalates] == [
            ("cancelled", "acknowledged by ada")
        ] * 2


def test_a_recovery_stops_it_and_who_heard_of_it_hears_of_the_end() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        desk.settle(minutes=40)
        desk.tell(told(E.JOB_COMPLETED, 3000, message="it succeeded", part=2))
        desk.settle(hours=5)
        assert said_in(desk, "C0ONCALL")[1:] == ["it succeeded ()"]
        assert said_in(desk, "C0BOSS") == []


def test_only_the_first_alert_of_a_date_escalates() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        desk.settle(minutes=10)
        alerted(desk, AGAIN)
        desk.settle(hours=5)
        assert said_in(desk, "C0ONCALL") == ["it failed (unacknowledged for 30m)"]


def test_a_new_failure_after_an_acknowledgement_escalates_anew() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        ack(desk)
        desk.settle(minutes=19)
        alerted(desk, AGAIN)
        desk.settle(minutes=15)
        assert said_in(desk, "C0ONCALL") == []  # the first alert was acknowledged
        desk.settle(minutes=20)
        assert said_in(desk, "C0ONCALL") == ["it failed again (unacknowledged for 30m)"]


def test_a_more_urgent_alert_escalates_sooner() -> None:
    urgent = escalating(("5m", "C0ONCALL"), severity=Severity.CRITICAL)
    calm = escalating(("2h", "C0ONCALL"))
    both = msgspec.structs.replace(urgent, routes=(*urgent.routes, *calm.routes))
    with a_desk(both) as desk:
        alerted(desk, FAILED)
        alerted(desk, GRAVE)
        desk.settle(hours=5)
        assert said_in(desk, "C0ONCALL") == ["it broke (unacknowledged for 5m)"]


def test_the_time_counts_from_the_end_of_a_mute() -> None:
    until = (NOW + HOUR).isoformat().replace("+00:00", "Z")
    with a_desk(escalating(*STEPS, mutes=(Mute(match=Match(), until=until),))) as desk:
        alerted(desk, FAILED)
        desk.settle(minutes=88)
        assert said_in(desk, "C0ONCALL") == []
        desk.settle(minutes=5)
        assert said_in(desk, "C0ONCALL") == ["it failed (unacknowledged for 30m)"]


def test_while_a_date_is_snoozed_its_escalation_waits() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        snooze(desk)
        desk.settle(minutes=55)
        assert said_in(desk, "C0ONCALL") == []
        desk.settle(minutes=10)
        assert said_in(desk, "C0ONCALL") == ["it failed (unacknowledged for 30m)"]


def test_what_is_no_alert_does_not_escalate() -> None:
    with a_desk(escalating(*STEPS, event="JOB_*")) as desk:
        alerted(desk, told(E.JOB_COMPLETED, 1, message="it succeeded"))
        alerted(desk, told(E.RERUN_REJECTED, 2, detail={"requestedBy": "ada"}))
        desk.settle(hours=5)
        assert said_in(desk, "C0ONCALL") == []


def test_an_escalation_reaches_a_sink_without_threads_and_tells_it_of_the_end() -> None:
    route = Route(
        Match(), (RouteTarget("slack"),), escalate=(EscalationStep("30m", (RouteTarget("log"),)),)
    )
    file = Alerts(sinks={"slack": SLACK, "log": CONSOLE}, routes=(route,))
    with a_desk(file) as desk:
        alerted(desk, FAILED)
        desk.settle(minutes=40)
        assert desk.sinks["log"].said == ["reply it failed"]
        alerted(desk, told(E.JOB_COMPLETED, 3000, message="it succeeded", part=2))
        assert desk.sinks["log"].said == ["reply it failed", "reply it succeeded"]


def test_a_failing_sink_of_an_escalation_is_given_up_like_any_other() -> None:
    with a_desk(escalating(*STEPS)) as desk:
        alerted(desk, FAILED)
        desk.slack.answers.extend([RuntimeError("broken")] * 3)
        desk.settle(hours=1)
        assert [event.detail["channel"] for event in desk.told_of("ALERT_UNDELIVERED")] == [
            "C0ONCALL"
        ]


# --- after a death --------------------------------------------------------------------------------


class Death(BaseException):
    """Not an Exception: no process catches its own death."""


def dying(desk: Desk, fatal: int) -> list[int]:
    """The process dies right after its n-th write; the list holds 1 once it has."""
    left, struck = [fatal], [0]

    def written() -> None:
        left[0] -= 1
        if left[0] == 0:
            struck[0] = 1
            raise Death

    desk.store.database.after_commit = written
    return struck


def surely(work: Any) -> None:
    """Repeated until it ends alive."""
    while True:
        try:
            work()
            return
        except Death:
            pass


def test_a_death_after_any_write_keeps_acknowledgement_snooze_and_their_events() -> None:
    for fatal in itertools.count(1):
        with a_desk(escalating(*STEPS)) as desk:
            alerted(desk, FAILED)
            struck = dying(desk, fatal)
            surely(lambda: ack(desk))
            surely(lambda: snooze(desk, 2 * HOUR))
            surely(lambda: desk.settle(minutes=1))
            desk.store.database.after_commit = None
            desk.store.events.publish(desk.store.outbox.leftovers(desk.clock.now + HOUR))
            desk.settle(hours=5)
            assert acknowledged(desk) == "ada"
            assert len(desk.told_of("ALERT_ACKNOWLEDGED")) == 1
            assert desk.told_of("ALERT_SNOOZED")
            assert said_in(desk, "C0ONCALL") == []
            assert "acknowledged by ada" in root(desk).thread.handled
            if not struck[0]:
                break
    assert fatal > 8


def test_a_death_after_any_write_loses_no_escalation_and_repeats_one_message_at_most() -> None:
    for fatal in itertools.count(1):
        with a_desk(escalating(*STEPS)) as desk:
            desk.tell(FAILED)
            struck = dying(desk, fatal)
            surely(lambda: desk.settle(hours=3))
            for after, channel in STEPS:
                wanted = f"it failed (unacknowledged for {after})"
                assert set(said_in(desk, channel)) == {wanted}
            assert len(desk.slack.posts) <= 4
            if not struck[0]:
                assert len(desk.slack.posts) == 3
                break
    assert fatal > 12


def test_a_death_after_any_write_undoes_an_acknowledgement_all_the_same() -> None:
    for fatal in itertools.count(1):
        with a_desk(escalating(*STEPS)) as desk:
            alerted(desk, FAILED)
            ack(desk)
            desk.settle(minutes=1)
            desk.tell(AGAIN)
            struck = dying(desk, fatal)
            surely(lambda: desk.settle(hours=3))
            assert acknowledged(desk) is None
            assert said_in(desk, "C0ONCALL")[0] == "it failed again (unacknowledged for 30m)"
            if not struck[0]:
                break
    assert fatal > 8


def test_a_target_without_held_alerts_has_nothing_to_release(desk: Desk) -> None:
    alerted(desk, FAILED)
    snooze(desk)
    (delivery,) = desk.route(LATE)
    assert release_held(delivery.target, desk.alerting.alerts, desk.alerting.ports) == []
