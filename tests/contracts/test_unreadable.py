"""All ports: a row that can't be read concerns its own date, is noted once, and breaks no call."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.families import Family
from contracts.home import Home, tell
from contracts.samples import (
    KEY,
    NOW,
    ManualClock,
    a_backfill,
    a_config,
    a_delivery,
    a_grant,
    a_key,
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
from interlock.domain.alerting.deliveries import DeliveryState, Target
from interlock.domain.baseline import Baseline
from interlock.domain.event import EventType
from interlock.domain.run import Evidence, Status
from interlock.domain.sensor import UnreadableReading
from interlock.domain.sla import SlaWatch
from interlock.domain.unreadable import RowKind
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnreadableError

OTHER = a_key(date="2026-03-04")
C1 = Target("slack", "C1")

Spoiled = Callable[[str, Callable[[Home], Any]], Iterator[Home]]


@pytest.fixture
def spoiled(family: Family, tmp_path: Path, clock: ManualClock) -> Spoiled:
    """A home for each hostile form of a kind of row: prepared, then spoiled."""

    def each(kind: str, prepare: Callable[[Home], Any]) -> Iterator[Home]:
        for number in count():
            folder = tmp_path / f"{kind}-{number}"
            folder.mkdir()
            with family.open(folder, clock) as home:
                prepare(home)
                if not home.spoil(kind, number):
                    return
                yield home

    return each


# --- runs -----------------------------------------------------------------------------------------


def two_runs(home: Home) -> None:
    """Both are due: they were not started."""
    assert home.runs.open(a_run(), [an_event()])
    assert home.runs.open(a_run(OTHER))


def test_a_run_that_cannot_be_read_takes_its_date_and_no_other(
    spoiled: Spoiled, clock: ManualClock
) -> None:
    for home in spoiled("run", two_runs):
        found = home.runs.find([KEY, OTHER])
        assert {key: run.status for key, run in found.items()} == {
            KEY: Status.UNREADABLE,
            OTHER: Status.PENDING,
        }
        with pytest.raises(UnreadableError, match="silver-orders/stream/2026-03-03"):
            home.runs.get(KEY)
        assert not home.runs.open(a_run(), [an_event()])
        clock.advance(hours=1)
        assert [run.key for run in home.runs.due(clock())] == [OTHER]
        assert [run.key for run in home.runs.active()] == [OTHER]
        listed = home.runs.of_pipeline(KEY.pipeline_id, "0000", "9999", 10)
        assert [(run.key, run.status) for run in listed] == [
            (OTHER, Status.PENDING),
            (KEY, Status.UNREADABLE),
        ]
        home.outbox.leftovers(clock() + timedelta(days=1))
        home.outbox.pending(str(KEY))
        home.outbox.clear([an_event()])
        clock.advance(hours=-1)


def test_a_row_is_noted_once_until_it_is_reported_and_never_again(spoiled: Spoiled) -> None:
    for home in spoiled("run", two_runs):
        for _ in range(3):
            home.runs.find([KEY])
            home.runs.of_pipeline(None, "0000", "9999", 10)
        (row,) = home.unreadable.met()
        assert (row.kind, row.pipeline_id, row.schedule_id, row.date) == (
            RowKind.RUN,
            KEY.pipeline_id,
            KEY.schedule_id,
            KEY.date,
        )
        assert row.problem and KEY.date in row.key
        home.unreadable.reported(row)
        home.runs.find([KEY])
        assert home.unreadable.met() == []


# --- readings -------------------------------------------------------------------------------------


def a_few_readings(home: Home) -> None:
    home.sensors.put_all([a_reading(), a_reading("orders-landed#2026-03-03")])


def test_a_reading_that_cannot_be_read_says_so_and_opens_nothing(spoiled: Spoiled) -> None:
    for home in spoiled("reading", a_few_readings):
        found = home.sensors.find(KEY.pipeline_id, ["orders-landed", "never-sent"])
        assert [type(reading) for reading in found.values()] == [UnreadableReading]
        assert list(found) == ["orders-landed"]
        assert len(home.sensors.of_pipeline(KEY.pipeline_id)) == 2
        assert (
            home.sensors.between(KEY.pipeline_id, "orders-landed", "2026-03-01", "2026-03-05") == []
        )
        assert {row.kind for row in home.unreadable.met()} == {RowKind.READING}
        home.sensors.put(a_reading(count=2))
        healed = home.sensors.find(KEY.pipeline_id, ["orders-landed"])
        assert healed["orders-landed"].fields == {"count": 2}


# --- configs --------------------------------------------------------------------------------------


def two_configs(home: Home) -> None:
    for name in ("bad", "good"):
        pipeline = a_pipeline(name)
        home.pipelines.want(wanted(pipeline))
        assert home.pipelines.save(a_config(pipeline))


def test_a_config_that_cannot_be_read_hides_no_other(spoiled: Spoiled) -> None:
    def one_bad(home: Home) -> None:
        assert home.pipelines.save(a_config(a_pipeline("bad")))

    for home in spoiled("config", one_bad):
        assert home.pipelines.save(a_config(a_pipeline("good")))
        assert [config.pipeline.id for config in home.pipelines.in_force()] == ["good"]
        assert home.pipelines.unreadable() == {"bad"}
        with pytest.raises(UnreadableError, match="the stored config of bad can't be read"):
            home.pipelines.find("bad")
        (row,) = home.unreadable.met()
        assert (row.kind, row.pipeline_id) == (RowKind.CONFIG, "bad")


def test_what_is_armed_and_cannot_be_read_counts_as_not_armed(spoiled: Spoiled) -> None:
    for home in spoiled("armed", two_configs):
        assert [config.armed for config in home.pipelines.in_force()] == [{}, {}]


def test_a_wanted_config_that_cannot_be_read_is_there_to_be_refused(spoiled: Spoiled) -> None:
    """Nothing at all would mean that it was taken away."""
    for home in spoiled("wanted", two_configs):
        found = home.pipelines.wanted("good")
        assert found is not None and found.config is not None
        home.pipelines.unadopted()


# --- marks ----------------------------------------------------------------------------------------


WATCH = SlaWatch(key=KEY, warning_at=NOW, breach_at=NOW + timedelta(hours=1))


def test_a_watch_that_cannot_be_read_makes_room_for_another(spoiled: Spoiled) -> None:
    for home in spoiled("watch", lambda home: home.claims.save_watch(WATCH, [an_event()])):
        assert home.claims.watch(KEY) is None
        assert home.claims.watches([KEY, OTHER]) == {}
        assert home.claims.save_watch(WATCH, [an_event(1)])
        assert home.claims.watch(KEY) == WATCH
        assert not home.claims.save_watch(WATCH)


def test_an_unreadable_baseline_is_none(spoiled: Spoiled) -> None:
    def completed(home: Home) -> None:
        run = a_run().to(Status.TRIGGERING, NOW)
        assert home.runs.open(a_run())
        seen = {"audit": Evidence("audit", "v", {"count": 1})}
        assert home.runs.save(run, baseline=Baseline(0, seen))

    for home in spoiled("baseline", completed):
        assert home.runs.baseline(KEY) is None
        assert len(home.unreadable.met()) == 1


def test_an_event_that_waits_and_cannot_be_read_holds_up_no_other(
    spoiled: Spoiled, clock: ManualClock
) -> None:
    claim = an_event(kind=EventType.VALIDATION_PASSED)

    def waiting(home: Home) -> None:
        assert home.claims.claim(claim)

    for home in spoiled("outbox", waiting):
        found = home.outbox.pending(claim.event_id)
        assert {event.type for event in found} <= {EventType.VALIDATION_PASSED}
        sound = an_event(1)
        assert home.runs.open(a_run(), [sound])
        assert sound in home.outbox.leftovers(clock() + timedelta(days=1))
        tell(home, [*found, sound])
        left = home.outbox.leftovers(clock() + timedelta(days=1))
        assert sound not in left
        assert {event.event_id for event in left} <= {claim.event_id}


def test_an_event_whose_text_is_lost_is_published_by_its_id(spoiled: Spoiled) -> None:
    claim = an_event(kind=EventType.VALIDATION_PASSED)
    for home in spoiled("outbox", lambda home: home.claims.claim(claim)):
        (found,) = home.outbox.pending(claim.event_id)
        assert (found.event_id, found.type, found.date) == (claim.event_id, claim.type, KEY.date)
        home.outbox.clear([found])
        assert home.outbox.pending(claim.event_id) == []


# --- requests, reruns, the job log ------------------------------------------------------------------


def test_a_request_that_cannot_be_read_is_not_judged(spoiled: Spoiled) -> None:
    for home in spoiled("request", lambda home: home.reruns.request(a_request())):
        keys = [request.key for request in home.reruns.unjudged()]
        assert set(keys) <= {KEY}
        assert home.reruns.unlisted([KEY.pipeline_id]) == []
        assert len(home.unreadable.met()) == 1
        home.reruns.withdraw(KEY, NOW)
        assert home.reruns.unjudged() == []


def test_a_backfill_that_cannot_be_read_hides_no_other_and_is_not_replaced(
    spoiled: Spoiled,
) -> None:
    other = a_backfill("20260304-100000-ffffff")
    for home in spoiled("backfill", lambda home: home.backfills.save(a_backfill())):
        assert home.backfills.save(other)
        with pytest.raises(UnreadableError, match="the stored backfill 20260303-100000-a1b2c3"):
            home.backfills.find(a_backfill().id)
        assert home.backfills.unsettled() == home.backfills.newest(10) == [other]
        assert not home.backfills.save(a_backfill())
        assert len(home.unreadable.met()) == 1


def test_an_attempt_that_was_granted_is_known_by_its_key(spoiled: Spoiled) -> None:
    def granted(home: Home) -> None:
        failed = a_run().to(Status.FAILED, NOW)
        assert home.runs.open(a_run())
        assert home.runs.save(failed)
        assert home.runs.save(reopened(failed), rerun=a_grant())

    for home in spoiled("grant", granted):
        (record,) = home.reruns.granted(KEY)
        assert (record.key, record.attempt) == (KEY, 1)


def test_a_line_of_the_job_log_is_read_as_far_as_it_says_something(spoiled: Spoiled) -> None:
    for home in spoiled("job record", lambda home: home.job_log.append(a_record(run_id="j-1"))):
        (record,) = home.job_log.of_run(KEY)
        assert (record.key, record.event, record.attempt, record.at) == (KEY, "success", 0, NOW)


# --- events ---------------------------------------------------------------------------------------


def test_an_event_is_read_as_far_as_it_says_something(spoiled: Spoiled) -> None:
    event = an_event(1, openedBy="sensor")
    for home in spoiled("event", lambda home: home.events.publish([event])):
        home.events.publish([an_event(2, key=OTHER)])
        told = home.events.newest(pipeline_id=KEY.pipeline_id)
        assert [(each.type, each.timestamp, each.pipeline_id) for each in told] == [
            (EventType.TRIGGER_STARTED, NOW, KEY.pipeline_id)
        ] * 2
        of_kind = home.events.newest(pipeline_id=KEY.pipeline_id, kind="TRIGGER_STARTED")
        assert len(of_kind) == 2
        home.events.newest(limit=5)
        home.events.newest(kind="TRIGGER_STARTED")
        assert len(home.events.of_run(OTHER)) == 1


# --- alerts ---------------------------------------------------------------------------------------


def test_a_delivery_that_cannot_be_read_keeps_no_alert_from_going_out(spoiled: Spoiled) -> None:
    for home in spoiled("delivery", lambda home: home.deliveries.save(a_delivery())):
        event = an_event(1)
        (found,) = home.deliveries.of_events([event])[event.event_id]
        assert found == home.deliveries.find(event, C1)
        assert (found.event, found.target, found.state) == (event, C1, DeliveryState.QUEUED)
        assert found.is_due(NOW)
        assert home.deliveries.save(found.claimed(NOW))
        assert not home.deliveries.save(found.claimed(NOW))


def test_a_thread_that_cannot_be_read_keeps_no_alert_from_going_out(spoiled: Spoiled) -> None:
    for home in spoiled("thread", lambda home: home.threads.save(a_thread())):
        key = a_thread().key
        home.threads.of_date(key.pipeline, key.schedule, key.date)
        thread = home.threads.find(key)
        if thread is None:
            assert home.threads.save(a_thread())
            thread = home.threads.find(key)
        assert thread is not None
        rooted = thread.rooted("1741000000.000100", "face")
        assert home.threads.save(rooted)
        assert not home.threads.save(rooted)
        found = home.threads.find(key)
        assert found is not None and found.thread_ts == "1741000000.000100"


# --- the watchdog's row, timers -------------------------------------------------------------------


def test_the_watchdog_does_not_wait_for_a_row_that_cannot_be_read(spoiled: Spoiled) -> None:
    state = WatchdogState(version=1, last_ok_at=NOW, lagging={"p": NOW})
    for home in spoiled("watchdog", lambda home: home.watch.save(state)):
        found = home.watch.load()
        if found.version:  # a form that says no less than before
            continue
        assert found == WatchdogState()
        claimed = msgspec.structs.replace(found, version=1, pass_until=NOW)
        assert home.watch.save(claimed)
        assert home.watch.load() == claimed
        assert not home.watch.save(claimed)


def test_a_timer_that_cannot_be_read_holds_up_no_other(spoiled: Spoiled) -> None:
    for home in spoiled("timer", lambda home: home.timers.arm([a_timer()])):
        home.timers.arm([a_timer("sound")])
        assert set(home.armed()) - {a_timer().name} == {"sound"}
        home.timers.arm([a_timer()])
