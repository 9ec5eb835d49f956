"""Marks: facts without a run, claimed once."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import msgspec

from contracts.home import Home, tell
from contracts.samples import KEY, NOW, ManualClock, a_key, an_event, many
from interlock.domain.deadline import SlaVerdict
from interlock.domain.places import Holder, Places
from interlock.domain.run import DeadlineKind
from interlock.domain.sla import SlaWatch

AtOnce = Callable[[Sequence[Callable[[], bool]]], list[bool]]

EVENT = an_event("missed")
PLACES = Places(
    pipeline_id="silver-orders",
    version=1,
    holders=(Holder("2026-03-02", "stream", 0), Holder("2026-03-03T10", "hourly", 2)),
    waiting=(Holder("2026-03-04", "stream", 1),),
)
WATCH = SlaWatch(key=KEY, warning_at=NOW, breach_at=NOW + timedelta(hours=1))


def told(watch: SlaWatch) -> SlaWatch:
    return msgspec.structs.replace(
        watch,
        version=watch.version + 1,
        told=(DeadlineKind.WARNING,),
        armed={DeadlineKind.BREACH: NOW},
        verdict=next(iter(SlaVerdict)),
    )


def test_only_the_first_to_claim_an_event_wins(home: Home, at_once: AtOnce) -> None:
    won = at_once([lambda: home.claims.claim(EVENT)] * 20)
    assert won.count(True) == 1
    assert home.outbox.pending(EVENT.event_id) == [EVENT]


def test_an_unpublished_claim_is_handed_out_again(home: Home) -> None:
    home.claims.claim(EVENT)
    assert not home.claims.claim(EVENT)
    assert home.outbox.pending(EVENT.event_id) == [EVENT]
    tell(home, [EVENT])
    assert home.outbox.pending(EVENT.event_id) == []
    assert not home.claims.claim(EVENT)
    assert home.outbox.pending(EVENT.event_id) == []


def test_claims_are_known_by_the_ids_of_their_events(home: Home) -> None:
    events = [*many(120, an_event), an_event("x", None), an_event("y" * 300)]
    for event in events[5:]:
        assert home.claims.claim(event)
    ids = [event.event_id for event in events]
    assert home.claims.is_claimed(ids) == set(ids[5:])
    assert home.claims.is_claimed([]) == set()


def test_a_claim_that_has_expired_is_absent(home: Home, clock: ManualClock) -> None:
    home.claims.claim(EVENT)
    tell(home, [EVENT])
    clock.advance(days=35)
    assert home.claims.is_claimed([EVENT.event_id]) == set()
    assert home.claims.claim(EVENT)
    assert home.claims.is_claimed([EVENT.event_id]) == {EVENT.event_id}


def test_only_the_first_to_save_a_watch_wins(home: Home, at_once: AtOnce) -> None:
    assert home.claims.watch(KEY) is None
    assert at_once([lambda: home.claims.save_watch(WATCH)] * 10).count(True) == 1
    assert home.claims.watch(KEY) == WATCH
    assert home.claims.save_watch(told(WATCH))
    assert not home.claims.save_watch(told(WATCH), [EVENT])
    assert home.claims.watch(KEY) == told(WATCH)
    assert home.outbox.pending(f"{KEY}/sla") == []


def test_a_watch_that_was_never_stored_has_no_second_version(home: Home) -> None:
    assert not home.claims.save_watch(told(WATCH))
    assert home.claims.watch(KEY) is None


def test_the_events_of_a_watch_wait_with_it(home: Home) -> None:
    assert home.claims.save_watch(WATCH, [EVENT])
    assert home.outbox.pending(f"{KEY}/sla") == [EVENT]


def test_exactly_the_watches_asked_for_are_found(home: Home) -> None:
    keys = [a_key(date=f"2026-03-{day:02}") for day in range(1, 32)]
    for key in keys:
        home.claims.save_watch(msgspec.structs.replace(WATCH, key=key))
    found = home.claims.watches([*keys[:20], a_key(pipeline_id="other")])
    assert set(found) == set(keys[:20])
    assert all(watch.key == key for key, watch in found.items())
    assert home.claims.watches([]) == {}


def test_a_watch_outlives_its_breach_by_35_days(home: Home, clock: ManualClock) -> None:
    home.claims.save_watch(WATCH)
    clock.advance(days=35, minutes=59)
    assert home.claims.watch(KEY) == WATCH
    clock.advance(minutes=1)
    assert home.claims.watch(KEY) is None
    assert home.claims.save_watch(WATCH)


def test_the_places_of_a_pipeline_come_back_as_they_were_stored(home: Home) -> None:
    assert home.claims.places("silver-orders") is None
    assert home.claims.save_places(PLACES)
    assert home.claims.places("silver-orders") == PLACES
    assert home.claims.places("gold") is None


def test_of_many_that_see_one_free_place_only_one_takes_it(home: Home, at_once: AtOnce) -> None:
    assert at_once([lambda: home.claims.save_places(PLACES)] * 10).count(True) == 1
    second = msgspec.structs.replace(PLACES, version=2, waiting=())
    assert at_once([lambda: home.claims.save_places(second)] * 10).count(True) == 1
    assert not home.claims.save_places(msgspec.structs.replace(PLACES, version=4))
    assert home.claims.places("silver-orders") == second


def test_places_unused_for_a_month_start_over(home: Home, clock: ManualClock) -> None:
    assert home.claims.save_places(PLACES)
    clock.now += timedelta(days=36)
    assert home.claims.places("silver-orders") is None
    assert home.claims.save_places(PLACES)
