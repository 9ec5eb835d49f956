"""Plain rows: those that hold little more than their keys are read as what they say."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from aws.homes import NAMES, Services, moto_services, quick_services
from contracts.samples import (
    KEY,
    LEASE,
    NOW,
    ManualClock,
    a_config,
    a_grant,
    a_key,
    a_pipeline,
    a_run,
    an_event,
)
from interlock.adapters.aws.store import Store
from interlock.domain.alerting.threads import Thread, ThreadKey
from interlock.domain.event import EventType, Severity
from interlock.domain.run import OpenedBy, Status

PIPELINE = f"PIPELINE#{KEY.pipeline_id}"
TRIGGER = f"TRIGGER#{KEY.schedule_id}#{KEY.date}"
THREAD = ThreadKey(KEY.pipeline_id, KEY.schedule_id, KEY.date, "C1")


@pytest.fixture(params=["quick", "moto"])
def services(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Services]:
    if request.param == "quick":
        yield quick_services(clock)
    else:
        with moto_services(clock) as found:
            yield found


@pytest.fixture
def store(services: Services, clock: ManualClock) -> Store:
    return Store(services.tables, NAMES, clock)


def put(services: Services, table: str, sort_key: str, **attributes: Any) -> None:
    item = {"PK": {"S": PIPELINE}, "SK": {"S": sort_key}, **attributes}
    services.tables.put_item(TableName=getattr(NAMES, table), Item=item)


def stored(services: Services, table: str, sort_key: str) -> dict[str, Any]:
    rows = services.tables.scan(TableName=getattr(NAMES, table))["Items"]
    (row,) = (row for row in rows if row["SK"]["S"] == sort_key)
    return dict(row)


# --- runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED_FINAL])
@pytest.mark.parametrize(
    "also",
    [
        {},
        {"owner": {"S": "ops"}, "note": {"M": {}}},  # unknown attributes are ignored
        {"completedAt": {"S": "yesterday"}, "runId": {"N": "5"}},  # and so is what can't be read
        {"attempt": {"N": "0"}, "version": {"N": "0"}},
        {"ttl": {"N": "4102444800"}},
    ],
)
def test_a_finished_date_is_done_and_only_a_rerun_opens_it(
    services: Services, store: Store, status: Status, also: dict[str, Any], clock: ManualClock
) -> None:
    put(services, "control", TRIGGER, status={"S": status}, **also)
    run = store.runs.get(KEY)
    assert (run.status, run.attempt, run.is_bare) == (status, 0, True)
    assert store.runs.find([KEY]) == {KEY: run}
    assert store.runs.of_pipeline(KEY.pipeline_id, "0000", "9999", 5) == [run]
    assert not store.runs.open(a_run())
    assert store.runs.due(NOW + timedelta(days=1)) == store.runs.active() == []
    assert store.unreadable.met() == []

    again = run.reopened(clock(), OpenedBy.RERUN, "manual", LEASE)
    assert store.runs.save(again, [an_event(1)], rerun=a_grant(1))
    assert not store.runs.save(again, rerun=a_grant(1))
    store.notes.forget()
    assert store.runs.get(KEY) == again
    assert stored(services, "control", TRIGGER)["version"] == {"N": "1"}


def test_a_row_says_when_it_was_completed_and_under_which_name(
    services: Services, store: Store
) -> None:
    at = {"S": "2026-03-03T09:30:00Z"}
    put(services, "control", TRIGGER, status={"S": "COMPLETED"}, completedAt=at, runId={"S": "j"})
    run = store.runs.get(KEY)
    assert run.completed_at == run.changed_at == datetime(2026, 3, 3, 9, 30, tzinfo=UTC)
    assert run.run_id == "j"


def test_of_two_reruns_of_a_plain_date_one_wins(services: Services, store: Store) -> None:
    put(services, "control", TRIGGER, status={"S": "COMPLETED"})
    again = store.runs.get(KEY).reopened(NOW, OpenedBy.RERUN, "manual", LEASE)
    assert [store.runs.save(again), store.runs.save(again)] == [True, False]


def test_a_run_without_a_version_goes_on(services: Services, store: Store) -> None:
    """As an older writer may have left it: everything is there but that."""
    assert store.runs.open(a_run())
    row = stored(services, "control", TRIGGER)
    services.tables.put_item(
        TableName=NAMES.control,
        Item={name: value for name, value in row.items() if name not in ("version", "attempt")},
    )
    store.notes.forget()
    run = store.runs.get(KEY)
    assert (run.version, run.attempt, run.status) == (0, 0, Status.PENDING)
    moved = run.to(Status.TRIGGERING, NOW)
    assert store.runs.save(moved, [an_event(1)])
    assert not store.runs.save(moved)
    store.outbox.clear(store.outbox.pending(str(KEY)))
    assert store.runs.save(moved.to(Status.RUNNING, NOW))


@pytest.mark.parametrize(
    "gone",
    [{"ttl": {"N": "1741000000"}}, {"removedAt": {"S": "2026-03-01T00:00:00Z"}}],
    ids=["ttl", "removed"],
)
def test_a_lock_that_has_expired_is_no_lock(
    services: Services, store: Store, gone: dict[str, Any]
) -> None:
    put(services, "control", TRIGGER, status={"S": "RUNNING"}, **gone)
    assert store.runs.find([KEY]) == {}
    assert store.runs.open(a_run())
    assert store.runs.get(KEY).status is Status.PENDING


def test_dates_that_failed_long_ago_are_left_out_unless_requested(
    store: Store, clock: ManualClock
) -> None:
    """What is due is always there; of the rest, what was opened lately."""
    old, new = (a_run(a_key(date=f"2026-03-0{day}"), status=Status.FAILED) for day in (1, 2))
    still_open = a_run(a_key(date="2026-03-03"))
    assert store.runs.open(old) and store.runs.open(still_open)
    clock.advance(days=40)
    new = msgspec.structs.replace(new, opened_at=clock.now)
    assert store.runs.open(new)
    assert len(store.runs.active()) == 3
    assert store.runs.active(timedelta(days=35)) == [still_open, new]


@pytest.mark.parametrize("status", ["UNREADABLE", "RUNNING"])
def test_a_full_row_that_says_what_no_run_is_cannot_be_read(
    services: Services, store: Store, status: str
) -> None:
    assert store.runs.open(a_run())
    row = stored(services, "control", TRIGGER)
    services.tables.put_item(TableName=NAMES.control, Item={**row, "status": {"S": status}})
    found = store.runs.find([KEY])[KEY]
    assert found.status == status
    assert found.is_bare is (status == "UNREADABLE")


def test_a_config_of_another_pipeline_is_not_this_ones(services: Services, store: Store) -> None:
    assert store.pipelines.save(a_config(a_pipeline("silver-orders")))
    row = stored(services, "control", "CONFIG#ACTIVE")
    other = {**row, "PK": {"S": "PIPELINE#gold-orders"}, "watchAt": {"S": "gold-orders"}}
    services.tables.put_item(TableName=NAMES.control, Item=other)
    assert [config.pipeline.id for config in store.pipelines.in_force()] == ["silver-orders"]
    assert store.pipelines.unreadable() == {"gold-orders"}


@pytest.mark.parametrize("words", [None, {"NULL": True}, {"N": "5"}, {"M": {}}])
def test_a_pause_of_another_writer_holds_whatever_it_says_about_who_and_why(
    services: Services, store: Store, words: Any
) -> None:
    assert store.pipelines.save(a_config(paused_since=NOW, paused_by="ada", paused_reason="moves"))
    row = stored(services, "control", "CONFIG#ACTIVE")
    said = {} if words is None else {"pausedBy": words, "pausedReason": words}
    kept = {name: value for name, value in row.items() if name not in ("pausedBy", "pausedReason")}
    services.tables.put_item(TableName=NAMES.control, Item={**kept, **said})
    (config,) = store.pipelines.in_force()
    assert str(config.pause(NOW)) == "paused"


@pytest.mark.parametrize("config", [{"M": {}}, {"NULL": True}, {"S": "null"}, {"S": "["}])
def test_a_wanted_config_that_says_nothing_takes_nothing_away(
    services: Services, store: Store, config: Any
) -> None:
    assert store.pipelines.save(a_config(a_pipeline()))
    put(services, "control", "CONFIG", config=config)
    wanted = store.pipelines.wanted(KEY.pipeline_id)
    assert wanted is not None and wanted.config is not None


def test_a_lock_that_says_no_more_than_that_it_is_one_is_respected(
    services: Services, store: Store
) -> None:
    put(services, "control", TRIGGER, status={"S": "RUNNING"}, ttl={"N": "4102444800"})
    assert store.runs.find([KEY])[KEY].status is Status.UNREADABLE
    assert not store.runs.open(a_run())


@pytest.mark.parametrize("sort_key", ["TRIGGER#", "TRIGGER#stream", "TRIGGER#stream#never"])
def test_a_row_of_no_date_is_passed_over(services: Services, store: Store, sort_key: str) -> None:
    assert store.runs.open(a_run())
    put(services, "control", sort_key, status={"S": "COMPLETED"})
    assert [run.key for run in store.runs.of_pipeline(KEY.pipeline_id, "0000", "9999", 9)] == [KEY]


def test_an_invalid_expiry_is_none(clock: ManualClock) -> None:
    services = quick_services(clock)
    put(services, "control", TRIGGER, status={"S": "COMPLETED"}, expiresAt={"N": "5"})
    assert Store(services.tables, NAMES, clock).runs.get(KEY).status is Status.COMPLETED


# --- the job log, reruns --------------------------------------------------------------------------


def test_a_line_of_the_job_log_needs_no_more_than_its_key(services: Services, store: Store) -> None:
    put(services, "joblog", f"JOB#{KEY.schedule_id}#{KEY.date}#2026-03-03T09:30:00Z")
    put(services, "joblog", f"JOB#{KEY.schedule_id}#{KEY.date}#1772530200000", event={"S": "fail"})
    put(services, "joblog", f"JOB#{KEY.schedule_id}#{KEY.date}#later", event={"S": "success"})
    put(services, "joblog", f"JOB#{KEY.schedule_id}#never#1772530200000")
    records = store.job_log.of_run(KEY)
    assert [(record.event, record.at) for record in records] == [
        ("success", datetime(1970, 1, 1, tzinfo=UTC)),
        ("fail", datetime(2026, 3, 3, 9, 30, tzinfo=UTC)),
        ("", datetime(2026, 3, 3, 9, 30, tzinfo=UTC)),
    ]


def test_a_rerun_needs_no_more_than_its_key(services: Services, store: Store) -> None:
    put(services, "rerun", f"RERUN#{KEY.schedule_id}#{KEY.date}#2")
    put(services, "rerun", f"RERUN#{KEY.schedule_id}#{KEY.date}#first")
    (record,) = store.reruns.granted(KEY)
    assert (record.attempt, record.source, record.reason) == (2, "", "")
    (row,) = store.unreadable.met()
    assert (row.table, row.date) == (NAMES.rerun, KEY.date)


# --- events ---------------------------------------------------------------------------------------


def test_an_event_needs_no_more_than_its_key(services: Services, store: Store) -> None:
    put(services, "events", "1772532000000#JOB_FAILED")
    put(services, "events", "1772532000001#NEVER_HEARD_OF")
    put(services, "events", "1772532000002#JOB_COMPLETED", message={"S": "loaded 5 rows"})
    done, failed = store.event_log.newest(pipeline_id=KEY.pipeline_id)
    assert (failed.type, failed.severity) == (EventType.JOB_FAILED, Severity.ERROR)
    assert failed.timestamp == datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
    assert failed.event_id == f"{KEY.pipeline_id}/-/-/JOB_FAILED/1772532000000"
    assert (failed.pipeline_id, failed.message) == (
        KEY.pipeline_id,
        "an attempt failed, for every failed attempt",
    )
    assert done.message == "loaded 5 rows"
    only = store.event_log.newest(pipeline_id=KEY.pipeline_id, kind="JOB_FAILED")
    assert [event.type for event in only] == ["JOB_FAILED"]
    assert store.unreadable.met() == []


def test_a_row_of_the_index_may_have_any_key(services: Services, store: Store) -> None:
    known = {"eventType": {"S": "JOB_FAILED"}, "timestamp": {"N": "1772532000000"}}
    put(services, "events", "anything", **known)
    (event,) = store.event_log.newest(kind="JOB_FAILED")
    assert event.timestamp == datetime(2026, 3, 3, 10, 0, tzinfo=UTC)


def test_events_that_only_a_later_version_knows_make_no_list_shorter(
    services: Services, store: Store
) -> None:
    put(services, "events", "1772532000000#JOB_FAILED")
    for number in range(1, 8):
        put(services, "events", f"177253200000{number}#LATER", eventType={"S": "LATER"})
    (event,) = store.event_log.newest(pipeline_id=KEY.pipeline_id, limit=3)
    assert event.type is EventType.JOB_FAILED


def test_a_row_of_the_index_that_is_of_no_time_is_passed_over(
    services: Services, store: Store
) -> None:
    put(services, "events", "1772532000000#JOB_FAILED", timestamp={"N": "-1e100"})
    put(services, "events", "1anything#JOB_FAILED", eventId={"S": "x"})
    found = store.event_log.newest(pipeline_id=KEY.pipeline_id)
    assert [event.timestamp for event in found] == [datetime(2026, 3, 3, 10, 0, tzinfo=UTC)]


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ({"S": "1741000000.000100"}, "1741000000.000100"),
        ({"N": "1741000000.0001"}, "1741000000.000100"),
    ],
)
def test_a_thread_needs_no_more_than_where_its_first_message_is(
    services: Services, store: Store, stamp: Any, said: str
) -> None:
    put(services, "events", f"THREAD#{KEY.schedule_id}#{KEY.date}", threadTs=stamp)
    thread = store.threads.find(THREAD)
    assert thread is not None
    assert (thread.thread_ts, thread.is_stale) == (said, False)
    assert store.threads.of_date(KEY.pipeline_id, KEY.schedule_id, KEY.date) == []
    uprooted = thread.unclaimed(NOW)
    assert store.threads.save(uprooted)
    assert not store.threads.save(uprooted)
    assert store.threads.find(THREAD) == uprooted


def test_a_thread_as_the_documents_have_it_is_of_its_channel(
    services: Services, store: Store
) -> None:
    put(
        services,
        "events",
        f"THREAD#{KEY.schedule_id}#{KEY.date}",
        threadTs={"S": "1741000000.000100"},
        channelId={"S": "C1"},
        createdAt={"S": "2026-03-03T09:30:00Z"},
    )
    (thread,) = store.threads.of_date(KEY.pipeline_id, KEY.schedule_id, KEY.date)
    assert (thread.key, thread.thread_ts) == (THREAD, "1741000000.000100")
    assert store.threads.find(ThreadKey(*[*THREAD_PARTS, "C2"])) is None


THREAD_PARTS = (KEY.pipeline_id, KEY.schedule_id, KEY.date)


@pytest.mark.parametrize("useless", [{}, {"threadTs": {"NULL": True}}, {"threadTs": {"L": []}}])
def test_a_thread_that_says_nothing_makes_room(
    services: Services, store: Store, useless: dict[str, Any]
) -> None:
    put(services, "events", f"THREAD#{KEY.schedule_id}#{KEY.date}", **useless)
    assert (found := store.threads.find(THREAD)) is None or found.thread_ts is None
    opened = Thread(key=THREAD, sink="slack", created_at=NOW, claim_until=NOW)
    assert store.threads.save(opened)
    assert store.threads.find(THREAD) == opened


def test_of_two_channels_one_takes_a_row_that_names_none(services: Services, store: Store) -> None:
    put(services, "events", f"THREAD#{KEY.schedule_id}#{KEY.date}")
    first, second = (
        Thread(key=ThreadKey(*THREAD_PARTS, channel), sink="slack", created_at=NOW, claim_until=NOW)
        for channel in ("C1", "C2")
    )
    assert store.threads.save(first) and store.threads.save(second)
    assert store.threads.of_date(*THREAD_PARTS) == [first, second]


# --- paces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("next_at", [{"S": "whenever"}, {"L": []}])
def test_a_pace_that_cannot_be_read_holds_up_no_alert(clock: ManualClock, next_at: Any) -> None:
    services, every = quick_services(clock), timedelta(seconds=1)
    item = {"PK": {"S": "PIPELINE#_system"}, "SK": {"S": "SINK#C1"}, "nextAt": next_at}
    services.tables.put_item(TableName=NAMES.events, Item=item)
    paces = Store(services.tables, NAMES, clock).paces
    assert paces.take("C1", NOW, every) == NOW
    assert paces.take("C1", NOW, every) == NOW + every
