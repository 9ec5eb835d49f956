"""Event log: a listener gets every event once, in the order of publication."""

from datetime import timedelta

from contracts.samples import NOW, an_event, many
from interlock.adapters.sqlite.store import Store
from interlock.domain.history import EventFilter


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


def of_another_version(store: Store, count: int) -> None:
    """Events of a type that only a later version knows."""
    store.events.publish(many(count, lambda number: an_event(f"later-{number}")))
    store.database.write(
        lambda connection: connection.execute(
            "UPDATE events SET type = 'LATER', body = '{}' WHERE id GLOB '*later*'"
        )
    )


def test_events_that_only_a_later_version_knows_hold_up_no_listener(store: Store) -> None:
    of_another_version(store, 20)
    store.events.publish([an_event("known")])
    (told,) = store.events.after(0, 5)
    assert told.event == an_event("known")
    of_another_version(store, 3)
    assert store.events.after(told.seq, 5) == []
    assert store.unreadable.met() == []


def test_events_that_only_a_later_version_knows_make_no_page_shorter(store: Store) -> None:
    store.events.publish([an_event("first")])
    of_another_version(store, 20)
    store.events.publish([an_event("last")])
    found = store.history.events(EventFilter(), None, 5)
    assert [told.event for told in found] == [an_event("last"), an_event("first")]
    assert store.history.events(EventFilter(), None, 1) == found[:1]
    place = (found[0].event.timestamp, found[0].seq)
    assert store.history.events(EventFilter(), place, 5) == found[1:]
