"""Backfill invariants: each of them is noticed when it is broken."""

from typing import Any

import pytest

from contracts.samples import KEY, NOW, a_backfill, a_key, a_run, an_event
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.backfill import BackfillState, BegunDate, DateEnding
from interlock.domain.event import EventType
from interlock.errors import ConfigError
from interlock.simulation.backfill_invariants import BackfillInvariants, backfills_with_room
from interlock.simulation.random_scenarios import random_scenario
from interlock.simulation.scenario import parse_scenario

BEGUN = {"2026-03-01": BegunDate(NOW), "2026-03-02T04": BegunDate(NOW)}


@pytest.fixture
def store() -> Store:
    return Store(Database(), lambda: NOW)


def found(invariants: BackfillInvariants, store: Store) -> list[str]:
    return list(invariants.check(store))


def test_a_sound_backfill_breaks_nothing(store: Store) -> None:
    invariants = BackfillInvariants()
    assert found(invariants, store) == []
    store.backfills.save(a_backfill())
    store.backfills.save(a_backfill().changed(begun=BEGUN))
    assert found(invariants, store) == []


def test_more_begun_dates_than_allowed_are_noticed(store: Store) -> None:
    store.backfills.save(a_backfill(max_concurrent=1, begun=BEGUN))
    assert found(BackfillInvariants(), store) == [
        "I11: 20260303-100000-a1b2c3 may run 1 at once, but runs 2"
    ]


def test_more_runs_than_allowed_are_noticed(store: Store) -> None:
    backfill = a_backfill(max_concurrent=1)
    store.backfills.save(backfill)
    for date in ("2026-03-03", "2026-03-04"):
        store.runs.open(a_run(a_key(date=date), backfill=backfill.id))
    assert found(BackfillInvariants(), store) == [
        "I11: 20260303-100000-a1b2c3 may run 1 at once, but runs 2"
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"begun": BEGUN}, {"begun": {}}, "has lost 2026-03-01, which had begun"),
        (
            {"ended": {"2026-03-01": DateEnding.FAILED}},
            {"ended": {"2026-03-01": DateEnding.COMPLETED}},
            "changed the ending of 2026-03-01 from failed",
        ),
    ],
)
def test_a_date_that_is_lost_or_changed_is_noticed(
    store: Store, before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    invariants = BackfillInvariants()
    first = a_backfill(**before)
    store.backfills.save(first)
    assert found(invariants, store) == []
    store.backfills.save(first.changed(**after))
    assert words in found(invariants, store)[0]


def test_a_date_that_was_granted_twice_is_noticed(store: Store) -> None:
    store.backfills.save(a_backfill(dates=(KEY.date,)))
    invariants = BackfillInvariants()
    kind, why = EventType.RERUN_ACCEPTED, "backfill: new currency"
    store.events.publish([an_event(0, kind=kind, reason=why)])
    assert found(invariants, store) == []
    store.events.publish([an_event(1, kind=kind, reason=why), an_event(2, kind=kind)])
    (broken,) = found(invariants, store)
    assert "was granted 2 times, asked 1" in broken


def test_room_is_owed_only_to_running_backfills_of_pipelines_that_are_served(store: Store) -> None:
    store.backfills.save(a_backfill())
    assert list(backfills_with_room(store, {KEY.pipeline_id})) == [
        "2026-03-01 of the backfill 20260303-100000-a1b2c3"
    ]
    assert list(backfills_with_room(store, set())) == []
    full = a_backfill().changed(begun=BEGUN)
    store.backfills.save(full)
    assert list(backfills_with_room(store, {KEY.pipeline_id})) == []
    store.backfills.save(full.turned(BackfillState.PAUSED, NOW))
    assert list(backfills_with_room(store, {KEY.pipeline_id})) == []


STORY = """
name: x
start: 2026-03-03T00:00:00Z
until: 2026-03-04T00:00:00Z
pipelines:
  - pipeline: {id: daily}
    schedule: {cron: "0 6 * * *"}
    validation: {rules: [{key: feed, check: exists}]}
    job: {type: command, config: {command: [etl]}}
timeline:
  - {at: +1m, backfill: %s}
"""


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{pipeline: daily}", "needs from and to, or turn alone"),
        ('{pipeline: daily, from: "2026-03-01"}', "needs from and to, or turn alone"),
        ('{pipeline: daily, from: "2026-03-01", to: "2026-03-01", turn: pause}', "turn alone"),
        ("{pipeline: dayli, turn: pause}", "there is no pipeline dayli"),
    ],
)
def test_an_entry_that_says_too_little_or_too_much_is_refused(entry: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_scenario(STORY % entry)


def test_random_worlds_start_and_turn_backfills() -> None:
    drawn = [
        entry["backfill"]
        for seed in range(300)
        for entry in random_scenario(seed)["timeline"]
        if "backfill" in entry
    ]
    assert any("from" in each for each in drawn)
    assert {each["turn"] for each in drawn if "turn" in each} == {"pause", "resume", "cancel"}
