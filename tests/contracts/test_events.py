"""Events and outbox: a fact is published once, and what was stored is never lost."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

import msgspec

from contracts.home import Home, tell
from contracts.samples import KEY, NOW, ManualClock, a_key, a_run, an_event, many
from interlock.domain.event import Event, EventType, Severity

AtOnce = Callable[[Sequence[Callable[[], None]]], list[None]]

PASSED = EventType.VALIDATION_PASSED


def test_an_event_comes_back_as_it_was_told(home: Home) -> None:
    event = msgspec.structs.replace(
        an_event(1, kind=PASSED, results=[{"actual": Decimal("0.10"), "expected": 10**30}]),
        severity=Severity.CRITICAL,
        attempt=3,
        run_id="jr_1",
        owner="orders-team",
        tags={"tier": "1"},
    )
    home.events.publish([event])
    assert home.events.of_run(KEY) == [event]


def test_the_same_id_twice_is_one_event_and_the_first_stays(home: Home) -> None:
    first = an_event(1)
    home.events.publish([first])
    home.events.publish([msgspec.structs.replace(first, message="told differently"), an_event(2)])
    assert home.events.of_run(KEY) == [first, an_event(2)]


def test_an_event_told_by_many_at_once_is_one_event(home: Home, at_once: AtOnce) -> None:
    at_once([lambda: home.events.publish([an_event(1), an_event(2)])] * 20)
    assert home.events.of_run(KEY) == [an_event(1), an_event(2)]


def test_two_events_of_one_instant_are_two(home: Home) -> None:
    home.events.publish([an_event(1), an_event(1, kind=PASSED)])
    assert len(home.events.of_run(KEY)) == 2


def test_the_events_of_a_run_are_in_the_order_in_which_they_happened(home: Home) -> None:
    late, early = an_event(1, at=NOW + timedelta(seconds=1)), an_event(2)
    home.events.publish([late])
    home.events.publish([early])
    assert home.events.of_run(KEY) == [early, late]


def test_the_events_of_a_run_are_not_those_of_another(home: Home) -> None:
    dry = an_event(1, kind=EventType.DRY_RUN_COMPLETED)
    real = an_event(1)
    home.events.publish([dry, real, an_event(1, a_key(date="2026-03-03T10"))])
    assert home.events.of_run(KEY) == [real]
    assert home.events.of_run(a_key(dry=True)) == [dry]


def test_the_newest_are_listed_by_pipeline_by_type_and_since(home: Home) -> None:
    def told(minute: int, kind: EventType, pipeline_id: str) -> Event:
        at = NOW + timedelta(minutes=minute)
        return an_event(minute, a_key(pipeline_id=pipeline_id), kind, at)

    events = [
        told(0, PASSED, "a"),
        told(1, PASSED, "b"),
        told(2, EventType.TRIGGER_STARTED, "a"),
        told(3, PASSED, "a"),
    ]
    home.events.publish(events)
    assert home.events.newest() == events[::-1]
    assert home.events.newest(limit=2) == [events[3], events[2]]
    assert home.events.newest(pipeline_id="a") == [events[3], events[2], events[0]]
    assert home.events.newest(kind=PASSED) == [events[3], events[1], events[0]]
    assert home.events.newest(kind=PASSED, pipeline_id="a") == [events[3], events[0]]
    assert home.events.newest(since=NOW + timedelta(minutes=2)) == [events[3], events[2]]
    assert home.events.newest(pipeline_id="c") == []


def test_an_event_without_a_pipeline_is_listed_too(home: Home) -> None:
    event = an_event(1, None, EventType.SFN_TIMEOUT)
    home.events.publish([event])
    assert home.events.newest() == [event]


def test_publishing_nothing_is_nothing(home: Home) -> None:
    home.events.publish([])
    assert home.events.newest() == []


def test_what_waits_is_handed_out_in_order_until_it_is_published(home: Home) -> None:
    events = many(3, an_event)
    home.runs.open(a_run(), events)
    assert home.outbox.pending(str(KEY)) == events
    tell(home, events[:1])
    assert home.outbox.pending(str(KEY)) == events[1:]
    tell(home, events)
    assert home.outbox.pending(str(KEY)) == []


def test_clearing_forgets_exactly_what_it_names(home: Home) -> None:
    home.runs.open(a_run(), many(3, an_event))
    home.outbox.clear([an_event(1)])
    home.outbox.clear([an_event(1), an_event(9)])
    home.outbox.clear([])
    assert home.outbox.pending(str(KEY)) == [an_event(0), an_event(2)]


def test_a_dry_run_has_an_outbox_of_its_own(home: Home) -> None:
    home.runs.open(a_run(a_key(dry=True)), [an_event(1)])
    assert home.outbox.pending(str(KEY)) == []
    assert home.outbox.pending(f"{KEY}/dry") == [an_event(1)]


def test_leftovers_are_what_has_waited_since_before_an_instant(
    home: Home, clock: ManualClock
) -> None:
    home.runs.open(a_run(), [an_event(1)])
    clock.advance(minutes=5)
    home.claims.claim(an_event(2))
    assert home.outbox.leftovers(NOW) == []
    assert home.outbox.leftovers(NOW + timedelta(minutes=5)) == [an_event(1)]
    assert home.outbox.leftovers(NOW + timedelta(minutes=6)) == [an_event(1), an_event(2)]
