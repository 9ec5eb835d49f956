"""Runs: where they may go, what an attempt forgets, and the names made of their facts."""

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from contracts.samples import a_key, a_run
from interlock.domain.budgets import Spending
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import (
    DeadlineKind,
    Evidence,
    Failure,
    Judgement,
    MarkedAs,
    OpenedBy,
    OutcomeMark,
    PostRunState,
    RunKey,
    Skip,
    Status,
    execution_name,
    finished_run,
    job_token,
    predecessors,
    trial_token,
    unreadable_run,
)
from interlock.errors import TransitionError

NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
LEASE = timedelta(hours=4, minutes=30)

_P, _T, _R, _F, _C, _X, _S, _U = Status
#: Copied from the picture of the lifecycle; a lease that ran out ends any open run.
LEGAL = {
    (_P, _T), (_P, _F), (_P, _X),
    (_T, _R), (_T, _F), (_T, _X),
    (_R, _C), (_R, _F), (_R, _X),
    (_F, _X),
}  # fmt: skip
#: What only a person may say.
BY_HAND = {
    (_P, _S), (_F, _S), (_X, _S),
    (_P, _C), (_F, _C), (_X, _C), (_S, _C),
    (_C, _X),
}  # fmt: skip
REOPENED = {_F, _C, _X, _S}
SKIP = Skip(by="ada", at=LATER, reason="a holiday")
MARK = OutcomeMark(outcome=MarkedAs.DONE, by="ada", at=LATER, reason="loaded by hand")


@pytest.mark.parametrize(("before", "after"), list(product(Status, Status)))
def test_a_run_goes_only_where_its_table_leads(before: Status, after: Status) -> None:
    run = a_run(status=before)
    if (before, after) in LEGAL:
        moved = run.to(after, LATER)
        assert (moved.status, moved.version, moved.changed_at) == (after, run.version + 1, LATER)
    else:
        with pytest.raises(TransitionError, match="silver-orders/stream/2026-03-03"):
            run.to(after, LATER)


@pytest.mark.parametrize(("before", "after"), sorted(BY_HAND))
def test_only_a_person_leads_a_run_where_no_job_would(before: Status, after: Status) -> None:
    run = a_run(status=before)
    with pytest.raises(TransitionError, match="only a person"):
        run.to(after, LATER, mark=None)
    assert run.to(after, LATER, skip=SKIP).status is after
    assert run.to(after, LATER, mark=MARK).status is after


def test_a_new_attempt_forgets_what_was_said_of_the_last() -> None:
    skipped = a_run().to(_S, LATER, skip=SKIP, mark=MARK)
    fresh = skipped.reopened(LATER, OpenedBy.OPERATOR, "unskip", LEASE)
    assert (fresh.skip, fresh.mark) == (None, None)


@pytest.mark.parametrize("status", Status)
def test_only_a_run_that_ended_gets_another_attempt(status: Status) -> None:
    run = a_run(status=status, attempt=2)
    if status in REOPENED:
        fresh = run.reopened(LATER, OpenedBy.RERUN, "manual", LEASE)
        assert (fresh.status, fresh.attempt, fresh.version) == (_P, 3, run.version + 1)
        assert (fresh.opened_by, fresh.opened_for, fresh.opened_at) == ("rerun", "manual", LATER)
        assert fresh.lease_until == LATER + LEASE
        assert fresh.execution_name == execution_name(run.key, 3)
    else:
        with pytest.raises(TransitionError, match="can't be opened again"):
            run.reopened(LATER, OpenedBy.RERUN, "manual", LEASE)


def test_a_new_attempt_has_its_own_job_and_the_dates_budgets() -> None:
    of_attempt: dict[str, Any] = {
        "started_at": NOW,
        "verdict": Judgement(NOW, True, ()),
        "evidence": {"orders": Evidence("orders", "v", {})},
        "waits_at": NOW,
        "waits_for": (a_key(date="2026-03-02"),),
        "handovers": 2,
        "handed_over_at": NOW,
        "run_id": "job-1",
        "job_type": "command",
        "job": {"token": "t"},
        "launched_at": NOW,
        "job_message": "running",
        "job_unseen": True,
        "completed_at": NOW,
        "post_run_due_at": NOW,
        "failure": Failure("job", "boom"),
        "retry_at": NOW,
        "post_run": PostRunState("passed", 1),
        "late_told": ("v",),
    }
    of_date: dict[str, Any] = {
        "first_sensor_at": NOW,
        "trigger_version": "v",
        "spending": Spending(retries=1),
        "infra_retries": 2,
        "breach_at": LATER,
        "readiness_at": LATER,
        "ready_at": NOW,
        "sla_told": (DeadlineKind.WARNING,),
        "sla_armed": {DeadlineKind.BREACH: LATER},
        "sla_verdict": SlaVerdict.BREACHED,
    }
    fresh = a_run(status=_F, **of_attempt, **of_date).reopened(LATER, OpenedBy.RETRY, "job", LEASE)
    untouched = a_run()
    assert {name: getattr(fresh, name) for name in of_attempt} == {
        name: getattr(untouched, name) for name in of_attempt
    }
    assert {name: getattr(fresh, name) for name in of_date} == of_date


def test_a_new_attempt_may_bring_changes_of_its_own() -> None:
    fresh = a_run(status=_F).reopened(
        LATER, OpenedBy.SENSOR, "orders", LEASE, trigger_version="new", evidence={}
    )
    assert fresh.trigger_version == "new"


@pytest.mark.parametrize("status", Status)
def test_a_run_is_open_until_it_ended(status: Status) -> None:
    assert a_run(status=status).is_open is (status in {_P, _T, _R})


@pytest.mark.parametrize(
    ("status", "retry_at", "awaits"),
    [(_F, NOW, True), (_F, None, False), (_X, NOW, False), (_P, NOW, False)],
)
def test_only_a_failed_run_awaits_its_retry(
    status: Status, retry_at: datetime | None, awaits: bool
) -> None:
    assert a_run(status=status, retry_at=retry_at).awaits_retry is awaits


@pytest.mark.parametrize(
    ("status", "retry_at", "has_given_up"),
    [(_F, NOW, False), (_F, None, True), (_X, NOW, True), (_P, None, False), (_C, None, False)],
)
def test_a_run_has_given_up_when_nothing_is_due_that_would_try_it_again(
    status: Status, retry_at: datetime | None, has_given_up: bool
) -> None:
    assert a_run(status=status, retry_at=retry_at).has_given_up is has_given_up


@pytest.mark.parametrize("status", Status)
def test_a_version_comes_from_its_own_state_or_one_that_leads_to_it(status: Status) -> None:
    run = a_run(status=status, attempt=4)
    if status is _P:
        assert predecessors(run) == {(4, _P), (3, _F), (3, _C), (3, _X), (3, _S)}
    else:
        before = {(4, one) for one, other in LEGAL | BY_HAND if other is status}
        assert predecessors(run) == before | {(4, status)}


_UNLIKE = [
    RunKey("a-b", "c", "2026-03-03"),
    RunKey("a", "b-c", "2026-03-03"),  # the same letters in another cut
    RunKey("a", "b", "2026-03-03"),
    RunKey("a", "b", "2026-03-03", dry=True),
    RunKey("a", "b", "2026-03-03T10"),
    RunKey("a", "b", "2026-03-03T10:15"),  # a colon is replaced
    RunKey("x" * 63, "y" * 24, "2026-03-03"),  # over 80 characters
    RunKey("x" * 63, "y" * 23 + "z", "2026-03-03"),  # that differ only beyond them
    RunKey("x" * 63, "y" * 24, "2026-03-03", dry=True),
]


def test_no_two_executions_share_a_name() -> None:
    names = [
        execution_name(key, attempt, number, handover)
        for key in _UNLIKE
        for attempt in range(3)
        for number in range(1, 4)
        for handover in range(3)
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("attempt", [0, 1, 12])
@pytest.mark.parametrize("key", _UNLIKE)
def test_a_name_is_one_that_every_platform_takes(key: RunKey, attempt: int) -> None:
    name = execution_name(key, attempt)
    assert re.fullmatch(r"[0-9A-Za-z_.-]{1,80}", name)
    assert name.startswith(key.pipeline_id[:60])


@pytest.mark.parametrize(
    ("key", "attempt", "name"),
    [
        (a_key(), 0, "silver-orders-stream-2026-03-03"),
        (a_key(), 2, "silver-orders-stream-2026-03-03-rerun-2"),
        (a_key(date="2026-03-03T10"), 0, "silver-orders-stream-2026-03-03T10"),
        (a_key(date="2026-03-03T10:15"), 1, "silver-orders-stream-2026-03-03T10-15-rerun-1"),
        # a dash in the schedule's id: the hash of [pipeline, schedule, date, attempt]
        (a_key(schedule_id="late-night"), 0, "silver-orders-late-night-2026-03-03-1bdac5c8"),
    ],
)
def test_a_name_can_be_read(key: RunKey, attempt: int, name: str) -> None:
    assert execution_name(key, attempt) == name


def test_a_further_execution_of_an_attempt_has_its_own_name_and_the_next_attempt_starts_over() -> (
    None
):
    run = a_run()
    again = run.resumed(LATER, LEASE)
    assert (again.version, again.status, again.changed_at) == (2, run.status, LATER)
    assert again.lease_until == run.lease_until
    assert (again.executions, again.execution_name) == (
        2, "silver-orders-stream-2026-03-03-again-2"
    )  # fmt: skip
    fresh = again.to(Status.FAILED, LATER).reopened(LATER, OpenedBy.RETRY, "", LEASE)
    assert (fresh.executions, fresh.execution_name) == (
        1, "silver-orders-stream-2026-03-03-rerun-1"
    )  # fmt: skip


def test_an_attempt_that_goes_on_after_its_lease_gets_another_lease() -> None:
    run = a_run()
    over = run.lease_until + timedelta(seconds=1)
    assert run.resumed(over, LEASE).lease_until == over + LEASE


def test_an_attempt_that_is_handed_over_goes_on_under_another_name() -> None:
    run = a_run(started_at=NOW)
    relieved = run.handed_over(LATER, LEASE).handed_over(LATER, LEASE)
    assert relieved.execution_name == f"{run.execution_name}-wait-2"
    assert (relieved.attempt, relieved.version) == (run.attempt, run.version)
    assert (relieved.started_at, relieved.handed_over_at) == (None, LATER)
    assert relieved.lease_until == LATER + LEASE


def test_a_token_is_made_of_the_facts_of_an_attempt() -> None:
    token = job_token("interlock", a_key(), 0)
    assert re.fullmatch(r"il-[0-9a-f]{32}", token)
    assert token == job_token("interlock", a_key(), 0)
    others = [
        job_token("interlock", a_key(), 1),
        job_token("staging", a_key(), 0),  # two installations over one platform
        job_token("interlock", a_key(date="2026-03-04"), 0),
        job_token("interlock", a_key(schedule_id="cron"), 0),
        job_token("interlock", a_key(pipeline_id="gold"), 0),
    ]
    assert len({token, *others}) == 6


def test_the_token_of_a_trial_belongs_to_no_attempt() -> None:
    token = trial_token("interlock", a_key(), NOW)
    assert re.fullmatch(r"il-test-[0-9a-f]{27}", token)
    assert re.fullmatch(r"il-[0-9a-f]{32}", token) is None
    assert token != trial_token("interlock", a_key(), LATER)


def test_a_key_reads_as_its_place() -> None:
    assert str(a_key()) == "silver-orders/stream/2026-03-03"


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED_FINAL])
def test_a_finished_run_may_have_no_more_than_its_end(status: Status) -> None:
    run = finished_run(a_key(), status, 0, 0, run_id="job-7")
    assert (run.status, run.version, run.attempt, run.run_id) == (status, 0, 0, "job-7")
    assert (run.is_bare, run.is_open, run.awaits_retry) == (True, False, False)
    assert run.changed_at == datetime(2026, 3, 3, tzinfo=UTC)


def test_a_rerun_makes_a_full_run_of_one_that_has_no_more_than_its_end() -> None:
    fresh = finished_run(a_key(), Status.COMPLETED, 0, 0).reopened(
        NOW, OpenedBy.RERUN, "manual", LEASE
    )
    assert (fresh.version, fresh.attempt, fresh.is_bare) == (1, 1, False)


def test_an_unfinished_run_cannot_do_without_its_execution() -> None:
    with pytest.raises(ValueError, match="a row with status RUNNING must also name its execution"):
        finished_run(a_key(), Status.RUNNING, 0, 0)


def test_a_row_that_cannot_be_read_takes_its_date_and_says_nothing_more() -> None:
    run = unreadable_run(a_key(date="2026-03-03T10"), "JSON is truncated")
    assert (run.is_open, run.is_bare, run.awaits_retry) == (False, True, False)
    assert run.failure == Failure("unreadable", "JSON is truncated")
    assert run.opened_at == datetime(2026, 3, 3, 10, tzinfo=UTC)
