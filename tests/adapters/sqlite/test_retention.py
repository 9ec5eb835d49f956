"""Retention: what has done its work goes, in short transactions; the rest stays."""

from datetime import timedelta

import msgspec
import pytest

from contracts.samples import (
    NOW,
    ManualClock,
    a_backfill,
    a_config,
    a_delivery,
    a_grant,
    a_key,
    a_reading,
    a_record,
    a_request,
    a_run,
    a_thread,
    a_timer,
    an_event,
    many,
    reopened,
)
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.retention import SLICE, Spans, SqliteRetention
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.workflows import LogEntry, Progress
from interlock.domain.backfill import BackfillState, DateEnding
from interlock.domain.change import ChangeKind
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import Run, Status
from interlock.domain.sla import SlaWatch

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def fill(store: Store) -> None:
    """One row of everything, each at the end of its work."""
    failed = a_run().to(Status.FAILED, NOW)
    store.runs.open(a_run())
    store.runs.save(failed)
    store.runs.save(reopened(failed), rerun=a_grant())
    store.runs.open(a_run(a_key(dry=True), status=Status.COMPLETED))
    store.sensors.put(a_reading(ttl=int(NOW.timestamp()) + 86400))
    store.changes.done("router", store.changes.next("router", 10)[-1])
    store.reruns.request(a_request())
    store.reruns.judged(a_request())
    store.job_log.append(a_record())
    store.changes.done("router", store.changes.next("router", 10)[-1])
    store.claims.claim(an_event(1))
    store.events.publish([an_event(1)])
    store.timers.arm([a_timer()])
    store.timers.fire(a_timer().name, a_timer().due_at)
    store.deliveries.save(a_delivery())
    store.deliveries.save(a_delivery().sent(NOW))
    store.threads.save(a_thread())
    over = {"state": BackfillState.CANCELLED, "ended": {"2026-03-01": DateEnding.FAILED}}
    store.backfills.save(a_backfill())
    store.backfills.save(a_backfill().changed(**over))
    store.workflows.start("e", {})
    end(store)


def end(store: Store) -> None:
    claimed = store.workflows.claim("e", NOW)
    assert claimed is not None
    store.workflows.define("digest", "{}")
    entry = LogEntry(NOW, "Done", "succeeded")
    ended = Progress(
        definition="digest",
        snapshot="{}",
        status="SUCCEEDED",
        state="Done",
        wake_at=NOW,
        ended_at=NOW,
        log=[entry],
    )
    store.workflows.store(claimed, ended)
    store.workflows.let_go(claimed)


@pytest.mark.parametrize(
    ("table", "days"),
    [
        ("sensors", 1),
        ("changes", 1),
        ("timers", 7),
        ("timer_log", 7),
        ("rerun_requests", 30),
        ("runs", 91 + 1),  # its lease ends within the first day
        ("alerts", 35),
        ("marks", 35),
        ("events", 90),
        ("job_log", 90),
        ("executions", 90),
        ("threads", 90),
        ("reruns", 400),
        ("backfills", 400),
    ],
)
def test_each_kind_of_row_is_kept_for_its_span(store: Store, table: str, days: int) -> None:
    fill(store)
    assert store.retention.sweep(NOW + (days - 1) * DAY)[table] == 0
    assert store.retention.sweep(NOW + days * DAY)[table] > 0
    assert store.retention.sweep(NOW + days * DAY)[table] == 0


def test_nothing_is_removed_that_still_has_work_to_do(store: Store) -> None:
    store.pipelines.save(a_config())
    store.timers.arm([a_timer()])
    store.reruns.request(a_request())
    store.backfills.save(a_backfill(state=BackfillState.PAUSED))
    store.workflows.start("e", {})
    store.deliveries.save(a_delivery())
    store.deliveries.save(a_delivery(an_event(2)))
    store.deliveries.save(a_delivery(an_event(2)).held(NOW))
    store.claims.claim(an_event(2))
    store.sensors.put(a_reading())
    removed = store.retention.sweep(NOW + 9999 * DAY)
    del removed["timer_log"], removed["marks"]
    assert not any(removed.values())
    assert store.outbox.pending(an_event(2).event_id) == [
        an_event(2)
    ]  # told before it is forgotten


def test_the_history_of_an_execution_goes_with_it(store: Store) -> None:
    fill(store)
    store.retention.sweep(NOW + 90 * DAY)
    assert store.workflows.history("e") == []


def test_changes_stay_until_every_consumer_has_passed_them(store: Store) -> None:
    for number in range(3):
        store.sensors.put(a_reading(f"orders#{number}"))
    first, second, _ = store.changes.next("router", 10)
    store.cursors.move("alerts", 99)  # that is a place in the event log, not in the feed
    assert store.retention.sweep(NOW + DAY)["changes"] == 0  # no consumer has read any
    store.changes.done("router", second)
    store.changes.done("slow", first)
    assert store.retention.sweep(NOW + DAY)["changes"] == 1
    store.changes.done("slow", second)
    assert store.retention.sweep(NOW + DAY - MINUTE)["changes"] == 0
    assert store.retention.sweep(NOW + DAY)["changes"] == 1
    assert [change.kind for change in store.changes.next("router", 10)] == [ChangeKind.SENSOR]


def test_numbers_of_removed_changes_are_not_given_again(store: Store) -> None:
    store.sensors.put(a_reading(count=1))
    (change,) = store.changes.next("router", 10)
    store.changes.done("router", change)
    store.retention.sweep(NOW + DAY)
    store.sensors.put(a_reading(count=2))
    assert [change.reading for change in store.changes.next("router", 10)] == [a_reading(count=2)]


def test_many_rows_go_in_slices(memory: Database, store: Store) -> None:
    store.events.publish(many(2 * SLICE + 1, an_event))
    commits: list[int] = []
    memory.after_commit = lambda: commits.append(len(store.events.newest(limit=9999)))
    assert store.retention.sweep(NOW + 90 * DAY)["events"] == 2 * SLICE + 1
    assert {SLICE + 1, 1, 0} <= set(commits)


def test_spans_can_be_chosen(store: Store) -> None:
    fill(store)
    short = SqliteRetention(store.database, Spans(events=timedelta(days=1)))
    assert short.sweep(NOW + DAY)["events"] == 1


def test_pages_are_given_back_to_the_disk(file: Database, clock: ManualClock) -> None:
    store = Store(file, clock)
    store.sensors.put(a_reading(text="x" * 2_000_000, ttl=int(NOW.timestamp())))

    def pages() -> int:
        count: int = file.read(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
        return count

    before = pages()
    store.changes.done("router", store.changes.next("router", 10)[-1])
    store.retention.sweep(NOW + 90 * DAY)
    assert pages() < before / 2


def dated(date: str, status: Status) -> Run:
    return a_run(a_key(date=date), status=status)


def test_finished_runs_are_pruned_on_request_with_a_preview(store: Store) -> None:
    runs = [
        dated("2026-01-31", Status.COMPLETED),
        dated("2026-01-31T23", Status.FAILED_FINAL),
        dated("2026-01-29", Status.FAILED),
        dated("2026-01-30", Status.RUNNING),
        msgspec.structs.replace(dated("2026-01-28", Status.FAILED), retry_at=NOW),
        dated("2026-02-01", Status.COMPLETED),
    ]
    for run in runs:
        store.runs.open(run)
    assert store.retention.prunable("2026-02-01") == 3
    assert store.runs.find([run.key for run in runs]).keys() == {run.key for run in runs}
    assert store.retention.prune("2026-02-01", NOW) == 3
    assert store.runs.find([run.key for run in runs]).keys() == {run.key for run in runs[3:]}
    assert store.retention.prunable("2026-02-01") == 0


def test_what_stays_of_a_pruned_run_is_its_verdict_and_its_attempts_for_good(store: Store) -> None:
    run = msgspec.structs.replace(
        dated("2026-01-31", Status.COMPLETED), attempt=2, sla_verdict=SlaVerdict.MET
    )
    store.claims.save_watch(SlaWatch(key=run.key))  # from before the run opened
    store.runs.open(run)
    store.retention.prune("2026-02-01", NOW)
    store.retention.sweep(NOW + timedelta(days=3000))
    left = store.claims.watch(run.key)
    assert left is not None
    assert (left.attempts, left.verdict, left.pruned_at) == (3, SlaVerdict.MET, NOW)
    armed = msgspec.structs.replace(left, version=left.version + 1)
    assert store.claims.save_watch(armed)
    store.retention.sweep(NOW + timedelta(days=3000))
    assert store.claims.watch(run.key) == armed


def test_a_table_of_the_file_is_kept_or_swept_on_purpose(store: Store) -> None:
    kept = {"meta", "pipelines", "downstreams", "outbox", "cursors", "dead_changes"}
    kept |= {
        "definitions",
        "execution_log",
        "paces",
        "switches",
        "tokens",
        "audit",
        "sqlite_sequence",
    }
    tables = store.database.read(
        lambda connection: connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall()
    )
    swept = set(store.retention.sweep(NOW))
    assert {name for (name,) in tables} == kept | swept
