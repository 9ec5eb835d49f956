"""The bar of a run: what happened in its order, on one line, whatever is missing of it."""

from datetime import timedelta

import pytest

from contracts.samples import NOW, a_run
from interlock.domain.run import Run, Status
from interlock.web.pages.sla_bar import WIDTH, bar
from interlock.web.pages.status_badge import OVERDUE, RETRYING, standing, standing_of

MINUTE = timedelta(minutes=1)
DONE = a_run(
    status=Status.COMPLETED,
    launched_at=NOW + 10 * MINUTE,
    completed_at=NOW + 20 * MINUTE,
    warning_at=NOW + 30 * MINUTE,
    breach_at=NOW + 40 * MINUTE,
)


@pytest.mark.parametrize(
    "run",
    [
        DONE,
        a_run(),
        a_run(status=Status.FAILED_FINAL),
        a_run(status=Status.RUNNING, launched_at=NOW),
        a_run(relative_breach_at=NOW - 60 * MINUTE),  # it broke before the run was opened
        a_run(status=Status.COMPLETED, launched_at=NOW, completed_at=NOW),
    ],
)
def test_everything_lies_on_the_bar_in_its_order(run: Run) -> None:
    drawn = bar(run, NOW + 15 * MINUTE)

    assert drawn.ticks
    assert [tick.at for tick in drawn.ticks] == sorted(tick.at for tick in drawn.ticks)
    assert all(0 <= tick.at <= WIDTH for tick in drawn.ticks)
    assert all(0 <= each.at <= WIDTH and each.width > 0 for each in drawn.stretches)
    assert (drawn.now is not None) == run.is_open


def test_a_finished_run_shows_how_long_it_waited_and_ran() -> None:
    drawn = bar(DONE, NOW + 99 * MINUTE)

    assert [tick.word for tick in drawn.ticks] == [
        "opened",
        "started",
        "finished",
        "warning",
        "breach",
    ]
    assert [(each.word, each.at, each.width) for each in drawn.stretches] == [
        ("waited", 0, 250),
        ("ran", 250, 250),
    ]


def test_a_broken_deadline_is_seen_on_what_is_done_and_what_is_not() -> None:
    assert standing("COMPLETED", "BREACHED").word == "done late"
    assert standing("RUNNING", "BREACHED") is OVERDUE
    assert standing("FAILED", "BREACHED").word == "failed"
    assert standing_of(a_run(status=Status.FAILED, retry_at=NOW)) is RETRYING
