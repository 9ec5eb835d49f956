"""When the watchdog must check a run again, and until when its row is kept."""

from datetime import datetime, timedelta

import pytest

from contracts.samples import NOW, a_key, a_run
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import OPEN, DeadlineKind, PostRunState, Run, Status
from interlock.domain.watching import expires_at, watch_at

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LEASE = NOW + 4 * HOUR + 30 * MINUTE  # of the sample run
DRY = a_key(dry=True)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (a_run(), NOW + 2 * MINUTE),  # not started yet
        (a_run(started_at=NOW), LEASE),
        (a_run(handed_over_at=NOW + HOUR), NOW + HOUR + 2 * MINUTE),
        (a_run(status=Status.TRIGGERING), LEASE),
        (a_run(status=Status.RUNNING), LEASE),
        (a_run(status=Status.FAILED), None),  # it waits for people or data
        (a_run(status=Status.FAILED, retry_at=NOW), NOW + 2 * MINUTE),
        (a_run(status=Status.FAILED_FINAL, retry_at=NOW), None),
        (a_run(status=Status.COMPLETED), None),
        (a_run(status=Status.COMPLETED, cascading=True), NOW + 2 * MINUTE),
        (a_run(status=Status.COMPLETED, breach_at=NOW), NOW + 2 * MINUTE),  # it has no verdict
        (a_run(status=Status.COMPLETED, breach_at=NOW, sla_verdict=SlaVerdict.MET), None),
        (a_run(status=Status.COMPLETED, post_run_due_at=NOW + HOUR), NOW + HOUR),
        (
            a_run(
                status=Status.COMPLETED,
                post_run_due_at=NOW + HOUR,
                post_run=PostRunState(missing_judged=True),
            ),
            None,
        ),
        (a_run(status=Status.COMPLETED, post_run_look_at=NOW + HOUR), NOW + HOUR + 2 * MINUTE),
        (a_run(status=Status.FAILED, post_run_look_at=NOW + HOUR), None),
    ],
)
def test_a_run_is_looked_at_when_its_next_step_is_overdue(
    run: Run, expected: datetime | None
) -> None:
    assert watch_at(run, has_outbox=False) == expected


@pytest.mark.parametrize(
    ("status", "told", "expected"),
    [
        (Status.RUNNING, (), NOW + HOUR),
        (Status.FAILED_FINAL, (), NOW + 2 * HOUR),  # failed for good still breaches, unwarned
        (Status.FAILED_FINAL, (DeadlineKind.RELATIVE_WARNING,), NOW + 2 * HOUR),
        (Status.FAILED_FINAL, (DeadlineKind.RELATIVE_BREACH,), None),  # its warning is idle
        (Status.COMPLETED, (), NOW + 2 * MINUTE),  # to be judged once, and no more
    ],
)
def test_relative_deadlines_are_watched_on_the_run(
    status: Status, told: tuple[DeadlineKind, ...], expected: datetime | None
) -> None:
    run = a_run(
        status=status,
        relative_warning_at=NOW + HOUR,
        relative_breach_at=NOW + 2 * HOUR,
        sla_told=told,
    )
    assert watch_at(run, has_outbox=False) == expected


def test_what_is_not_told_yet_is_looked_at_soon() -> None:
    assert watch_at(a_run(status=Status.FAILED_FINAL), has_outbox=True) == NOW + MINUTE
    assert watch_at(a_run(DRY, status=Status.COMPLETED), has_outbox=True) == NOW + MINUTE


def test_a_dry_run_is_watched_for_as_long_as_its_attempt_is_open() -> None:
    assert watch_at(a_run(DRY), has_outbox=False) == NOW + timedelta(minutes=2)
    assert watch_at(a_run(DRY, status=Status.COMPLETED), has_outbox=False) is None


def test_a_dry_run_has_no_deadline_and_no_retry() -> None:
    failed = a_run(DRY, status=Status.FAILED, retry_at=NOW, relative_breach_at=NOW)
    assert watch_at(failed, has_outbox=False) is None


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        *((a_run(status=status), None) for status in Status),  # its names are used up
        *((a_run(DRY, status=status), None) for status in OPEN),  # whatever the clock says
        (a_run(DRY, status=Status.COMPLETED), LEASE + 91 * DAY),
        (a_run(DRY, status=Status.FAILED), LEASE + 91 * DAY),
        # finished by the watchdog, after its lease
        (a_run(DRY, status=Status.FAILED_FINAL, changed_at=LEASE + DAY), LEASE + 92 * DAY),
    ],
)
def test_a_row_is_removed_only_when_nothing_can_need_it(
    run: Run, expected: datetime | None
) -> None:
    assert expires_at(run) == expected
