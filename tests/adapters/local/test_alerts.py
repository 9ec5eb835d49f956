"""Alerts: each goes out once per channel, one sender at a time, in the order of its thread."""

from datetime import timedelta

from contracts.samples import NOW, an_event
from interlock.adapters.local.alerts import AlertState, QueuedAlert
from interlock.adapters.local.store import Store

LEASE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def queue(store: Store, *parts: object, thread: str = "") -> None:
    for part in parts:
        assert store.alerts.enqueue("slack", "C1", an_event(part), NOW, thread=thread)


def claim(store: Store, after: timedelta = timedelta(0)) -> list[QueuedAlert]:
    return store.alerts.claim(NOW + after, LEASE, 10)


def parts(alerts: list[QueuedAlert]) -> list[str]:
    return [alert.event.event_id.rsplit("/", 1)[1] for alert in alerts]


def test_an_event_is_queued_once_per_sink_and_channel(store: Store) -> None:
    queue(store, 1)
    assert not store.alerts.enqueue("slack", "C1", an_event(1), NOW)
    assert not store.alerts.hold("slack", "C1", an_event(1), NOW)
    assert store.alerts.enqueue("slack", "C2", an_event(1), NOW)
    assert store.alerts.enqueue("ops", "C1", an_event(1), NOW)
    assert len(store.alerts.of_event(an_event(1).event_id)) == 3


def test_one_sender_at_a_time_has_an_alert(store: Store) -> None:
    queue(store, 1)
    (alert,) = claim(store)
    assert (alert.event, alert.state, alert.due_at) == (
        an_event(1),
        AlertState.SENDING,
        NOW + LEASE,
    )
    assert claim(store) == []
    assert store.alerts.sent(alert, NOW, receipt="1741000000.000100")
    assert claim(store, HOUR) == []
    assert not store.alerts.enqueue("slack", "C1", an_event(1), NOW)


def test_an_expired_claim_is_handed_out_again_and_the_first_sender_loses_it(store: Store) -> None:
    queue(store, 1)
    (first,) = claim(store)
    assert claim(store, LEASE - timedelta(microseconds=1)) == []
    (second,) = claim(store, LEASE)
    assert not store.alerts.sent(first, NOW)
    assert not store.alerts.failed(first, "late", NOW)
    assert store.alerts.sent(second, NOW)


def test_a_failure_costs_a_try_and_waiting_costs_none(store: Store) -> None:
    queue(store, 1)
    (alert,) = claim(store)
    assert store.alerts.postponed(alert, NOW + HOUR)
    assert claim(store) == []
    (alert,) = claim(store, HOUR)
    assert (alert.tries, alert.error) == (0, None)
    assert store.alerts.failed(alert, "HTTP 500", NOW + 2 * HOUR)
    (alert,) = claim(store, 2 * HOUR)
    assert (alert.tries, alert.error) == (1, "HTTP 500")


def test_a_dead_alert_is_given_up(store: Store) -> None:
    queue(store, 1)
    (alert,) = claim(store)
    assert store.alerts.dead(alert, "gone", NOW)
    assert claim(store, 9 * HOUR) == []
    (dead,) = store.alerts.of_event(an_event(1).event_id)
    assert (dead.state, dead.tries, dead.error) == (AlertState.DEAD, 1, "gone")


def test_within_a_thread_the_order_is_kept(store: Store) -> None:
    queue(store, 1, 2, thread="p/s/d")
    queue(store, 3, thread="other")
    queue(store, 4, 5)
    alerts = claim(store)
    assert parts(alerts) == ["1", "3", "4", "5"]  # those of no thread wait for nobody
    first = alerts[0]
    assert store.alerts.failed(first, "HTTP 500", NOW + HOUR)
    assert parts(claim(store)) == []
    (first,) = (alert for alert in claim(store, HOUR) if parts([alert]) == ["1"])
    assert store.alerts.sent(first, NOW)
    assert parts(claim(store, HOUR)) == ["2"]


def test_an_alert_that_was_given_up_does_not_hold_back_its_thread(store: Store) -> None:
    queue(store, 1, 2, thread="p/s/d")
    (first,) = claim(store)
    assert store.alerts.dead(first, "gone", NOW)
    assert parts(claim(store)) == ["2"]


def test_threads_of_different_channels_do_not_wait_for_each_other(store: Store) -> None:
    queue(store, 1, thread="p/s/d")
    assert store.alerts.enqueue("slack", "C2", an_event(2), NOW, thread="p/s/d")
    assert parts(claim(store)) == ["1", "2"]


def test_a_held_alert_waits_until_it_is_released(store: Store) -> None:
    assert store.alerts.hold("slack", "C1", an_event(1), NOW + HOUR)
    queue(store, 2)
    (alert,) = claim(store)
    assert store.alerts.held(alert, NOW + HOUR)
    assert claim(store, 9 * HOUR) == []
    assert store.alerts.held_until(NOW) == []
    over = store.alerts.held_until(NOW + HOUR)
    assert parts(over) == ["1", "2"]
    store.alerts.release(over[:1], NOW + HOUR)
    store.alerts.summarised(over[1:], NOW + HOUR)
    assert parts(claim(store, HOUR)) == ["1"]
    assert store.alerts.held_until(NOW + HOUR) == []
    assert store.alerts.of_event(an_event(2).event_id)[0].state is AlertState.SENT


def test_what_is_due_for_a_channel_is_counted(store: Store) -> None:
    queue(store, 1, 2)
    store.alerts.enqueue("slack", "C2", an_event(3), NOW)
    store.alerts.enqueue("slack", "C1", an_event(4), NOW + HOUR)
    assert store.alerts.waiting("slack", "C1", NOW) == 2


def test_somebody_looks_again_when_something_is_due(store: Store) -> None:
    assert store.alerts.next_due() is None
    store.alerts.hold("slack", "C1", an_event(1), NOW + HOUR)
    assert store.alerts.next_due() == NOW + HOUR
    queue(store, 2)
    assert store.alerts.next_due() == NOW
    claim(store)
    assert store.alerts.next_due() == NOW + LEASE
