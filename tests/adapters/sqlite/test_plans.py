"""Plans: nothing on a request path or a watchdog's pass reads a whole table, however long its history."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from contracts.samples import (
    KEY,
    NOW,
    a_config,
    a_delivery,
    a_grant,
    a_pipeline,
    a_reading,
    a_record,
    a_request,
    a_run,
    a_thread,
    a_timer,
    an_event,
    reopened,
    wanted,
)
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.workflows import Progress
from interlock.domain.baseline import Baseline
from interlock.domain.history import EventFilter
from interlock.domain.run import Status
from interlock.domain.sla import SlaWatch
from interlock.domain.waiting_for import WaitingFor

RUN = a_run()
FAILED = RUN.to(Status.FAILED, NOW)
MINUTE = timedelta(minutes=1)


def rerun(store: Store) -> None:
    store.runs.open(RUN, [an_event(1)])
    store.runs.save(FAILED)
    store.runs.save(
        reopened(FAILED), rerun=a_grant(), request=a_request(), baseline=Baseline(0, {})
    )


def deliver(store: Store) -> None:
    store.deliveries.save(a_delivery())
    store.deliveries.save(a_delivery().claimed(NOW))
    store.deliveries.find(an_event(1), a_delivery().target)


def converse(store: Store) -> None:
    store.threads.save(a_thread())
    store.threads.save(a_thread().unclaimed(NOW))
    store.threads.find(a_thread().key)


def park(store: Store) -> None:
    store.sensors.put(a_reading())
    (change,) = store.changes.next("router", 10)
    store.changes.park("router", change, "it broke", NOW)
    store.changes.settle("router", change)


def work(store: Store) -> None:
    store.workflows.start("e", {"pipelineId": "p"})
    claimed = store.workflows.claim("e", NOW)
    assert claimed is not None
    made = Progress(definition="d", snapshot="{}", status="RUNNING", state="X", wake_at=NOW)
    store.workflows.define("d", "{}")
    store.workflows.store(claimed, made)
    store.workflows.let_go(claimed)


CALLS: dict[str, Callable[[Store], Any]] = {
    "runs: open and save": rerun,
    "runs: find": lambda store: store.runs.find([KEY]),
    "runs: baseline": lambda store: store.runs.baseline(KEY),
    "runs: due": lambda store: store.runs.due(NOW),
    "runs: of a pipeline": lambda store: store.runs.of_pipeline("p", "2026-03-01", "2026-03-02", 9),
    "runs: of all": lambda store: store.runs.of_pipeline(None, "2026-03-01", "2026-03-02", 9),
    "sensors: put": lambda store: store.sensors.put(a_reading()),
    "sensors: find": lambda store: store.sensors.find("p", ["orders"]),
    "sensors: between": lambda store: store.sensors.between("p", "k", "2026-03-01", "2026-03-02"),
    "sensors: of a pipeline": lambda store: store.sensors.of_pipeline("p"),
    "sensors: remove": lambda store: store.sensors.remove("p", "k", NOW),
    "pipelines: save": lambda store: store.pipelines.save(a_config()),
    "pipelines: want": lambda store: store.pipelines.want(wanted(a_pipeline())),
    "pipelines: wanted": lambda store: store.pipelines.wanted("p"),
    "pipelines: find": lambda store: store.pipelines.find("p"),
    "pipelines: downstream": lambda store: store.pipelines.downstream_of("p"),
    "job log: append": lambda store: store.job_log.append(a_record()),
    "job log: of a run": lambda store: store.job_log.of_run(KEY),
    "reruns: judged": lambda store: store.reruns.judged(a_request()),
    "reruns: withdraw": lambda store: store.reruns.withdraw(KEY, NOW),
    "reruns: granted": lambda store: store.reruns.granted(KEY),
    "events: publish": lambda store: store.events.publish([an_event(1)]),
    "events: of a run": lambda store: store.events.of_run(KEY),
    "events: newest of a pipeline": lambda store: store.events.newest(pipeline_id="p"),
    "events: newest of a type": lambda store: store.events.newest(kind="SLA_BREACH", since=NOW),
    "events: after": lambda store: store.events.after(0, 9),
    "outbox: pending": lambda store: store.outbox.pending("p"),
    "outbox: leftovers": lambda store: store.outbox.leftovers(NOW),
    "marks: claim": lambda store: store.claims.claim(an_event(1)),
    "marks: is claimed": lambda store: store.claims.is_claimed(["p/s/d/TYPE"]),
    "marks: watch": lambda store: store.claims.watch(KEY),
    "marks: save a watch": lambda store: store.claims.save_watch(SlaWatch(key=KEY, version=2)),
    "timers: arm": lambda store: store.timers.arm([a_timer()]),
    "timers: cancel": lambda store: store.timers.cancel(["name"]),
    "timers: due": lambda store: store.timers.due(NOW, 9),
    "timers: next": lambda store: store.timers.next_due(),
    "timers: fire": lambda store: store.timers.fire("name", NOW),
    "workflows: work": work,
    "workflows: due": lambda store: store.workflows.due(NOW, 9),
    "workflows: wake": lambda store: store.workflows.wake("p", WaitingFor.RULES),
    "workflows: given": lambda store: store.workflows.given("e"),
    "workflows: describe": lambda store: store.workflows.describe("e"),
    "workflows: history": lambda store: store.workflows.history("e"),
    "changes: park": park,
    "changes: due": lambda store: store.changes.parked_due("router", NOW),
    "changes: next try": lambda store: store.changes.next_try("router"),
    "deliveries: save": deliver,
    "deliveries: due": lambda store: store.deliveries.due(NOW, 9),
    "deliveries: held": lambda store: store.deliveries.held(a_delivery().target, NOW),
    "deliveries: ended mutes": lambda store: store.deliveries.ended_mutes(NOW),
    "deliveries: of events": lambda store: store.deliveries.of_events([an_event(1)]),
    "threads: save": converse,
    "threads: of a date": lambda store: store.threads.of_date("p", "s", "d"),
    "paces: take": lambda store: store.paces.take("C1", NOW, MINUTE),
    "switches: is off": lambda store: store.switches.is_off("ops", ""),
    "history: glances": lambda store: store.history.glances(["p"], "2026-03-01", "2026-03-02"),
    "history: tallies": lambda store: store.history.tallies(["p"], "2026-03-01", "2026-03-02"),
    "history: newest": lambda store: store.history.newest({"p": "2026-03-03"}),
    "history: due": lambda store: store.history.due(None, NOW, 9),
    "history: failed": lambda store: store.history.failed("2026-03-01", 9),
    "history: runs": lambda store: store.history.runs("p", "2026", "2027", KEY, 9),
    "history: runs of all": lambda store: store.history.runs(None, "2026", "2027", KEY, 9),
    "history: given up": lambda store: store.history.runs(
        None, "2026", "2027", None, 9, "FAILED_FINAL"
    ),
    "history: retrying of one": lambda store: store.history.runs(
        "p", "2026", "2027", None, 9, "RETRYING"
    ),
    "history: events of note": lambda store: store.history.events(
        EventFilter(of_note=True, since=NOW), (NOW, 1), 9
    ),
    "history: events with a text": lambda store: store.history.events(
        EventFilter(pipeline_id="p", text="x"), None, 9
    ),
    "history: hours": lambda store: store.history.hours(["JOB_FAILED"], NOW, NOW),
    "history: breaches": lambda store: store.history.breaches(NOW, NOW),
    "watch: load": lambda store: store.watch.load(),
    "retention: sweep": lambda store: store.retention.sweep(NOW),
}

#: Listings: the index that holds exactly what is listed is read from end to end.
LISTINGS: dict[str, tuple[Callable[[Store], Any], str]] = {
    "in force": (lambda store: store.pipelines.in_force(), "pipelines_in_force"),
    "unadopted": (lambda store: store.pipelines.unadopted(), "pipelines_unadopted"),
    "open executions": (lambda store: store.runs.open_executions(), "runs_active"),
    "running executions": (lambda store: store.workflows.running(), "executions_due"),
    "active": (lambda store: store.runs.active(), "runs_active"),
    "unjudged": (lambda store: store.reruns.unjudged(), "rerun_requests_unjudged"),
    "counts": (lambda store: store.history.counts("2026-03-01", "2026-03-02"), "runs_active"),
    "waiting": (lambda store: store.history.waiting(9), "runs_active"),
    "running": (
        lambda store: store.history.runs(None, "2026", "2027", KEY, 9, "RUNNING"),
        "runs_active",
    ),
    "newest events": (lambda store: store.events.newest(limit=9), "events_by_time"),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_statement_finds_its_rows_by_an_index(
    name: str, memory: Database, store: Store
) -> None:
    plans = _plans(memory, lambda: CALLS[name](store))
    assert plans
    assert [step for step in plans if step.startswith("SCAN") and not _small(step)] == []


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_reads_no_more_than_it_lists(name: str, memory: Database, store: Store) -> None:
    call, index = LISTINGS[name]
    scans = [step for step in _plans(memory, lambda: call(store)) if step.startswith("SCAN")]
    assert len(scans) == 1 and scans[0].split("INDEX ")[1] == index


def _plans(memory: Database, call: Callable[[], Any]) -> list[str]:
    statements: list[str] = []
    memory.write(lambda connection: connection.set_trace_callback(statements.append))
    call()
    memory.write(lambda connection: connection.set_trace_callback(None))
    return [step for text in statements for step in memory.read(lambda c: _plan(c, text))]  # noqa: B023


def _plan(connection: sqlite3.Connection, statement: str) -> list[str]:
    if not statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
        return []
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    return [row[3] for row in rows] or ["NO TABLE IS READ"]


def _small(step: str) -> bool:
    """A list that the caller gave, one row per consumer, or the ends of an index."""
    return any(
        word in step
        for word in ("json_each", "VIRTUAL TABLE", "cursors", "CONSTANT ROW", "(subquery", "SCAN (")
    )
