"""Change feed: every change reaches its consumer, and a bad one does not stop the others."""

from datetime import timedelta

import pytest

from contracts.samples import KEY, NOW, a_pipeline, a_reading, a_record, a_request, many, wanted
from interlock.adapters.sqlite.changes import DELAYS
from interlock.adapters.sqlite.store import Store
from interlock.domain.change import Change, ChangeKind
from interlock.domain.sensor import Reading


def put(store: Store, count: int) -> list[Change]:
    for number in range(count):
        store.sensors.put(a_reading(f"orders#{number}"))
    return store.changes.next("router", count)


def test_changes_come_in_the_order_of_their_writes_with_what_was_written(store: Store) -> None:
    store.sensors.put(a_reading())
    store.pipelines.want(wanted(a_pipeline()))
    store.reruns.request(a_request())
    store.job_log.append(a_record())
    changes = store.changes.next("router", 10)
    assert [change.kind for change in changes] == list(ChangeKind)
    assert [change.key for change in changes] == [
        "orders-landed",
        "CONFIG",
        "stream#2026-03-03",
        "stream#2026-03-03",
    ]
    assert [change.reading or change.request or change.record for change in changes] == [
        a_reading(),
        None,
        a_request(),
        a_record(),
    ]


def test_a_cursor_moves_forward_and_never_back(store: Store) -> None:
    first, second, third = put(store, 3)
    store.changes.done("router", second)
    store.changes.done("router", first)
    assert store.changes.next("router", 10) == [third]
    assert store.changes.next("router", 0) == []


def test_each_consumer_has_a_cursor_of_its_own(store: Store) -> None:
    changes = put(store, 2)
    store.changes.done("router", changes[1])
    assert store.changes.next("other", 10) == changes
    assert store.changes.next("router", 10) == []


def test_many_readings_put_at_once_are_many_changes(store: Store) -> None:
    readings = many(5, lambda number: a_reading(f"orders#{number}"))
    store.sensors.put_all(readings)
    assert [change.reading for change in store.changes.next("router", 10)] == readings


def test_a_parked_change_lets_the_feed_go_on_and_comes_back(store: Store) -> None:
    bad, good = put(store, 2)
    due = NOW + DELAYS[0]
    assert store.changes.park("router", bad, "it broke", NOW) == due
    assert store.changes.next_try("router") == due
    assert store.changes.next("router", 10) == [good]
    assert store.changes.parked_due("router", NOW) == []
    (parked,) = store.changes.parked_due("router", due)
    assert (parked.change, parked.error, parked.tries) == (bad, "it broke", 1)
    store.changes.settle("router", bad)
    assert store.changes.parked() == [] and store.changes.next_try("router") is None


def test_a_change_that_keeps_failing_stays_parked_until_it_is_retried(store: Store) -> None:
    (bad,) = put(store, 1)
    now, waits = NOW, []
    while (due := store.changes.park("router", bad, "it broke", now)) is not None:
        waits.append(due - now)
        now = due
    assert waits == [timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30)]
    assert store.changes.parked_due("router", now + timedelta(days=9)) == []
    assert [parked.tries for parked in store.changes.parked()] == [4]

    assert store.changes.retry_parked(now) == 1
    assert [parked.change for parked in store.changes.parked_due("router", now)] == [bad]
    assert store.changes.park("router", bad, "again", now) == now + DELAYS[0]


def test_what_one_consumer_parks_is_not_another_ones(store: Store) -> None:
    (bad,) = put(store, 1)
    store.changes.park("router", bad, "it broke", NOW)
    assert store.changes.parked_due("other", NOW + timedelta(days=1)) == []
    assert store.changes.next("other", 10) == [bad]
    assert [parked.consumer for parked in store.changes.parked()] == ["router"]


def test_a_change_whose_write_failed_was_never_there(store: Store) -> None:
    broken = Reading(KEY.pipeline_id, "broken", {"count": object()}, NOW, "version")
    with pytest.raises(TypeError):
        store.sensors.put_all([a_reading("orders"), broken])
    assert store.changes.next("router", 10) == []
    assert store.sensors.of_pipeline(KEY.pipeline_id) == []


def test_a_change_that_cannot_be_read_is_passed_over(store: Store) -> None:
    for number in range(12):
        store.sensors.put(a_reading(f"key-{number}"))
    store.database.write(
        lambda connection: connection.execute("UPDATE changes SET body = '{' WHERE seq <= 11")
    )
    (change,) = store.changes.next("router", 5)
    assert change.key == "key-11"
    assert len(store.unreadable.met()) == 11
    store.changes.done("router", change)
    assert store.changes.next("router", 5) == []


def test_a_parked_change_that_cannot_be_read_stays_parked_and_is_not_tried_again(
    store: Store,
) -> None:
    store.sensors.put(a_reading())
    (change,) = store.changes.next("router", 5)
    store.changes.park("router", change, "no", NOW)
    store.database.write(
        lambda connection: connection.execute("UPDATE dead_changes SET change = '{'")
    )
    later = NOW + timedelta(days=1)
    assert store.changes.parked_due("router", later) == []
    assert store.changes.next_try("router") is None
    assert store.changes.parked() == []
    assert [row.table for row in store.unreadable.met()] == ["dead_changes"]
