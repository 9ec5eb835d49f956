"""Deliveries, threads, rate limits, disabled sinks: of two senders one has the alert, and sends it once."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from contracts.home import Home, tell
from contracts.samples import (
    ALERT,
    KEY,
    NOW,
    a_delivery,
    a_handling,
    a_thread,
    an_event,
    many,
)
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.alerting.threads import AlertKey, Thread, ThreadKey
from interlock.domain.event import Event, EventType, Phase, Severity, Subject, happened

AtOnce = Callable[[Sequence[Callable[[], bool]]], list[bool]]

C1, C2 = Target("slack", "C1"), Target("slack", "C2")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def stored(home: Home, delivery: Delivery) -> Delivery:
    assert home.deliveries.save(delivery)
    return delivery


# --- deliveries -----------------------------------------------------------------------------------


def test_a_delivery_comes_back_as_it_was_stored(home: Home) -> None:
    delivery = stored(home, a_delivery())
    assert home.deliveries.find(delivery.event, C1) == delivery
    full = msgspec.structs.replace(
        delivery,
        version=2,
        state=DeliveryState.SENDING,
        tries=3,
        error="HTTP 500",
        receipt="1741000000.000100",
        quiet=True,
        released=True,
        note="came here because C9 is archived",
        escalates="",
        due_at=NOW + HOUR,
    )
    assert home.deliveries.save(full)
    assert home.deliveries.find(delivery.event, C1) == full


def test_an_event_is_delivered_once_per_sink_and_channel(home: Home) -> None:
    stored(home, a_delivery())
    assert not home.deliveries.save(a_delivery())
    assert home.deliveries.save(a_delivery(target=C2))
    assert home.deliveries.save(a_delivery(target=Target("ops", "C1")))
    assert home.deliveries.find(an_event(1), Target("ops")) is None
    assert home.deliveries.find(an_event(2), C1) is None


def test_of_twenty_senders_one_has_the_alert(home: Home, at_once: AtOnce) -> None:
    delivery = stored(home, a_delivery())
    won = at_once([lambda: home.deliveries.save(delivery.claimed(NOW))] * 20)
    assert won.count(True) == 1


def test_of_twenty_first_deliveries_of_one_event_one_is_stored(home: Home, at_once: AtOnce) -> None:
    assert at_once([lambda: home.deliveries.save(a_delivery())] * 20).count(True) == 1


def test_a_sender_that_lost_its_claim_can_no_longer_answer(home: Home) -> None:
    first = a_delivery().claimed(NOW)
    stored(home, a_delivery())
    stored(home, first)
    second = stored(home, first.claimed(NOW + HOUR))
    assert not home.deliveries.save(first.sent(NOW, "1"))
    assert not home.deliveries.save(first.failed("late", NOW, ()))
    assert home.deliveries.save(second.sent(NOW, "2"))


def test_where_events_went_is_listed_by_event_and_target(home: Home) -> None:
    one, other = an_event(1), an_event(2)
    for event, target in ((one, C2), (one, C1), (other, Target("ops"))):
        stored(home, a_delivery(event, target))
    found = home.deliveries.of_events([one, other, an_event(3)])
    assert {name: [each.target for each in found[name]] for name in found} == {
        one.event_id: [C1, C2],
        other.event_id: [Target("ops")],
    }
    assert home.deliveries.of_events([]) == {}


def test_an_event_whose_id_begins_like_another_is_another(home: Home) -> None:
    short, long = an_event("orders"), an_event("orders#2026")
    stored(home, a_delivery(short))
    stored(home, a_delivery(long))
    assert len(home.deliveries.of_events([short])[short.event_id]) == 1


def test_held_alerts_wait_for_the_end_of_their_mute_in_the_order_of_their_events(
    home: Home,
) -> None:
    late = a_delivery(an_event(1, at=NOW + MINUTE))
    early = a_delivery(an_event(2))
    system = a_delivery(an_event(3, None, EventType.SFN_TIMEOUT, at=NOW + HOUR))
    for delivery in (late, early, system):
        stored(home, delivery)
        stored(home, delivery.held(NOW + HOUR))
    stored(home, a_delivery(an_event(4)))
    stored(home, msgspec.structs.replace(a_delivery(target=C2), state=DeliveryState.HELD))
    assert home.deliveries.held(C1, NOW + HOUR - SECOND) == []
    held = home.deliveries.held(C1, NOW + HOUR)
    assert [each.event for each in held] == [early.event, late.event, system.event]
    assert home.deliveries.held(Target("slack", "C"), NOW + HOUR) == []


def test_a_held_alert_that_was_freed_or_settled_is_held_no_longer(home: Home) -> None:
    freed, settled = many(2, lambda part: a_delivery(an_event(part)).held(NOW))
    first = [msgspec.structs.replace(each, version=1) for each in (freed, settled)]
    for delivery in first:
        stored(home, delivery)
    stored(home, first[0].freed(NOW))
    stored(home, first[1].sent(NOW, "summary"))
    assert home.deliveries.held(C1, NOW + HOUR) == []
    found = home.deliveries.find(first[0].event, C1)
    assert found is not None and found.released and found.state is DeliveryState.QUEUED


def test_an_escalation_waits_and_is_cancelled(home: Home) -> None:
    waiting = msgspec.structs.replace(
        a_delivery(), state=DeliveryState.WAITING, escalates="30m", due_at=NOW + HOUR
    )
    stored(home, waiting)
    assert home.deliveries.find(waiting.event, C1) == waiting
    later = stored(home, waiting.waits(NOW + 2 * HOUR))
    over = stored(home, later.cancelled(NOW + HOUR, "acknowledged by ada"))
    assert home.deliveries.find(waiting.event, C1) == over
    assert over.is_settled and home.deliveries.held(C1, NOW + 3 * HOUR) == []


# --- threads --------------------------------------------------------------------------------------


def test_a_thread_comes_back_as_it_was_stored(home: Home) -> None:
    thread = a_thread()
    assert home.threads.save(thread)
    assert home.threads.find(thread.key) == thread
    full = msgspec.structs.replace(
        thread,
        version=2,
        claimed_by="me",
        claim_until=NOW + MINUTE,
        thread_ts="1741000000.000100",
        state=Phase.LATE,
        state_at=NOW,
        severity=Severity.ERROR,
        first="it is late",
        latest="it is very late",
        root_hash="abc",
        handled="acknowledged by ada at 2026-03-03 10:00 UTC: looking",
    )
    assert home.threads.save(full)
    assert home.threads.find(thread.key) == full


def test_of_twenty_first_alerts_one_claims_the_thread(home: Home, at_once: AtOnce) -> None:
    def claim(number: int) -> bool:
        home.threads.save(a_thread())
        found = home.threads.find(a_thread().key)
        claimed = None if found is None else found.claimed(str(number), NOW)
        return claimed is not None and home.threads.save(claimed)

    won = at_once([lambda number=n: claim(number) for n in range(20)])  # type: ignore[misc]
    assert won.count(True) == 1
    thread = home.threads.find(a_thread().key)
    assert thread is not None and thread.claimed_by == str(won.index(True))


def test_only_the_first_to_store_a_version_wins(home: Home) -> None:
    thread = a_thread()
    assert home.threads.save(thread)
    assert not home.threads.save(thread)
    assert home.threads.save(thread.rooted("1", "face"))
    assert not home.threads.save(thread.unclaimed(NOW))


def test_a_date_has_a_thread_in_each_channel(home: Home) -> None:
    keys = [a_thread(channel=channel) for channel in ("C3", "C1", "C2")]
    elsewhere = [a_thread(date="2026-03-04"), a_thread(date="2026-03-03T10")]
    for thread in (*keys, *elsewhere):
        assert home.threads.save(thread)
    found = home.threads.of_date(KEY.pipeline_id, KEY.schedule_id, KEY.date)
    assert [thread.key.channel for thread in found] == ["C1", "C2", "C3"]
    assert all(home.threads.find(thread.key) == thread for thread in found)
    assert home.threads.of_date("p", "s", "d") == []


def test_threads_of_no_pipeline_are_threads_too(home: Home) -> None:
    key = ThreadKey("_system", "WATCHDOG_DEGRADED", "2026-03-03", "C1")
    thread = Thread(key=key, created_at=NOW, claim_until=NOW)
    assert home.threads.save(thread)
    assert home.threads.of_date("_system", "WATCHDOG_DEGRADED", "2026-03-03") == [thread]


# --- paces and switches ---------------------------------------------------------------------------


def test_a_channel_takes_one_message_a_second(home: Home) -> None:
    assert home.paces.take("C1", NOW, SECOND) == NOW
    assert home.paces.take("C1", NOW, SECOND) == NOW + SECOND
    assert home.paces.take("C2", NOW, SECOND) == NOW
    assert home.paces.take("C1", NOW + SECOND, SECOND) == NOW + SECOND


def test_of_twenty_senders_one_has_the_slot(
    home: Home, at_once: Callable[[Sequence[Callable[[], Any]]], list[Any]]
) -> None:
    slots = at_once([lambda: home.paces.take("C1", NOW, SECOND)] * 20)
    assert slots.count(NOW) == 1


def test_a_channel_that_asks_to_be_left_alone_is(home: Home) -> None:
    later = NOW + timedelta(seconds=30)
    home.paces.block("C1", later)
    home.paces.block("C1", NOW)
    assert home.paces.take("C1", NOW, SECOND) == later
    assert home.paces.take("C1", later, SECOND) == later


@pytest.mark.parametrize("again", [1, 2])
def test_a_sink_that_was_turned_off_is_on_again_with_other_settings(home: Home, again: int) -> None:
    assert not home.switches.is_off("ops", "before")
    for _ in range(again):
        home.switches.turn_off("ops", "before")
    assert home.switches.is_off("ops", "before")
    assert not home.switches.is_off("ops", "after")
    assert not home.switches.is_off("other", "before")
    home.switches.turn_off("ops", "after")
    assert home.switches.is_off("ops", "after")


def test_open_threads_are_listed_newest_first(home: Home) -> None:
    old = a_thread(channel="C1")
    new = msgspec.structs.replace(a_thread(channel="C2"), created_at=NOW + HOUR)
    done = a_thread(channel="C3")
    key = ThreadKey("_system", "CONFIG_REJECTED", KEY.date, "C1")
    system = msgspec.structs.replace(old, key=key)
    for thread in (old, new, done, system):
        assert home.threads.save(thread)
    assert home.threads.save(msgspec.structs.replace(done, state=Phase.DONE, version=2))
    found = home.threads.open([KEY.pipeline_id], 10)
    assert found[0] == new and {each.key for each in found} == {old.key, new.key, system.key}
    assert home.threads.open([KEY.pipeline_id], 1) == [new]
    assert home.threads.open([], 10) == [system]


# --- handlings ------------------------------------------------------------------------------------


def announced(part: str = "1") -> Event:
    parts = (1, part)
    about = Subject(KEY.pipeline_id, KEY.schedule_id, KEY.date)
    return happened(EventType.ALERT_ACKNOWLEDGED, about, NOW, "acknowledged", parts=parts)


def test_what_people_did_comes_back_as_it_was_stored(home: Home) -> None:
    assert home.handlings.find(ALERT) is None and home.handlings.of_keys([]) == {}
    handling = a_handling()
    assert home.handlings.save(handling)
    other = msgspec.structs.replace(handling, key=AlertKey("_system", "CONFIG_REJECTED", KEY.date))
    assert home.handlings.save(other)
    assert home.handlings.find(ALERT) == handling
    unknown = AlertKey(KEY.pipeline_id, "other", KEY.date)
    found = home.handlings.of_keys([ALERT, other.key, unknown])
    assert found == {ALERT: handling, other.key: other}


def test_of_twenty_people_one_is_first(home: Home, at_once: AtOnce) -> None:
    first = a_handling()
    assert at_once([lambda: home.handlings.save(first)] * 20).count(True) == 1
    second = first.unsnooze(NOW)
    assert at_once([lambda: home.handlings.save(second)] * 20).count(True) == 1
    assert not home.handlings.save(msgspec.structs.replace(second, version=9))
    assert home.handlings.find(ALERT) == second


def test_the_event_waits_in_the_outbox_until_it_is_published(home: Home) -> None:
    event = announced()
    assert home.handlings.save(a_handling(), event)
    assert home.outbox.pending(event.event_id) == [event]
    tell(home, [event])
    assert home.outbox.pending(event.event_id) == []


def test_who_loses_announces_nothing(home: Home) -> None:
    assert home.handlings.save(a_handling())
    event = announced("2")
    assert not home.handlings.save(a_handling(), event)
    assert home.outbox.pending(event.event_id) == []


def test_an_unreadable_row_is_replaced_by_the_next_thing_that_people_do(home: Home) -> None:
    number = 0
    while True:
        handling = a_handling()
        found = home.handlings.find(ALERT)
        if found is not None:
            handling = found.unsnooze(NOW)
        assert home.handlings.save(handling)
        if not home.spoil("handling", number):
            break
        number += 1
        assert home.handlings.find(ALERT) is None
        assert [row.table for row in home.unreadable.met()]
        assert home.handlings.save(a_handling(), announced(str(number)))
        assert home.handlings.find(ALERT) == a_handling()
    assert number > 2
