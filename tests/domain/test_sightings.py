"""Sightings: which files may be read, as look follows look."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from interlock.domain.sightings import (
    PATIENCE,
    SETTLED,
    SETTLED_AT_START,
    Sightings,
    Stamp,
    after_reading,
    look,
)

NOW = datetime(2026, 3, 3, 8, tzinfo=UTC)
LATER = NOW + SETTLED
MOMENT = timedelta(milliseconds=100)
OLD: Mapping[str, Stamp] = {"a": (1,), "b": (1,)}


def read(stamps: Mapping[str, Stamp] = OLD) -> Sightings:
    """The sightings after these files were read."""
    return after_reading(look(Sightings(), stamps, NOW - SETTLED), NOW)


def test_what_looks_as_when_it_was_read_is_not_read_again() -> None:
    seen = look(read(), OLD, LATER)

    assert not seen.is_due(LATER)
    assert seen.next_due(LATER) is None


def test_a_changed_file_is_read_once_it_has_looked_the_same_for_a_second() -> None:
    changed = {**OLD, "a": (2,)}
    first = look(read(), changed, NOW)
    soon = look(first, changed, LATER - MOMENT)
    second = look(soon, changed, LATER)

    assert [each.is_due(at) for each, at in ((first, NOW), (soon, LATER - MOMENT))] == [False] * 2
    assert first.next_due(NOW) == LATER
    assert second.is_due(LATER)
    assert second.unsettled(LATER) == frozenset()
    assert not look(after_reading(second, LATER), changed, LATER).is_due(LATER + SETTLED)


def test_a_file_that_is_still_written_starts_to_settle_again() -> None:
    first = look(read(), {**OLD, "a": (2,)}, NOW)
    second = look(first, {**OLD, "a": (3,)}, LATER)

    assert not second.is_due(LATER)
    assert second.next_due(LATER) == LATER + SETTLED


def test_a_file_that_is_gone_must_be_gone_for_a_second_too() -> None:
    first = look(read(), {"a": (1,)}, NOW)
    back = look(first, OLD, NOW + MOMENT)
    gone = look(first, {"a": (1,)}, LATER)

    assert not first.is_due(NOW)
    assert back.next_due(NOW + MOMENT) is None
    assert gone.is_due(LATER)
    assert after_reading(gone, LATER).read == {"a": (1,)}


def test_a_reverted_change_is_no_change() -> None:
    first = look(read(), {**OLD, "a": (2,)}, NOW)

    assert not look(first, OLD, LATER).is_due(LATER)


def test_a_file_that_never_rests_keeps_the_others_waiting_for_a_while_only() -> None:
    seen = read()
    for n in range(int(PATIENCE / SETTLED)):
        at = NOW + n * SETTLED
        seen = look(seen, {"a": (1,), "b": (2,), "restless": (n,)}, at)
        assert not seen.is_due(at)
    end = NOW + PATIENCE
    seen = look(seen, {"a": (1,), "b": (2,), "restless": (99,)}, end)

    assert seen.is_due(end)
    assert seen.unsettled(end) == {"restless"}
    after = after_reading(seen, end)
    assert after.read == {"a": (1,), "b": (2,)}
    assert after.next_due(end) == end + SETTLED


def test_a_start_reads_old_files_at_once_and_fresh_ones_at_the_second_look() -> None:
    old, fresh = NOW - timedelta(days=1), NOW - MOMENT
    at_rest = look(Sightings(), OLD, NOW, {"a": old, "b": old})
    busy = look(Sightings(), OLD, NOW, {"a": old, "b": fresh})

    assert at_rest.is_due(NOW)
    assert not busy.is_due(NOW)
    assert busy.next_due(NOW) == fresh + SETTLED_AT_START


def test_the_word_of_a_file_counts_at_the_first_look_alone() -> None:
    """A copy may bring an old date along."""
    seen = look(read(), {**OLD, "a": (2,)}, NOW, {"a": NOW - timedelta(days=1)})

    assert not seen.is_due(NOW)


def test_a_file_of_the_future_waits_as_any_fresh_one() -> None:
    seen = look(Sightings(), OLD, NOW, {"a": NOW + timedelta(days=1), "b": NOW - SETTLED})

    assert seen.next_due(NOW) == LATER


def test_a_start_without_files_has_read_them_all() -> None:
    assert look(Sightings(), {}, NOW).is_due(NOW)
    assert not after_reading(look(Sightings(), {}, NOW), NOW).is_due(LATER)


def test_a_clock_that_is_set_back_makes_a_file_wait_once_more_and_no_longer() -> None:
    changed = {**OLD, "a": (2,)}
    back = NOW - timedelta(hours=1)
    seen = look(look(read(), changed, NOW), changed, back)

    assert seen.next_due(back) == back + SETTLED
