"""Cancellation: what an operator may end, and what becomes of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.samples import a_key, a_run
from interlock.domain.cancellation import (
    CANCELLED,
    Cancellation,
    cancelled,
    is_cancelled,
    objection_to_cancel,
)
from interlock.domain.run import Run, Status

NOW = datetime(2026, 3, 3, 10, tzinfo=UTC)


def run(**changes: Any) -> Run:
    return a_run(a_key(), NOW, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.PENDING},
        {"status": Status.RUNNING},
        {"status": Status.FAILED, "retry_at": NOW + timedelta(minutes=5)},
    ],
)
def test_what_waits_or_runs_can_be_cancelled(changes: dict[str, Any]) -> None:
    assert objection_to_cancel(run(**changes)) is None


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status.TRIGGERING, "try again in a moment"),
        (Status.COMPLETED, "it is done"),
        (Status.FAILED, "no retry is due"),
        (Status.FAILED_FINAL, "failed for good"),
        (Status.UNREADABLE, "interlock doctor"),
    ],
)
def test_there_is_a_reason_why_nothing_can_be_cancelled(status: Status, said: str) -> None:
    assert said in (objection_to_cancel(run(status=status)) or "")


@pytest.mark.parametrize(
    ("by", "said"), [("ada", "cancelled by ada: hung"), ("", "cancelled: hung")]
)
def test_a_cancelled_run_has_no_retry_and_says_who_and_why(by: str, said: str) -> None:
    retrying = run(status=Status.FAILED, retry_at=NOW + timedelta(minutes=5))
    assert retrying.state == "RETRYING" and not is_cancelled(retrying)
    over = cancelled(retrying, by, "hung", NOW)
    assert over.failure is not None
    assert (over.status, over.retry_at, over.failure.reason) == (
        Status.FAILED_FINAL,
        None,
        CANCELLED,
    )
    assert over.failure.message == said and is_cancelled(over)
    assert over.state == "FAILED_FINAL"
    assert Cancellation(over, None).job_asked is None
