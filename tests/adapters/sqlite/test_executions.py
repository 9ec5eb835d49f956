"""Executions: one worker at a time moves an execution on, and a crash loses no state."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from contracts.samples import NOW, ManualClock
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.workflows import Claimed, LogEntry, Progress, SqliteWorkflows
from interlock.domain.run import EngineState
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import UnavailableError

HOUR = timedelta(hours=1)
GIVEN = {"pipelineId": "p", "share": Decimal("0.5")}
GIVEN_TEXT = '{"pipelineId":"p","share":0.5}'


def started(store: Store, name: str = "e") -> Claimed:
    store.workflows.define("digest", "{}")
    store.workflows.start(name, GIVEN)
    claimed = store.workflows.claim(name, store.clock())
    assert claimed is not None
    return claimed


def progress(
    wake_at: datetime = NOW + HOUR,
    waiting_for: WaitingFor | None = WaitingFor.RULES,
    log: Sequence[LogEntry] = (),
    **more: Any,
) -> Progress:
    given = {"status": "RUNNING", "state": "WaitInterval", **more}
    return Progress(
        definition="digest",
        snapshot='{"x":1}',
        wake_at=wake_at,
        waiting_for=waiting_for,
        log=log,
        **given,
    )


def test_a_started_execution_is_due_at_once_and_has_not_begun(store: Store) -> None:
    store.workflows.start("e", GIVEN)
    assert store.workflows.due(NOW, 10) == ["e"]
    claimed = store.workflows.claim("e", NOW)
    assert claimed is not None
    assert (claimed.given, claimed.snapshot, claimed.definition) == (GIVEN_TEXT, None, None)


class _Unreadable(Database):
    def read(self, query: Callable[[sqlite3.Connection], Any]) -> Any:
        raise UnavailableError("the disk is gone")


def stored(store: Store, claimed: Claimed, made: Progress) -> None:
    store.workflows.store(claimed, made)
    store.workflows.let_go(claimed)


def next_wake(store: Store) -> datetime | None:
    return store.agenda.look().next_wake


def test_an_execution_is_claimed_by_one_until_it_is_let_go(store: Store) -> None:
    claimed = started(store)
    assert store.workflows.claim("e", NOW) is None
    assert store.workflows.due(NOW, 10) == []
    assert next_wake(store) is None
    store.workflows.let_go(claimed)
    assert store.workflows.due(NOW, 10) == ["e"]
    assert next_wake(store) == NOW
    assert store.workflows.claim("e", NOW) is not None


def test_what_is_held_hides_nothing_else_that_is_due(store: Store) -> None:
    started(store)
    store.workflows.start("other", GIVEN)
    assert store.workflows.due(NOW, 10) == ["other"]
    assert next_wake(store) == NOW


def test_a_claim_that_can_not_be_read_is_let_go(store: Store) -> None:
    store.workflows.start("e", GIVEN)
    broken = SqliteWorkflows(_Unreadable(), store.clock)
    with pytest.raises(UnavailableError):
        broken.claim("e", NOW)
    assert broken.held.names() == []
    assert broken.held.changes == 2


def test_what_was_stored_is_what_the_next_worker_gets(store: Store) -> None:
    stored(store, started(store), progress())
    assert store.workflows.due(NOW, 10) == []
    assert next_wake(store) == NOW + HOUR
    claimed = store.workflows.claim("e", NOW + HOUR)
    assert claimed is not None
    assert (claimed.snapshot, claimed.definition) == ('{"x":1}', "digest")
    assert claimed.wake_at == NOW + HOUR


def test_a_new_process_finds_everything_due_that_the_old_one_had_in_hand(store: Store) -> None:
    started(store)
    after = Store(store.database, store.clock)
    assert after.workflows.due(NOW, 10) == ["e"]
    assert after.workflows.claim("e", NOW) is not None


def test_history_is_kept_in_order(store: Store) -> None:
    entries = [LogEntry(NOW, state, "entered", "note") for state in ("A", "B", "C")]
    stored(store, started(store), progress(NOW, log=entries[:2]))
    again = store.workflows.claim("e", NOW)
    assert again is not None
    stored(store, again, progress(log=entries[2:]))
    assert store.workflows.history("e") == entries


def test_an_execution_that_has_ended_is_never_due(store: Store) -> None:
    ended = progress(status="FAILED", waiting_for=None, ended_at=NOW, error="E", cause="because")
    stored(store, started(store), ended)
    assert store.workflows.describe("e") is EngineState.ENDED
    assert store.workflows.due(NOW + 9 * HOUR, 10) == []
    assert next_wake(store) is None
    assert store.workflows.claim("e", NOW + 9 * HOUR) is None


def test_the_definition_that_an_execution_began_with_is_kept(store: Store) -> None:
    store.workflows.define("digest", "{first}")
    store.workflows.define("digest", "{second}")
    assert store.workflows.definition("digest") == "{first}"
    assert store.workflows.definition("other") is None


@pytest.mark.parametrize(
    ("waits_for", "woken_for", "wakes"),
    [
        (WaitingFor.RULES, WaitingFor.RULES, True),
        (WaitingFor.JOB, WaitingFor.JOB, True),
        (WaitingFor.RULES, WaitingFor.JOB, False),
        (None, WaitingFor.RULES, False),  # the pause before a retry stays as long as it is
    ],
)
def test_waking_cuts_short_exactly_that_wait(
    store: Store,
    clock: ManualClock,
    waits_for: WaitingFor | None,
    woken_for: WaitingFor,
    wakes: bool,
) -> None:
    stored(store, started(store), progress(waiting_for=waits_for))
    clock.advance(minutes=5)
    store.workflows.wake("other", woken_for)
    assert store.workflows.due(clock.now, 10) == []
    store.workflows.wake("p", woken_for)
    assert store.workflows.due(clock.now, 10) == (["e"] if wakes else [])
    if wakes:
        claimed = store.workflows.claim("e", clock.now)
        assert claimed is not None and claimed.wake_at == clock.now


def test_waking_one_that_is_due_already_does_not_put_it_off(
    store: Store, clock: ManualClock
) -> None:
    stored(store, started(store), progress(NOW + timedelta(seconds=1)))
    clock.advance(minutes=5)
    store.workflows.wake("p", WaitingFor.RULES)
    assert next_wake(store) == NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("hints", "waits_for", "wakes"),
    [
        ([WaitingFor.RULES], WaitingFor.RULES, True),
        ([WaitingFor.JOB], WaitingFor.RULES, False),
        ([WaitingFor.RULES, WaitingFor.JOB], WaitingFor.RULES, True),
        ([WaitingFor.RULES, WaitingFor.RULES], WaitingFor.RULES, True),
        ([WaitingFor.RULES], None, False),
        ([], WaitingFor.RULES, False),
    ],
)
def test_a_hint_that_comes_during_the_work_cuts_the_next_wait_short(
    store: Store,
    clock: ManualClock,
    hints: list[WaitingFor],
    waits_for: WaitingFor | None,
    wakes: bool,
) -> None:
    claimed = started(store)
    clock.advance(seconds=5)
    for hint in hints:
        store.workflows.wake("p", hint)
    assert store.workflows.due(clock.now, 10) == []  # its worker still has it
    stored(store, claimed, progress(waiting_for=waits_for))
    assert store.workflows.due(clock.now, 10) == (["e"] if wakes else [])


def test_a_hint_is_used_once(store: Store, clock: ManualClock) -> None:
    claimed = started(store)
    store.workflows.wake("p", WaitingFor.RULES)
    stored(store, claimed, progress(NOW, waiting_for=None))
    again = store.workflows.claim("e", NOW)
    assert again is not None
    stored(store, again, progress())
    assert store.workflows.due(NOW, 10) == []


def test_a_hint_is_not_lost_on_a_worker_that_lets_go(store: Store, clock: ManualClock) -> None:
    stored(store, started(store), progress(NOW))
    claimed = store.workflows.claim("e", NOW)
    assert claimed is not None
    store.workflows.wake("p", WaitingFor.RULES)
    store.workflows.let_go(claimed)
    assert store.workflows.due(clock.now, 10) == ["e"]


@pytest.mark.parametrize(("days", "state"), [(89, EngineState.ENDED), (90, EngineState.RUNNING)])
def test_a_name_is_free_again_as_long_after_its_end_as_on_step_functions(
    store: Store, clock: ManualClock, days: int, state: EngineState
) -> None:
    """Retention may not have been there: the server was down, or its clock had jumped."""
    ended = progress(
        status="SUCCEEDED", ended_at=NOW, waiting_for=None, log=[LogEntry(NOW, "s", "k", "")]
    )
    store.workflows.store(started(store), ended)
    clock.advance(days=days)
    store.workflows.start("e", GIVEN)
    assert store.workflows.describe("e") is state
