"""What a deadline's moment means for a date, as its run stands."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.samples import a_run
from declared import declared
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import DeadlineKind, Failure, Judgement, RuleRecord, Run, Status
from interlock.domain.sla import Told, blocked_by, failing_lines, judge_moment

WARNING_AT = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)
BREACH_AT = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
W, B, RW, RB = DeadlineKind
MET, BREACHED = SlaVerdict
DUE = {W: WARNING_AT, B: BREACH_AT}
RELATIVE = {RW: WARNING_AT, RB: BREACH_AT}
RUNNING = a_run(status=Status.RUNNING)


def done(at: datetime | None) -> Run:
    return a_run(status=Status.COMPLETED, completed_at=at)


@pytest.mark.parametrize(
    ("kind", "now", "run", "expected"),
    [
        (W, WARNING_AT, RUNNING, Told(W, None)),
        (W, WARNING_AT - MINUTE, RUNNING, None),  # not yet: the timer was early, or was moved
        (W, WARNING_AT, None, Told(W, None)),  # nothing ever started
        (W, BREACH_AT, RUNNING, None),  # the breach says more
        (W, WARNING_AT, done(WARNING_AT - MINUTE), None),
        (W, WARNING_AT + MINUTE, done(WARNING_AT + MINUTE), None),  # it is done: nothing to fear
        (B, BREACH_AT - MINUTE, RUNNING, None),
        (B, BREACH_AT, RUNNING, Told(B, BREACHED)),
        (B, BREACH_AT, None, Told(B, BREACHED)),
        (B, BREACH_AT, a_run(status=Status.FAILED_FINAL), Told(B, BREACHED)),  # failed is not met
        (B, BREACH_AT, a_run(status=Status.FAILED, retry_at=BREACH_AT), Told(B, BREACHED)),
        (B, BREACH_AT, done(BREACH_AT - MINUTE), None),  # met, and not settled yet
        (B, BREACH_AT + MINUTE, done(BREACH_AT), Told(B, BREACHED)),  # at the instant is late
        (B, BREACH_AT + MINUTE, done(None), Told(B, BREACHED)),  # nobody knows when
    ],
)
def test_a_moment_is_told_only_if_it_is_true(
    kind: DeadlineKind, now: datetime, run: Run | None, expected: Told | None
) -> None:
    assert judge_moment(kind, DUE, (), None, run, now) == expected


@pytest.mark.parametrize(
    ("kind", "told", "verdict", "expected"),
    [
        (B, (B,), BREACHED, None),  # once
        (W, (W,), None, None),
        (B, (), MET, None),
        (RB, (B,), BREACHED, Told(RB, BREACHED)),  # with two deadlines, both are reported
        (W, (RB,), BREACHED, None),  # a warning after the breach of the other says nothing
    ],
)
def test_what_is_settled_is_not_told_again(
    kind: DeadlineKind,
    told: tuple[DeadlineKind, ...],
    verdict: SlaVerdict | None,
    expected: Told | None,
) -> None:
    now = WARNING_AT if kind is W else BREACH_AT
    assert judge_moment(kind, DUE | RELATIVE, told, verdict, RUNNING, now) == expected


def test_a_moment_that_the_date_does_not_have_is_not_told() -> None:
    assert judge_moment(RB, DUE, (), None, RUNNING, BREACH_AT) is None


PIPELINE = declared("schedule: {trigger: {key: orders, check: exists}}")
CRON = declared("schedule: {cron: '0 6 * * *'}")
FAILING = RuleRecord("orders", "gte", "count", 1000, 940, "not_greater_or_equal")
PASSING = RuleRecord("orders", "exists")


def judged(ready: bool, *records: RuleRecord) -> Judgement:
    return Judgement(WARNING_AT, ready, records)


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        (None, ["no reading of orders"]),
        (a_run(), ["waiting for its rules"]),
        (
            a_run(verdict=judged(False, FAILING, PASSING)),
            ["orders.count is 940, needs >= 1000"],
        ),
        (a_run(verdict=judged(True, PASSING)), ["waiting for its rules"]),
        (
            a_run(status=Status.TRIGGERING, verdict=judged(True, PASSING)),
            ["its job is being launched"],
        ),
        (
            a_run(status=Status.TRIGGERING, job_message="it answers 500"),
            ["its launch failed and is tried again: it answers 500"],
        ),
        (
            a_run(status=Status.RUNNING, launched_at=BREACH_AT - 42 * MINUTE),
            ["job running for 42m"],
        ),
        (
            a_run(
                status=Status.RUNNING,
                launched_at=BREACH_AT - 42 * MINUTE,
                job_message="it answers 403",
                job_unseen=True,
            ),
            ["job running for 42m, and can't be seen: it answers 403"],
        ),
        (a_run(status=Status.RUNNING), ["waiting for its rules"]),
        (
            a_run(status=Status.FAILED_FINAL, failure=Failure("job", "out of memory")),
            ["failed: out of memory"],
        ),
        (a_run(status=Status.FAILED), ["failed: unknown"]),
    ],
)
def test_why_a_date_is_not_done_is_said_in_one_line_per_cause(
    run: Run | None, lines: list[str]
) -> None:
    assert blocked_by(run, PIPELINE, "stream", BREACH_AT) == lines


def test_a_cron_date_without_a_run_was_not_opened() -> None:
    assert blocked_by(None, CRON, "cron", BREACH_AT) == ["no run was opened"]


def test_a_stored_result_reads_as_it_did_when_it_was_judged() -> None:
    stamp = (WARNING_AT - timedelta(hours=2)).isoformat()
    old = RuleRecord("orders", "age_lt", "at", "1h", stamp, "too_old")
    lines = failing_lines(judged(False, old, FAILING), BREACH_AT)
    assert lines == [
        "orders.at is 2h old, needs to be younger than 1h",
        "orders.count is 940, needs >= 1000",
    ]


@pytest.mark.parametrize("verdict", [None, judged(True, PASSING)])
def test_rules_that_hold_have_no_lines(verdict: Any) -> None:
    assert failing_lines(verdict, BREACH_AT) == []
