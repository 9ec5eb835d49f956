"""Sending alerts: once each, in one thread a date, at the channel's pace; and nothing is lost."""

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import msgspec
import pytest

from alert_samples import CONSOLE, HOOK, SLACK, a_file, a_route, told
from contracts.samples import NOW, a_key
from interlock.domain.alerting.alert_rules import Limits
from interlock.domain.alerting.deliveries import (
    DeliveryState,
    NoAccess,
    NoChannel,
    NoThread,
    SendFailed,
    SinkGone,
    Target,
    TryLater,
)
from interlock.domain.alerting.note import AlertNote, RootNote
from interlock.domain.event import Event, EventType, Severity
from interlock.errors import TransientError
from interlock.usecases.send_alert import send_alerts
from usecases.alert_desk import Desk, a_desk, channels

E = EventType


class Death(BaseException):
    """Not an Exception: no process catches its own death."""


class Deaths:
    """The controller dies right after its n-th write."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal
        self.struck = False

    def written(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.struck = True
            raise Death


FAILED = told(E.JOB_FAILED, 1, message="it failed")
DONE = told(E.JOB_COMPLETED, 2, message="it succeeded")
GRAVE = told(E.INFRA_FAILURE, 3, message="it broke", severity=Severity.CRITICAL)


def many(count: int) -> list[Event]:
    """First alerts of as many dates."""
    return [
        told(after=part, key=a_key(date=f"2026-01-{part + 1:02}"), message=f"m{part}")
        for part in range(count)
    ]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk(a_file()) as opened:
        yield opened


def test_one_thread_per_date_whose_first_message_shows_what_is_so_now(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.tell(told(E.TRIGGER_STARTED, 1.5), DONE)
    desk.settle(seconds=10)
    assert desk.slack.said == ["root it failed", "reply it succeeded"]
    assert [thread for _, _, thread in desk.slack.posts] == [None, "ts-1"]
    assert desk.slack.faces[-1] == "done"
    assert {receipt for _, receipt, _ in desk.slack.updates} == {"ts-1"}
    assert desk.state(DONE) == {"slack C0MAIN": "sent"}


def test_an_event_without_an_alert_still_shows_in_the_first_message(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle()
    desk.tell(told(E.TRIGGER_STARTED, 5))
    desk.settle()
    assert desk.slack.said == ["root it failed"]
    assert desk.slack.faces == ["waiting"]


def test_an_end_that_follows_at_once_belongs_to_the_thread(desk: Desk) -> None:
    desk.tell(FAILED, DONE)
    desk.settle(seconds=5)
    assert desk.slack.said == ["root it failed", "reply it succeeded"]


def test_a_good_date_is_not_told(desk: Desk) -> None:
    desk.tell(told(E.TRIGGER_STARTED), DONE)
    desk.settle(seconds=5)
    assert desk.slack.posts == [] and desk.slack.updates == []


def test_an_event_received_twice_is_sent_once(desk: Desk) -> None:
    for _ in range(3):
        deliveries = desk.route(FAILED)
        send_alerts(deliveries, desk.alerts, desk.alerting.ports)
    assert desk.slack.said == ["root it failed"]


def test_late_news_opens_a_thread_in_the_state_of_today(desk: Desk) -> None:
    desk.store.events.publish([FAILED, DONE])
    deliveries = desk.route(DONE, FAILED)  # the end is heard of first
    send_alerts(deliveries, desk.alerts, desk.alerting.ports)
    (_, root, _) = desk.slack.posts[0]
    assert isinstance(root, RootNote) and root.thread.state == "done"


# --- pace and digest ------------------------------------------------------------------------------


def test_a_channel_takes_one_message_a_second(desk: Desk) -> None:
    desk.tell(*many(3))
    desk.settle(milliseconds=900)
    assert len(desk.slack.posts) == 1
    desk.settle(seconds=1)
    assert len(desk.slack.posts) == 2
    desk.settle(seconds=1)
    assert desk.slack.said == ["root m0", "root m1", "root m2"]


def test_many_alerts_at_once_are_one_digest_and_critical_ones_go_alone_and_first(
    desk: Desk,
) -> None:
    desk.tell(*many(20), GRAVE)
    desk.settle(seconds=60)
    assert desk.slack.said == ["root it broke", "digest of 20"]
    assert all(desk.state(event) == {"slack C0MAIN": "sent"} for event in (*many(20), GRAVE))


def test_a_digest_that_fails_is_tried_again_as_one(desk: Desk) -> None:
    desk.slack.answers.append(SendFailed("HTTP 500"))
    desk.tell(*many(20))
    desk.settle(seconds=4)
    assert desk.slack.posts == []
    desk.settle(seconds=60)
    assert desk.slack.said == ["digest of 20"]


def test_a_digest_shows_in_the_threads_that_are_there(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.tell(told(E.SLA_BREACH, 9, message="late"), *many(9))
    desk.settle(seconds=5)
    assert desk.slack.said == ["root it failed", "digest of 10"]
    assert desk.slack.faces == ["late"]


def test_a_429_in_the_middle_lets_the_rest_wait_and_costs_no_try() -> None:
    file = msgspec.structs.replace(a_file(), limits=Limits(digest_over=100))
    with a_desk(file) as desk:
        desk.tell(*many(5))
        desk.settle(seconds=1)
        desk.slack.answers.append(TryLater(timedelta(seconds=30)))
        desk.settle(seconds=25)
        assert len(desk.slack.posts) == 2
        deliveries = desk.store.deliveries.of_events(many(5))
        assert {each.tries for (each,) in deliveries.values()} == {0}
        desk.settle(seconds=60)
        assert desk.slack.said == [f"root m{part}" for part in range(5)]


# --- threads and races ----------------------------------------------------------------------------


def test_twenty_first_alerts_of_two_dispatchers_make_one_thread() -> None:
    file = msgspec.structs.replace(a_file(), limits=Limits(per_second=100, digest_over=100))  # type: ignore[arg-type]
    with a_desk(file) as desk:
        alerts = [told(E.SENSOR_REJECTED, n, message=f"m{n}", part=n) for n in range(20)]
        deliveries = desk.route(*alerts)
        barrier = Barrier(2)

        def dispatch(_: int) -> None:
            barrier.wait(timeout=30)
            send_alerts(deliveries, desk.alerts, desk.alerting.ports)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(dispatch, range(2)))
        desk.settle(seconds=60)
        roots = [note for note in desk.slack.said if note.startswith("root")]
        assert len(roots) == 1
        assert sorted(note.split()[1] for note in desk.slack.said) == sorted(
            f"m{n}" for n in range(20)
        )


def test_who_loses_the_thread_waits_three_seconds_and_spends_no_try(desk: Desk) -> None:
    (delivery,) = desk.route(FAILED)
    thread = desk.store.threads.of_date("silver-orders", "stream", "2026-03-03")[0]
    claimed = thread.claimed("another sender", desk.clock())
    assert claimed is not None and desk.store.threads.save(claimed)
    (after,) = send_alerts([delivery], desk.alerts, desk.alerting.ports)
    assert (after.state, after.tries) == (DeliveryState.QUEUED, 0)
    assert after.due_at == desk.clock() + timedelta(seconds=3)
    desk.settle(seconds=60)  # the other died: its claim ends
    assert desk.slack.said == ["root it failed"]


def test_a_deleted_thread_is_replaced_by_a_new_one(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.slack.answers.append(NoThread("thread_not_found"))
    desk.tell(DONE)
    desk.settle(seconds=5)
    assert desk.slack.said == ["root it failed", "root it succeeded"]
    assert desk.state(DONE) == {"slack C0MAIN": "sent"}


def test_a_deleted_first_message_is_posted_again_with_the_next_alert(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.slack.update_answers.append(NoThread("message_not_found"))
    desk.tell(told(E.TRIGGER_STARTED, 5))
    desk.settle(seconds=2)
    desk.tell(told(E.SLA_BREACH, 9, message="late"))
    desk.settle(seconds=2)
    assert desk.slack.said == ["root it failed", "root late"]


def test_a_first_message_that_can_not_be_posted_is_left_to_the_next(desk: Desk) -> None:
    desk.slack.answers.append(SendFailed("HTTP 500"))
    desk.tell(FAILED)
    desk.settle(seconds=1)
    desk.tell(told(E.SLA_BREACH, 9, message="late"))
    desk.settle(seconds=2)
    assert desk.slack.said == ["root late"]  # nothing waits behind what fails
    desk.settle(seconds=10)
    assert desk.slack.said == ["root late", "reply it failed"]


def test_the_first_message_is_changed_later_when_it_can_not_be_changed_now(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.slack.update_answers += [TryLater(timedelta(seconds=20)), SendFailed("HTTP 500")]
    desk.tell(DONE)
    desk.settle(seconds=60)
    assert desk.slack.said == ["root it failed", "reply it succeeded"]  # the reply is there once
    assert desk.slack.faces == ["done"]


def test_a_first_message_that_can_never_be_changed_is_no_reason_to_repeat_the_reply(
    desk: Desk,
) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.slack.update_answers += [SendFailed("HTTP 500")] * 9
    desk.tell(DONE)
    desk.settle(minutes=5)
    assert desk.slack.said == ["root it failed", "reply it succeeded"]
    assert desk.state(DONE) == {"slack C0MAIN": "sent"}


def test_of_two_who_change_the_first_message_the_later_state_stays(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)

    def meanwhile() -> None:
        desk.slack.on_update = lambda: None
        desk.route(DONE)

    desk.slack.on_update = meanwhile
    desk.tell(told(E.TRIGGER_STARTED, 1.5))
    desk.settle()
    assert desk.slack.faces[-1] == "done"


# --- failures -------------------------------------------------------------------------------------


def test_a_failure_is_tried_again_and_at_last_given_up_and_told_elsewhere(desk: Desk) -> None:
    desk.slack.answers += [SendFailed("HTTP 500"), TransientError("no answer"), ValueError("a bug")]
    desk.tell(FAILED)
    desk.settle(minutes=5)
    assert desk.slack.posts == []
    (lost,) = desk.told_of("ALERT_UNDELIVERED")
    assert lost.detail["sink"] == "slack" and lost.detail["tries"] == 3
    assert "a bug" in lost.detail["error"]
    assert desk.state(FAILED) == {"slack C0MAIN": "dead"}
    assert [note.split()[0] for note in desk.console.said] == ["reply"]  # other sinks only
    assert desk.state(lost) == {"console": "sent"}


def test_a_failing_alert_of_a_thread_holds_up_no_other(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    desk.slack.answers.append(SendFailed("internal_error"))
    desk.tell(told(E.SLA_WARNING, 5, message="soon"))
    desk.settle(seconds=1)
    desk.tell(GRAVE)
    desk.settle(seconds=2)
    assert desk.slack.said == ["root it failed", "reply it broke"]


def test_a_channel_that_can_not_be_reached_is_asked_once_a_round() -> None:
    file = msgspec.structs.replace(a_file(), limits=Limits(digest_over=100))
    with a_desk(file) as desk:
        asked = []
        desk.slack.on_post = lambda: asked.append(desk.clock.now)
        desk.slack.answers.append(SendFailed("out of time", unreachable=True))
        desk.tell(*many(5))
        desk.dispatcher().step(desk.clock.now)
        assert len(asked) == 1
        desk.settle(seconds=60)
        assert len(desk.slack.posts) == 5


def test_what_its_channel_does_not_take_the_default_gets_at_once_with_a_note() -> None:
    with a_desk(a_file(a_route(channel="C0GONE"))) as desk:
        desk.slack.answers.append(NoChannel("is_archived"))
        desk.tell(FAILED)
        desk.settle(seconds=2)
        assert channels(desk.slack.posts) == []
        assert desk.state(FAILED) == {"console": "sent", "slack C0GONE": "dead"}
        (_, note, _) = desk.console.posts[0]
        assert isinstance(note, AlertNote) and "C0GONE: is_archived" in note.note
        assert desk.told_of("ALERT_UNDELIVERED") == []


def test_without_access_the_console_gets_it_and_an_event_says_so(desk: Desk) -> None:
    desk.slack.answers.append(NoAccess("token_revoked"))
    desk.tell(FAILED)
    desk.settle(seconds=2)
    assert "reply it failed" in desk.console.said
    (lost,) = desk.told_of("ALERT_UNDELIVERED")
    assert lost.detail["error"] == "token_revoked"


def test_a_sink_that_wants_no_more_is_switched_off_until_its_settings_change() -> None:
    with a_desk(a_file(ops=HOOK, slack=SLACK)) as desk:
        desk.sinks["ops"].answers.append(SinkGone("HTTP 410"))
        first, second, third = many(3)
        desk.tell(first)
        desk.settle(seconds=5)
        assert len(desk.told_of("ALERT_UNDELIVERED")) == 1
        desk.tell(second)
        desk.settle(seconds=5)
        assert desk.sinks["ops"].posts == []
        assert desk.state(second) == {"console": "sent", "ops": "dead"}
        moved = msgspec.structs.replace(HOOK, url="https://other.example")
        desk.alerts = a_file(ops=moved, slack=SLACK)
        desk.tell(third)
        desk.settle(seconds=5)
        assert desk.sinks["ops"].said == ["reply m2"]


def test_an_alert_for_a_sink_that_is_no_longer_declared_goes_to_the_default(desk: Desk) -> None:
    (delivery,) = desk.route(FAILED)
    desk.alerts = a_file(log=CONSOLE)
    desk.sinks["log"] = desk.sinks.pop("console")
    del desk.sinks["slack"]
    send_alerts([delivery], desk.alerts, desk.alerting.ports)
    assert desk.state(FAILED) == {"log": "sent", "slack C0MAIN": "dead"}


def test_a_digest_for_a_sink_that_is_no_longer_there_is_handed_over_whole(desk: Desk) -> None:
    deliveries = desk.route(*many(6))
    desk.slack.answers.append(NoChannel("channel_not_found"))
    send_alerts(deliveries, desk.alerts, desk.alerting.ports)
    assert len(desk.console.posts) == 6


def test_an_alert_about_an_undelivered_alert_makes_no_further_one(desk: Desk) -> None:
    desk.slack.answers += [NoAccess("invalid_auth")] * 9
    desk.console.answers += [SendFailed("disk full")] * 30
    desk.tell(FAILED)
    desk.settle(minutes=30)
    told_of = desk.told_of("ALERT_UNDELIVERED")
    assert {each.detail["sink"] for each in told_of} == {"slack", "console"}
    assert len(told_of) <= 3  # it does not go on for ever


def test_a_quiet_change_for_a_sink_that_is_gone_is_dropped(desk: Desk) -> None:
    desk.tell(FAILED)
    desk.settle(seconds=2)
    quiet = desk.route(told(E.TRIGGER_STARTED, 5))
    desk.alerting.ports.switches.turn_off("slack", desk.alerts.declared("slack"))
    send_alerts(quiet, desk.alerts, desk.alerting.ports)
    assert desk.console.posts == []


def test_several_sinks_each_get_it_and_one_that_fails_fails_alone() -> None:
    file = a_file(a_route(goes_on=True), a_route("ops"), slack=SLACK, ops=HOOK)
    with a_desk(file) as desk:
        desk.sinks["ops"].answers.append(SendFailed("HTTP 500"))
        desk.tell(FAILED)
        desk.settle(seconds=1)
        assert desk.state(FAILED) == {"slack C0MAIN": "sent", "ops": "queued"}
        desk.settle(seconds=10)
        assert desk.state(FAILED) == {"slack C0MAIN": "sent", "ops": "sent"}
        assert len(desk.slack.posts) == 1


def test_a_sink_without_threads_hears_of_the_end_of_what_it_heard_of() -> None:
    with a_desk(a_file(log=CONSOLE)) as desk:
        desk.tell(DONE)
        desk.settle()
        assert desk.sinks["log"].posts == []
        desk.tell(told(E.JOB_FAILED, 1, key=a_key(date="2026-01-01")))
        desk.tell(told(E.JOB_COMPLETED, 2, key=a_key(date="2026-01-01")))
        desk.settle()
        assert [note.split()[1] for note in desk.sinks["log"].said] == [
            "JOB_FAILED",
            "JOB_COMPLETED",
        ]


def test_targets_are_distinguished() -> None:
    with a_desk(a_file(a_route(goes_on=True), a_route(channel="C0OTHER"))) as desk:
        desk.tell(FAILED)
        desk.settle(seconds=2)
        assert sorted(channels(desk.slack.posts)) == ["C0MAIN", "C0OTHER"]
        desk.tell(DONE)
        desk.settle(seconds=3)
        assert len(desk.slack.posts) == 4
        assert desk.store.deliveries.find(DONE, Target("slack", "C0OTHER")) is not None


def test_a_death_after_any_write_loses_nothing_and_repeats_one_message_at_most() -> None:
    """Only a death between a message and the note that it was sent may repeat it."""
    wanted = ["root m0", "root it failed", "reply it succeeded"]
    other = many(1)[0]
    for fatal in itertools.count(1):
        with a_desk(a_file()) as desk:
            deaths = Deaths(fatal)
            desk.tell(FAILED, DONE, other)
            desk.store.database.after_commit = deaths.written
            while True:
                try:
                    desk.settle(minutes=5)
                    break
                except Death:
                    pass
            said = [each.split(maxsplit=1)[1] for each in desk.slack.said]
            assert set(said) == {"it failed", "it succeeded", "m0"}
            assert len(said) <= len(wanted) + 1
            assert desk.slack.faces[-1:] in ([], ["done"])
            for event in (FAILED, DONE, other):
                assert desk.state(event) == {"slack C0MAIN": "sent"}
            if not deaths.struck:
                assert desk.slack.said == wanted
                break
    assert fatal > 15


def test_the_time_of_giving_up_is_that_which_is_stored(desk: Desk) -> None:
    """A repeat after a death between the two tells the very same thing."""
    (delivery,) = desk.route(FAILED)
    given_up = delivery.given_up("HTTP 500", NOW)
    assert desk.store.deliveries.save(given_up)
    desk.settle(seconds=60)
    (lost,) = desk.told_of("ALERT_UNDELIVERED")
    assert lost.timestamp == NOW
    assert desk.state(FAILED) == {"slack C0MAIN": "dead"}


class Unpublished:
    """An event log that takes nothing for now."""

    def publish(self, events: Sequence[Event]) -> None:
        raise TransientError("no event is taken")


def test_giving_up_that_can_not_be_published_waits_and_holds_up_no_other_alert(desk: Desk) -> None:
    (delivery,) = desk.route(FAILED)
    given_up = delivery.given_up("HTTP 500", NOW)
    assert desk.store.deliveries.save(given_up)
    (other,) = desk.route(GRAVE)
    alerting = desk.alerting
    ports = replace(alerting.ports, events=Unpublished())  # type: ignore[arg-type]
    send_alerts([given_up, other], alerting.alerts, ports)
    assert desk.told_of("ALERT_UNDELIVERED") == []
    assert desk.state(GRAVE) == {"slack C0MAIN": "sent"}
    desk.settle(seconds=60)
    assert len(desk.told_of("ALERT_UNDELIVERED")) == 1
    assert desk.state(FAILED) == {"slack C0MAIN": "dead"}
