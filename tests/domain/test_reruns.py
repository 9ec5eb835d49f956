"""Whether a request to run a date again is granted, in a fixed order of questions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.samples import KEY, a_run
from declared import declared
from interlock.domain.budgets import Budget, Spending
from interlock.domain.calendars import Excluded
from interlock.domain.reruns import Cause, Granted, RerunCase, RerunRefused, judge_request, news
from interlock.domain.run import Evidence, Run, Status, finished_run, unreadable_run
from interlock.domain.sensor import Reading, unreadable_reading

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
PIPELINE = declared(
    "job: {type: command, config: {command: [etl]}, maxDriftReruns: 1, maxManualReruns: 2}"
)
SEEN = Reading("p", "orders", {"count": 1}, NOW)
CHANGED = Reading("p", "orders", {"count": 2}, NOW)
WEEKEND = Excluded("weekends")


def a_done(**changes: Any) -> Run:
    evidence = {"orders": Evidence("orders", SEEN.version, SEEN.fields)}
    return a_run(status=Status.COMPLETED, evidence=evidence, **changes)


def judged(
    run: Run | None,
    *,
    reason: str = "manual",
    force: bool = False,
    excluded: Excluded | None = None,
    reading: Reading = SEEN,
) -> Granted | RerunRefused:
    case = RerunCase(
        reason=reason, force=force, excluded=excluded, run=run, readings={"orders": reading}
    )
    return judge_request(case, PIPELINE)


MANUAL, DRIFT = Budget("manual_reruns", 0, 2), Budget("drift_reruns", 0, 1)
SPENT = Spending(drift_reruns=1, manual_reruns=2)


@pytest.mark.parametrize("status", [Status.PENDING, Status.TRIGGERING, Status.RUNNING])
def test_a_run_in_progress_is_not_run_again(status: Status) -> None:
    assert judged(a_run(status=status), force=True) == RerunRefused(Cause.IN_PROGRESS)


def test_a_run_whose_retry_is_due_is_in_progress() -> None:
    waiting = a_run(status=Status.FAILED, retry_at=NOW)
    assert judged(waiting, force=True) == RerunRefused(Cause.IN_PROGRESS)


@pytest.mark.parametrize("status", [Status.FAILED, Status.FAILED_FINAL])
def test_a_failed_run_is_run_again_without_new_data(status: Status) -> None:
    assert judged(a_run(status=status)) == Granted(MANUAL)


def test_a_date_that_never_ran_costs_nothing() -> None:
    assert judged(None) == Granted(None)


def test_a_date_whose_row_cannot_be_read_is_not_run_again() -> None:
    assert judged(unreadable_run(KEY, "?"), force=True) == RerunRefused(Cause.UNREADABLE)


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED_FINAL])
def test_a_date_of_which_only_the_end_is_known_is_run_again_without_new_data(
    status: Status,
) -> None:
    run = finished_run(KEY, status, 0, 0)
    assert judge_request(RerunCase(reason="manual", run=run), PIPELINE) == Granted(MANUAL)


@pytest.mark.parametrize(
    ("reason", "force", "reading", "answer"),
    [
        ("manual", False, SEEN, RerunRefused(Cause.NO_NEW_DATA, MANUAL)),
        ("manual", False, CHANGED, Granted(MANUAL)),
        ("manual", True, SEEN, Granted(MANUAL)),
        ("late-data", False, CHANGED, Granted(DRIFT)),
        ("late-data", True, SEEN, RerunRefused(Cause.NO_NEW_DATA, DRIFT)),  # people force, we don't
    ],
)
def test_after_a_success_only_changed_data_or_force_runs_it_again(
    reason: str, force: bool, reading: Reading, answer: Granted | RerunRefused
) -> None:
    assert judged(a_done(), reason=reason, force=force, reading=reading) == answer


@pytest.mark.parametrize(
    ("reason", "budget"),
    [
        ("manual", Budget("manual_reruns", 2, 2)),
        ("whatever people write", Budget("manual_reruns", 2, 2)),
        ("data-drift", Budget("drift_reruns", 1, 1)),
        ("late-data", Budget("drift_reruns", 1, 1)),
    ],
)
def test_a_spent_budget_is_not_opened_by_force(reason: str, budget: Budget) -> None:
    run = a_done(spending=SPENT)
    answer = judged(run, reason=reason, force=True, reading=CHANGED)
    assert answer == RerunRefused(Cause.BUDGET, budget)


@pytest.mark.parametrize(
    ("run", "excluded", "cause"),
    [
        # the calendar comes before everything else
        (None, WEEKEND, Cause.EXCLUDED),
        (a_run(status=Status.RUNNING, spending=SPENT), WEEKEND, Cause.EXCLUDED),
        # then what is in progress, before its budget
        (a_run(status=Status.RUNNING, spending=SPENT), None, Cause.IN_PROGRESS),
        # then the budget, before the breaker
        (a_done(spending=SPENT), None, Cause.BUDGET),
        (a_done(), None, Cause.NO_NEW_DATA),
    ],
)
def test_the_questions_have_an_order(
    run: Run | None, excluded: Excluded | None, cause: Cause
) -> None:
    answer = judged(run, excluded=excluded)
    assert isinstance(answer, RerunRefused)
    assert answer.cause is cause


def test_a_reading_that_the_job_did_not_see_is_news() -> None:
    assert news(a_done(), {"orders": SEEN, "audit": CHANGED})
    assert not news(a_done(), {"orders": SEEN})
    assert not news(a_done(), {})  # what is gone says nothing
    unreadable = unreadable_reading("p", "audit", NOW, "?")
    assert not news(a_done(), {"orders": SEEN, "audit": unreadable})  # nor what can't be read


@pytest.mark.parametrize(
    ("reason", "granted"), [("manual", True), ("wrong prices", True), ("late-data", False)]
)
def test_only_a_person_may_exceed_a_budget(reason: str, granted: bool) -> None:
    case = RerunCase(
        reason=reason, over_budget=True, run=a_done(spending=SPENT), readings={"orders": CHANGED}
    )
    answer = judge_request(case, PIPELINE)
    assert isinstance(answer, Granted) is granted
    if isinstance(answer, Granted):
        assert answer.budget is not None
        assert answer.budget.spend(SPENT, over=True).manual_reruns == 3  # it is charged
