"""How many past runs would hold a deadline: each is played again from now."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock.domain.chance import MOST_PAST, Chance, chance, first_breach
from interlock.domain.run import OpenedBy, Run, RunKey, Status

NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
MIDNIGHT = NOW.replace(hour=0)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def a_run(date: str = "2026-03-03", status: Status = Status.PENDING, **changes: Any) -> Run:
    key = changes.pop("key", RunKey("orders", "daily", date))
    return Run(
        **{
            "key": key,
            "status": status,
            "execution_name": "x",
            "opened_at": NOW,
            "opened_by": OpenedBy.CRON,
            "changed_at": NOW,
            "lease_until": NOW,
            "breach_at": NOW + HOUR,
            **changes,
        }
    )


def a_past(
    day: int, started: timedelta = 6 * HOUR, took: timedelta = 30 * MINUTE, **changes: Any
) -> Run:
    """A completed run: when its job started after midnight, and how long it took."""
    at = datetime(2026, 2, day, tzinfo=UTC) + started
    given = {"launched_at": at, "completed_at": at + took, **changes}
    return a_run(f"2026-02-{day:02}", given.pop("status", Status.COMPLETED), **given)


@pytest.mark.parametrize(
    ("started", "took", "held"),
    [
        (6 * HOUR, 30 * MINUTE, 1),  # it would have started by now: it starts now
        (6 * HOUR, HOUR, 1),  # to the second
        (6 * HOUR, HOUR + MINUTE, 0),
        (8 * HOUR + 20 * MINUTE, 40 * MINUTE, 1),  # its data came late, but in time
        (8 * HOUR + 21 * MINUTE, 40 * MINUTE, 0),
    ],
)
def test_a_waiting_run_starts_as_late_as_the_past_one_but_never_before_now(
    started: timedelta, took: timedelta, held: int
) -> None:
    assert chance(a_run(), [a_past(1, started, took)], "UTC", NOW) == Chance(held, 1)


@pytest.mark.parametrize(("took", "held"), [(100 * MINUTE, 1), (121 * MINUTE, 0), (MINUTE, 1)])
def test_of_a_running_job_only_the_duration_counts(took: timedelta, held: int) -> None:
    run = a_run(status=Status.RUNNING, launched_at=NOW - HOUR)

    assert chance(run, [a_past(1, 20 * HOUR, took)], "UTC", NOW) == Chance(held, 1)


def test_a_retry_starts_when_it_is_due() -> None:
    run = a_run(status=Status.FAILED, retry_at=NOW + 40 * MINUTE)
    past = [a_past(1, took=20 * MINUTE), a_past(2, took=21 * MINUTE)]

    assert chance(run, past, "UTC", NOW) == Chance(1, 2)


def test_the_start_of_a_date_is_in_its_zone() -> None:
    """Ten past eight in Berlin is ten past seven in UTC: the past run would start now."""
    past = a_past(1, 7 * HOUR + 10 * MINUTE, 55 * MINUTE)
    late = a_past(2, 8 * HOUR + 10 * MINUTE, 55 * MINUTE)

    assert chance(a_run(), [past, late], "Europe/Berlin", NOW) == Chance(1, 2)


@pytest.mark.parametrize(
    "run",
    [
        a_run(breach_at=None),
        a_run(breach_at=NOW),
        a_run(status=Status.COMPLETED, completed_at=NOW),
        a_run(status=Status.FAILED),
        a_run(status=Status.FAILED_FINAL),
    ],
    ids=["no deadline", "too late", "done", "failed", "given up"],
)
def test_a_run_without_a_deadline_ahead_has_no_chance(run: Run) -> None:
    assert chance(run, [a_past(1)], "UTC", NOW) is None


@pytest.mark.parametrize(
    "other",
    [
        a_past(1, status=Status.FAILED_FINAL, completed_at=None),
        a_past(1, opened_by=OpenedBy.RERUN),
        a_past(1, launched_at=None),
        a_past(1, completed_at=None),
        a_past(1, key=RunKey("orders", "hourly", "2026-02-01")),
        a_past(1, key=RunKey("orders", "daily", "2026-02-01", dry=True)),
        a_past(1, key=RunKey("orders", "daily", "2026-02-01T06")),
        a_past(1, key=RunKey("orders", "daily", "2026-03-03")),
    ],
    ids=["failed", "rerun", "unlaunched", "unfinished", "schedule", "dry", "grain", "itself"],
)
def test_a_run_that_can_not_be_compared_is_no_history(other: Run) -> None:
    assert chance(a_run(), [other], "UTC", NOW) is None


def test_only_the_newest_are_counted() -> None:
    past = [a_past(1 + n % 28, took=HOUR) for n in range(MOST_PAST)]

    assert chance(a_run(), [*past, a_past(1, took=9 * HOUR)], "UTC", NOW) == Chance(20, 20)


def test_of_two_deadlines_the_earlier_counts() -> None:
    run = a_run(relative_breach_at=NOW + MINUTE)

    assert first_breach(run) == NOW + MINUTE
    assert chance(run, [a_past(1)], "UTC", NOW) == Chance(0, 1)
