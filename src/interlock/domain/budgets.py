"""Budgets: the kind of a failure, and how many more tries it has."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from interlock.domain.pipeline import Job

FIRST_DELAY = timedelta(seconds=30)
LONGEST_DELAY = timedelta(minutes=10)
INFRA_RETRIES = 3
INFRA_DELAY = timedelta(minutes=5)


class Category(StrEnum):
    """Why a job failed, as far as is known; None in its place means unknown."""

    PERMANENT = "PERMANENT"
    TRANSIENT = "TRANSIENT"
    TIMEOUT = "TIMEOUT"


class RerunSource(StrEnum):
    """Where a rerun request comes from."""

    DRIFT = "drift"
    MANUAL = "manual"


class Spending(msgspec.Struct, frozen=True, rename="camel"):
    """What a date has used up, counted on its run and raised in the transition that uses it."""

    retries: int = 0
    code_retries: int = 0
    drift_reruns: int = 0
    manual_reruns: int = 0


class Budget(msgspec.Struct, frozen=True):
    """One counter of a date: which one, what is spent, what is allowed."""

    name: str
    spent: int
    max: int

    @property
    def left(self) -> bool:
        return self.spent < self.max

    def spend(self, spending: Spending, *, over: bool = False) -> Spending:
        """The spending after one more of this. Check `left` first, unless a person allowed more."""
        if not self.left and not over:
            raise ValueError(f"{self.name} is spent: {self.spent} of {self.max}")
        return msgspec.structs.replace(spending, **{self.name: self.spent + 1})


def retry_budget(category: Category | None, spending: Spending, job: Job) -> Budget:
    """Permanent failures have their own budget, so a bug can't use up what an outage needs."""
    if category is Category.PERMANENT:
        return Budget("code_retries", spending.code_retries, job.max_code_retries)
    return Budget("retries", spending.retries, job.max_retries)


def rerun_budget(source: RerunSource, spending: Spending, job: Job) -> Budget:
    """Drift and late data share one budget; every other request shares the other."""
    if source is RerunSource.DRIFT:
        return Budget("drift_reruns", spending.drift_reruns, job.max_drift_reruns)
    return Budget("manual_reruns", spending.manual_reruns, job.max_manual_reruns)


def rerun_source(reason: str) -> RerunSource:
    """The budget that a request of this reason is charged to."""
    return RerunSource.DRIFT if reason in AUTOMATIC_REASONS else RerunSource.MANUAL


def retry_delay(retries_before: int) -> timedelta:
    """Thirty seconds, doubled each time, at most ten minutes."""
    doubled: int = 1 << min(retries_before, 10)
    return min(FIRST_DELAY * doubled, LONGEST_DELAY)


#: The reasons that only Interlock gives; a person's request is charged to the manual budget.
AUTOMATIC_REASONS = frozenset({"data-drift", "late-data"})


class Retry(msgspec.Struct, frozen=True):
    """Whether a failed attempt is retried, when, and from which budget."""

    due_at: datetime | None
    budget: Budget


def decide_retry(
    category: Category | None, stopped: bool, failed_at: datetime, spending: Spending, job: Job
) -> Retry:
    """A job that was stopped on purpose is not restarted automatically."""
    budget = retry_budget(category, spending, job)
    if stopped or not budget.left:
        return Retry(None, budget)
    delay = retry_delay(spending.retries + spending.code_retries)
    return Retry(failed_at + delay, budget)
