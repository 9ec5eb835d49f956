"""How often a failure may be tried again, and on whose account."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.budgets import (
    Budget,
    Category,
    RerunSource,
    Spending,
    decide_retry,
    rerun_budget,
    rerun_source,
    retry_budget,
    retry_delay,
)
from interlock.domain.pipeline import Job, JobType

AT = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
JOB = Job(
    JobType.COMMAND, max_retries=4, max_code_retries=2, max_drift_reruns=3, max_manual_reruns=5
)
SPENT = Spending(retries=1, code_retries=2, drift_reruns=3, manual_reruns=4)


@pytest.mark.parametrize(
    ("category", "budget"),
    [
        (Category.PERMANENT, Budget("code_retries", 2, 2)),
        (Category.TRANSIENT, Budget("retries", 1, 4)),
        (Category.TIMEOUT, Budget("retries", 1, 4)),
        (None, Budget("retries", 1, 4)),  # of unknown kind
    ],
)
def test_a_bug_can_not_use_up_what_an_outage_needs(
    category: Category | None, budget: Budget
) -> None:
    assert retry_budget(category, SPENT, JOB) == budget


@pytest.mark.parametrize(
    ("reason", "source"),
    [
        ("data-drift", RerunSource.DRIFT),
        ("late-data", RerunSource.DRIFT),
        ("manual", RerunSource.MANUAL),
        ("Data-Drift", RerunSource.MANUAL),  # what a person writes is a person's
        ("", RerunSource.MANUAL),
    ],
)
def test_a_rerun_is_charged_to_its_requester(reason: str, source: RerunSource) -> None:
    assert rerun_source(reason) is source


def test_drift_and_people_have_budgets_of_their_own() -> None:
    assert rerun_budget(RerunSource.DRIFT, SPENT, JOB) == Budget("drift_reruns", 3, 3)
    assert rerun_budget(RerunSource.MANUAL, SPENT, JOB) == Budget("manual_reruns", 4, 5)


def test_spending_raises_one_counter_by_one() -> None:
    after = rerun_budget(RerunSource.MANUAL, SPENT, JOB).spend(SPENT)
    assert after == Spending(retries=1, code_retries=2, drift_reruns=3, manual_reruns=5)


def test_a_spent_budget_can_not_be_spent() -> None:
    spent = rerun_budget(RerunSource.DRIFT, SPENT, JOB)
    assert not spent.left
    with pytest.raises(ValueError, match="drift_reruns is spent: 3 of 3"):
        spent.spend(SPENT)


def test_a_budget_of_nothing_is_spent_from_the_start() -> None:
    assert not retry_budget(None, Spending(), Job(JobType.COMMAND)).left


@pytest.mark.parametrize(
    ("before", "seconds"),
    [(0, 30), (1, 60), (2, 120), (4, 480), (5, 600), (6, 600), (1000, 600)],
)
def test_the_delay_doubles_up_to_ten_minutes(before: int, seconds: int) -> None:
    assert retry_delay(before) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("category", "stopped", "spending", "due"),
    [
        (Category.TRANSIENT, False, Spending(), timedelta(seconds=30)),
        # both kinds of retries count as tries
        (Category.TRANSIENT, False, Spending(retries=1, code_retries=1), timedelta(seconds=120)),
        (Category.PERMANENT, False, Spending(code_retries=2), None),
        (Category.PERMANENT, False, Spending(retries=4), timedelta(minutes=8)),
        (None, False, Spending(retries=4), None),
        (Category.TRANSIENT, True, Spending(), None),  # stopped on purpose
    ],
)
def test_a_failure_is_retried_while_its_budget_lasts(
    category: Category | None, stopped: bool, spending: Spending, due: timedelta | None
) -> None:
    retry = decide_retry(category, stopped, AT, spending, JOB)
    assert retry.due_at == (None if due is None else AT + due)
    assert retry.budget == retry_budget(category, spending, JOB)
