"""Rows whose text is of another row, or of nothing that is known: noted, and never in the way."""

import sqlite3
from datetime import timedelta
from typing import Any

import pytest

from contracts.samples import (
    KEY,
    NOW,
    a_config,
    a_delivery,
    a_key,
    a_pipeline,
    a_reading,
    a_record,
    a_request,
    a_run,
    an_event,
)
from interlock.adapters.sqlite.inspection import inspect
from interlock.adapters.sqlite.store import Store
from interlock.domain.callers import AuditEntry
from interlock.domain.run import Status
from interlock.domain.sensor import UnreadableReading
from interlock.domain.sla import SlaWatch
from interlock.errors import UnreadableError
from interlock.operations.tokens import make_token

OTHER = a_key(date="2026-03-04")


def change(store: Store, statement: str, *given: Any) -> None:
    def unit(connection: sqlite3.Connection) -> None:
        assert connection.execute(statement, given).rowcount

    store.database.write(unit)


def swap(store: Store, table: str, column: str, order: str = "rowid") -> None:
    """Give every row the text of the first."""
    first = f"(SELECT {column} FROM {table} ORDER BY {order} LIMIT 1)"
    change(store, f"UPDATE {table} SET {column} = {first}")


def noted(store: Store) -> list[str]:
    return [row.table for row in store.unreadable.met()]


def test_the_run_of_another_date_is_not_this_ones(store: Store) -> None:
    store.runs.open(a_run())
    store.runs.open(a_run(OTHER))
    swap(store, "runs", "run")
    found = store.runs.find([KEY, OTHER])
    assert [found[KEY].status, found[OTHER].status] == [Status.PENDING, Status.UNREADABLE]


@pytest.mark.parametrize("status", ["COMPLETED", "UNREADABLE"])
def test_a_status_that_only_its_column_has_is_not_believed(store: Store, status: str) -> None:
    store.runs.open(a_run())
    change(store, "UPDATE runs SET status = ?", status)
    with pytest.raises(UnreadableError, match=f"its columns say {status} 1 0, but its text says"):
        store.runs.get(KEY)
    change(store, "UPDATE runs SET run = json_set(run, '$.status', ?)", status)
    found = store.runs.find([KEY])[KEY]
    assert found.status == status


def test_a_run_of_no_date_is_in_no_list(store: Store) -> None:
    store.runs.open(a_run())
    store.runs.open(a_run(OTHER))
    text = "replace(run, '2026-03-04', 'never')"
    change(store, f"UPDATE runs SET date = 'never', run = {text} WHERE date = ?", OTHER.date)
    listed = store.runs.of_pipeline(None, "0000", "zzzz", 10)
    assert [run.key for run in listed] == [KEY]
    glances = store.history.glances([KEY.pipeline_id], "0000", "zzzz")
    assert [each.key for each in glances] == [KEY]
    assert len(store.history.tallies([KEY.pipeline_id], "0000", "zzzz")) == 1
    assert store.history.newest({KEY.pipeline_id: "9999"})[KEY.pipeline_id].key == KEY


def test_an_unknown_status_is_counted_as_one(store: Store) -> None:
    store.runs.open(a_run())
    store.runs.open(a_run(OTHER))
    change(store, "UPDATE runs SET status = 'LATER' WHERE date = ?", KEY.date)
    change(store, "UPDATE runs SET status = 'EVEN_LATER' WHERE date = ?", OTHER.date)
    assert store.history.counts("0000", "9999") == {Status.UNREADABLE: 2}
    assert store.history.waiting(10) == []


def test_the_reading_of_another_key_is_not_this_ones(store: Store) -> None:
    store.sensors.put_all([a_reading("a"), a_reading("b")])
    swap(store, "sensors", "reading")
    found = store.sensors.find(KEY.pipeline_id, ["a", "b"])
    assert isinstance(found["b"], UnreadableReading)
    assert not isinstance(found["a"], UnreadableReading)


def test_the_config_of_another_pipeline_is_not_this_ones(store: Store) -> None:
    for name in ("a", "b"):
        store.pipelines.save(a_config(a_pipeline(name)))
    swap(store, "pipelines", "active", "id")
    assert [config.pipeline.id for config in store.pipelines.in_force()] == ["a"]


def test_the_watch_of_another_date_is_not_this_ones(store: Store) -> None:
    for key in (KEY, OTHER):
        store.claims.save_watch(SlaWatch(key=key))
    swap(store, "marks", "body", "name")
    assert list(store.claims.watches([KEY, OTHER])) == [KEY]


def test_the_request_of_another_date_is_not_this_ones(store: Store) -> None:
    for key in (KEY, OTHER):
        store.reruns.request(a_request(key=key))
    swap(store, "rerun_requests", "request", "date")
    assert [request.key for request in store.reruns.unjudged()] == [KEY]


def test_a_line_is_what_its_columns_say(store: Store) -> None:
    store.job_log.append(a_record("triggered"))
    store.job_log.append(a_record("success", at=NOW + timedelta(minutes=1)))
    swap(store, "job_log", "record")
    assert [record.event for record in store.job_log.of_run(KEY)] == ["triggered", "success"]


def test_an_event_that_waits_under_another_id_is_published_by_its_id(store: Store) -> None:
    store.runs.open(a_run(), [an_event(1), an_event(2)])
    swap(store, "outbox", "body", "seq")
    waiting = store.outbox.pending(str(KEY))
    assert [event.event_id for event in waiting] == [an_event(1).event_id, an_event(2).event_id]
    store.outbox.clear(waiting)
    assert store.outbox.pending(str(KEY)) == []


def test_an_event_of_which_nothing_is_known_waits_and_holds_up_nothing(store: Store) -> None:
    store.runs.open(a_run(), [an_event(1), an_event(2)])
    change(store, "UPDATE outbox SET body = '{', event_id = 'nothing' WHERE seq = 1")
    assert store.outbox.pending(str(KEY)) == [an_event(2)]
    assert noted(store) == ["outbox"]


def test_an_alert_of_which_nothing_is_known_is_given_up(store: Store) -> None:
    store.deliveries.save(a_delivery())
    store.deliveries.save(a_delivery(an_event(2)))
    lost = an_event(1).event_id
    change(store, "UPDATE alerts SET body = '{', event_id = 'nothing' WHERE event_id = ?", lost)
    assert [each.event for each in store.deliveries.due(NOW, 10)] == [an_event(2)]
    row = store.database.read(
        lambda connection: connection.execute(
            "SELECT state, error FROM alerts WHERE event_id = 'nothing'"
        ).fetchone()
    )
    assert row[0] == "dead" and "truncated" in row[1]
    assert noted(store) == ["alerts"]


def test_an_alert_with_the_text_of_another_is_of_the_event_that_it_stands_under(
    store: Store,
) -> None:
    """Else its row would never change, and be due for ever."""
    for n in (1, 2):
        store.deliveries.save(a_delivery(an_event(n)))
    swap(store, "alerts", "body", "id")
    waiting = store.deliveries.due(NOW, 10)
    ids = [each.event.event_id for each in waiting]
    assert ids == [an_event(1).event_id, an_event(2).event_id]
    assert all(store.deliveries.save(each.sent(NOW)) for each in waiting)
    assert store.deliveries.due(NOW, 10) == []
    assert noted(store) == ["alerts"]


@pytest.mark.parametrize("change_id", ["2", "yesterday"])
def test_a_parked_change_with_the_id_of_another_is_not_tried_again(
    store: Store, change_id: str
) -> None:
    store.sensors.put(a_reading())
    (parked,) = store.changes.next("router", 1)
    due = store.changes.park("router", parked, "on purpose", NOW)
    assert due is not None
    change(store, "UPDATE dead_changes SET change = json_set(change, '$.id', ?)", change_id)
    assert store.changes.parked_due("router", due) == []
    assert store.changes.next_try("router") is None
    assert noted(store) == ["dead_changes"]


def test_a_token_and_an_entry_that_cannot_be_read_are_none(store: Store) -> None:
    store.tokens.create(make_token("t", ("read",), (), "s" * 40, NOW))
    store.audit.note(AuditEntry(at=NOW, actor="ada", action="rerun", target="x"))
    (token,) = store.tokens.all()
    assert inspect(store.database) == []
    change(store, "UPDATE tokens SET token = '{'")
    change(store, "UPDATE audit SET entry = '{'")
    assert (store.tokens.find(token.hash), store.tokens.all()) == (None, [])
    assert store.audit.newest(5) == []
    assert {row.table for row in inspect(store.database)} == {"tokens", "audit"}
