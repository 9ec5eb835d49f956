"""Backfills: of two writers one wins, and only those that need attention are listed for it."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from contracts.home import Home
from contracts.samples import KEY, NOW, ManualClock, a_backfill, a_key, a_request, an_event
from interlock.domain.backfill import Backfill, BackfillState, BegunDate, DateEnding
from interlock.domain.rerun_request import RequestAnswer

LATER = NOW + timedelta(minutes=5)
BEGUN = a_backfill().changed(
    begun={"2026-03-02T04": BegunDate(NOW, 3), "2026-03-02T05": BegunDate(None, 0)},
    ended={"2026-03-01": DateEnding.BUDGET},
)
PAUSED = a_backfill().turned(BackfillState.PAUSED, LATER, "bo", "too much load")
DONE = a_backfill().changed(
    state=BackfillState.DONE,
    ended=dict(zip(a_backfill().dates, list(DateEnding)[:4], strict=True)),
)


def test_a_backfill_comes_back_as_it_was_stored(home: Home) -> None:
    assert home.backfills.find(a_backfill().id) is None
    for backfill in (a_backfill(), BEGUN):
        assert home.backfills.save(backfill)
        assert home.backfills.find(backfill.id) == backfill


def test_every_ending_and_every_kind_of_date_comes_back(home: Home) -> None:
    dates = tuple(f"2026-03-{day:02}" for day in range(1, len(DateEnding) + 1))
    ended = dict(zip(dates, DateEnding, strict=True))
    backfill = a_backfill(dates=(*dates, "2026-04-01T00", "2026-04-01T00:30"), ended=ended)
    assert home.backfills.save(backfill)
    assert home.backfills.find(backfill.id) == backfill


def test_a_backfill_of_most_dates_fits_into_a_row(home: Home) -> None:
    hours = [
        f"2025-{m:02}-{d:02}T{h:02}" for m in range(1, 13) for d in range(1, 29) for h in range(24)
    ]
    quarters = [
        f"2026-01-{d:02}T{h:02}:{q}" for d in range(1, 25) for h in range(24) for q in (15, 30)
    ]
    dates = (*hours, *quarters)[:10_000]
    backfill = a_backfill(dates=dates, ended=dict.fromkeys(dates[:-1], DateEnding.NOT_EXPECTED))
    assert home.backfills.save(backfill)
    assert home.backfills.find(backfill.id) == backfill


def test_only_the_first_to_save_a_version_wins(
    home: Home, at_once: Callable[[Sequence[Callable[[], bool]]], list[bool]]
) -> None:
    first = at_once([lambda: home.backfills.save(a_backfill())] * 2)
    assert sorted(first) == [False, True]
    second = at_once([lambda: home.backfills.save(BEGUN), lambda: home.backfills.save(PAUSED)])
    assert sorted(second) == [False, True]
    assert not home.backfills.save(a_backfill(version=9))


def test_the_events_of_a_write_that_won_wait_under_their_ids(home: Home) -> None:
    won, lost, more = an_event(1), an_event(2), an_event(3)
    assert home.backfills.save(a_backfill(), [won, more])
    assert not home.backfills.save(a_backfill(), [lost])
    assert home.outbox.pending(won.event_id) == [won]
    assert home.outbox.pending(more.event_id) == [more]
    assert home.outbox.pending(lost.event_id) == []
    home.outbox.clear([won])
    assert home.outbox.pending(won.event_id) == []


def test_what_needs_attention_is_listed_oldest_first(home: Home) -> None:
    older, newer = a_backfill("20260301-000000-aaaaaa"), a_backfill("20260302-000000-aaaaaa")
    idle = a_backfill("20260303-000000-aaaaaa", state=BackfillState.PAUSED)
    for backfill in (newer, older, idle):
        assert home.backfills.save(backfill)
    assert home.backfills.unsettled() == [older, newer]
    busy = idle.changed(begun={"2026-03-01": BegunDate(NOW)}, state=BackfillState.CANCELLED)
    assert home.backfills.save(busy)
    assert home.backfills.unsettled() == [older, newer, busy]
    assert home.backfills.save(older.changed(state=BackfillState.CANCELLED))
    assert home.backfills.unsettled() == [newer, busy]


def test_people_see_the_newest_first_page_by_page(home: Home) -> None:
    def named(number: int, **changes: str) -> Backfill:
        return a_backfill(f"2026030{number}-000000-aaaaaa", **changes)

    other = named(3, pipeline_id="bronze")
    stored = [named(1), named(2), other, named(4)]
    for backfill in stored:
        assert home.backfills.save(backfill)
    assert home.backfills.newest(10) == stored[::-1]
    assert home.backfills.newest(2) == [stored[3], other]
    assert home.backfills.newest(2, other.id) == [stored[1], stored[0]]
    assert home.backfills.newest(10, pipeline_id="bronze") == [other]
    assert home.backfills.newest(1, other.id, KEY.pipeline_id) == [stored[1]]


def test_a_finished_backfill_is_still_there_a_year_later(home: Home, clock: ManualClock) -> None:
    assert home.backfills.save(a_backfill())
    assert home.backfills.save(DONE)
    clock.advance(days=365)
    assert home.backfills.find(DONE.id) == DONE
    assert home.backfills.unsettled() == []


def test_the_answer_to_a_request_is_kept_with_it(home: Home) -> None:
    other = a_key(date="2026-03-04")
    assert home.reruns.answers([KEY]) == {}
    home.reruns.request(a_request())
    assert home.reruns.answers([KEY, other]) == {KEY: RequestAnswer(NOW)}
    home.reruns.judged(a_request(), "excluded")
    home.reruns.judged(a_request(), "rejected")
    assert home.reruns.answers([KEY]) == {KEY: RequestAnswer(NOW, True, "excluded")}
    home.reruns.request(a_request("again", LATER))
    assert home.reruns.answers([KEY]) == {KEY: RequestAnswer(LATER)}
    home.reruns.judged(a_request("again", LATER))
    assert home.reruns.answers([KEY]) == {KEY: RequestAnswer(LATER, True)}
    home.reruns.withdraw(KEY, LATER)
    assert home.reruns.answers([KEY]) == {}
    assert home.reruns.answers([]) == {}


def test_a_request_says_which_backfill_made_it(home: Home) -> None:
    request = BEGUN.request("2026-03-02T04")
    home.reruns.request(request)
    assert home.reruns.unjudged() == [request]
    assert [change.request for change in home.changes()] == [request]
