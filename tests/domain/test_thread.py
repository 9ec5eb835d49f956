"""Thread: one conversation per date, which shows what is so now, in whatever order it was heard."""

import itertools
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import KEY, NOW, a_key, a_thread
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.handling import HANDLING_EVENTS
from interlock.domain.alerting.threads import ROOT_CLAIM, opened, thread_key
from interlock.domain.event import Event, EventType, Phase, Severity, happened, subject
from interlock.domain.run import RunKey

C1 = Target("slack", "C1")
SECOND = timedelta(seconds=1)


def told(kind: EventType, after: float = 0, key: RunKey | None = KEY, **changes: Any) -> Event:
    parts = tuple("x" for _ in kind.spec.id)
    event = happened(
        kind, subject(None, key), NOW + after * SECOND, f"{kind} at {after}", parts=parts
    )
    return msgspec.structs.replace(event, **changes)


DAY = [
    told(EventType.TRIGGER_STARTED, 0),
    told(EventType.JOB_TRIGGERED, 0),
    told(EventType.JOB_FAILED, 60),
    told(EventType.TRIGGER_STARTED, 90),
    told(EventType.SLA_WARNING, 100),
    told(EventType.JOB_COMPLETED, 120),
    told(EventType.SLA_MET, 120),
]


@pytest.mark.parametrize("order", list(itertools.permutations(DAY))[::97])
def test_the_state_follows_the_time_of_events_not_their_arrival(order: tuple[Event, ...]) -> None:
    thread = a_thread()
    for event in order:
        thread = thread.moved(event)
    assert (thread.state, thread.state_at) == (Phase.DONE, NOW + 120 * SECOND)


def test_what_changes_nothing_leaves_the_very_same_thread() -> None:
    thread = a_thread().moved(told(EventType.JOB_FAILED, 60))
    assert thread.moved(told(EventType.JOB_TRIGGERED, 59)) is thread
    assert thread.moved(told(EventType.VALIDATION_PASSED, 99)) is thread
    assert thread.moved(told(EventType.JOB_TRIGGERED, 60)) is thread  # of one instant, the graver
    assert thread.latest == "JOB_FAILED at 60"
    refused = told(EventType.RERUN_REJECTED, 99, detail={"requestedBy": "ada"})
    assert thread.moved(refused) is thread


def test_an_alarm_that_is_over_is_done() -> None:
    alarm = told(EventType.INFRA_ALARM, key=None)
    over = msgspec.structs.replace(alarm, severity=Severity.INFO)
    assert a_thread().moved(alarm).state is Phase.ATTENTION
    assert a_thread().moved(over).state is Phase.DONE


def test_every_type_that_people_are_told_of_has_a_phase() -> None:
    told_of = {kind for kind in EventType if kind.spec.alert != "no"} - {*HANDLING_EVENTS}
    assert all(kind.spec.phase is not None for kind in told_of)


def test_a_thread_opens_in_the_state_that_its_date_has_by_now() -> None:
    late_news = told(EventType.JOB_FAILED, 60)
    thread = opened(late_news, C1, NOW, DAY)
    assert (thread.state, thread.version) == (Phase.DONE, 1)
    assert (thread.first, thread.latest) == (late_news.message, "JOB_COMPLETED at 120")
    assert opened(late_news, C1, NOW).state is Phase.FAILED


def test_one_at_a_time_may_post_the_first_message() -> None:
    mine = a_thread().claimed("me", NOW)
    assert mine is not None and mine.claimed("you", NOW + ROOT_CLAIM - SECOND) is None
    yours = mine.claimed("you", NOW + ROOT_CLAIM)
    assert yours is not None and yours.claimed_by == "you"
    rooted = yours.rooted("171.1", "face")
    assert rooted.claimed("me", NOW + 2 * ROOT_CLAIM) is None
    again = rooted.unclaimed(NOW).claimed("me", NOW)
    assert again is not None and again.thread_ts is None


def test_its_first_message_is_changed_when_it_would_say_something_else() -> None:
    thread = a_thread().moved(told(EventType.JOB_FAILED, 60))
    assert not thread.is_stale  # there is no first message yet
    thread = thread.rooted("171.1", thread.face)
    assert not thread.is_stale
    moved = thread.moved(told(EventType.JOB_COMPLETED, 70))
    assert moved.is_stale and not moved.shown().is_stale


def test_there_is_one_thread_per_date_and_without_a_date_per_type_and_day() -> None:
    assert thread_key(told(EventType.JOB_FAILED), "C1") == a_thread().key
    hourly = told(EventType.JOB_FAILED, key=a_key(date="2026-03-03T10"))
    assert thread_key(hourly, "C1").date == "2026-03-03T10"
    watchdog = thread_key(told(EventType.WATCHDOG_DEGRADED, key=None), "C1")
    assert (watchdog.pipeline, watchdog.schedule, watchdog.date) == (
        "_system",
        "WATCHDOG_DEGRADED",
        "2026-03-03",
    )
    rejected = msgspec.structs.replace(told(EventType.SENSOR_REJECTED), schedule_id=None, date=None)
    assert thread_key(rejected, "C1").schedule == "SENSOR_REJECTED"


def test_a_thread_knows_its_target() -> None:
    assert opened(told(EventType.JOB_FAILED), C1, NOW).target == C1
    console = Target("console")
    assert opened(told(EventType.JOB_FAILED), console, NOW).target == console


def test_what_people_did_is_part_of_the_first_message() -> None:
    failed = told(EventType.JOB_FAILED, 60)
    thread = a_thread().after(failed, "")
    assert thread.after(failed, "") is thread
    assert thread == a_thread().moved(failed)
    noted = thread.after(failed, "acknowledged by ada")
    assert (noted.handled, noted.version) == ("acknowledged by ada", thread.version + 1)
    assert noted.face != thread.face
    both = a_thread().after(failed, "acknowledged by ada")
    assert (both.handled, both.state, both.version) == (noted.handled, Phase.FAILED, 2)
    assert str(both.key.alert) == "silver-orders/stream/2026-03-03"
