"""Event log: whoever listens hears every event once, in the order in which it was told."""

from datetime import timedelta

from contracts.samples import NOW, an_event, many
from interlock.adapters.local.store import Store


def test_a_listener_follows_the_log_in_the_order_of_telling(store: Store) -> None:
    late, early = an_event(1, at=NOW + timedelta(hours=1)), an_event(2)
    store.events.publish([late])
    store.events.publish([late, early])
    first, second = store.events.after(0, 10)
    assert (first.event, second.event) == (late, early)
    assert store.events.after(first.seq, 10) == [second]
    assert store.events.after(0, 1) == [first]
    assert store.events.last() == second.seq


def test_a_listener_goes_on_where_it_stopped(store: Store) -> None:
    assert store.events.last() == 0
    store.events.publish(many(5, an_event))
    heard = []
    while told := store.events.after(store.cursors.at("alerts"), 2):
        heard += [item.event for item in told]
        store.cursors.move("alerts", told[-1].seq)
    assert heard == many(5, an_event)


def test_a_cursor_that_was_moved_stays_moved(store: Store) -> None:
    store.cursors.move("alerts", 7)
    store.cursors.move("alerts", 3)
    assert store.cursors.at("alerts") == 7
