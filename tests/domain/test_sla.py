"""What a deadline's moment means for a date, as its run stands."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_key, a_run
from declared import declared
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import (
    DeadlineKind,
    Failure,
    Judgement,
    RuleRecord,
    Run,
    Status,
    unreadable_run,
)
from interlock.domain.sla import (
    ASK_PATIENCE,
    DeadlineNotice,
    JobSeen,
    Weight,
    asked_as_of,
    asks_first,
    blocked_by,
    counted_end,
    failing_lines,
    judge_moment,
    pruned,
    unready_by,
    was_ready,
    weigh,
    word_of_job,
)

WARNING_AT = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)
BREACH_AT = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
READY_AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
W, B, RW, RB, READY = DeadlineKind
MET, BREACHED = SlaVerdict
DUE = {W: WARNING_AT, B: BREACH_AT}
RELATIVE = {RW: WARNING_AT, RB: BREACH_AT}
RUNNING = a_run(status=Status.RUNNING)


def done(at: datetime | None) -> Run:
    return a_run(status=Status.COMPLETED, completed_at=at)


@pytest.mark.parametrize(
    ("kind", "now", "run", "expected"),
    [
        (W, WARNING_AT, RUNNING, DeadlineNotice(W, None)),
        (W, WARNING_AT - MINUTE, RUNNING, None),  # not yet: the timer was early, or was moved
        (W, WARNING_AT, None, DeadlineNotice(W, None)),  # nothing ever started
        (W, BREACH_AT, RUNNING, None),  # the breach says more
        (W, WARNING_AT, done(WARNING_AT - MINUTE), None),
        (W, WARNING_AT + MINUTE, done(WARNING_AT + MINUTE), None),  # it is done: nothing to fear
        (W, WARNING_AT, a_run(status=Status.FAILED_FINAL), None),  # a warning changes nothing
        (W, WARNING_AT, a_run(status=Status.FAILED), None),
        (W, WARNING_AT, a_run(status=Status.FAILED, retry_at=BREACH_AT), DeadlineNotice(W, None)),
        (B, BREACH_AT - MINUTE, RUNNING, None),
        (B, BREACH_AT, RUNNING, DeadlineNotice(B, BREACHED)),
        (B, BREACH_AT, None, DeadlineNotice(B, BREACHED)),
        (
            B,
            BREACH_AT,
            a_run(status=Status.FAILED_FINAL),
            DeadlineNotice(B, BREACHED),
        ),  # failed is not met
        (
            B,
            BREACH_AT,
            a_run(status=Status.FAILED, retry_at=BREACH_AT),
            DeadlineNotice(B, BREACHED),
        ),
        (B, BREACH_AT, done(BREACH_AT - MINUTE), None),  # met, and not settled yet
        (
            B,
            BREACH_AT + MINUTE,
            done(BREACH_AT),
            DeadlineNotice(B, BREACHED),
        ),  # at the instant is late
        (B, BREACH_AT + MINUTE, done(None), DeadlineNotice(B, BREACHED)),  # the time is unknown
    ],
)
def test_a_moment_is_reported_only_if_it_is_true(
    kind: DeadlineKind, now: datetime, run: Run | None, expected: DeadlineNotice | None
) -> None:
    assert judge_moment(kind, DUE, (), None, run, now) == expected


@pytest.mark.parametrize(
    ("kind", "told", "verdict", "expected"),
    [
        (B, (B,), BREACHED, None),  # once
        (W, (W,), None, None),
        (B, (), MET, None),
        (RB, (B,), BREACHED, DeadlineNotice(RB, BREACHED)),  # with two deadlines, both are reported
        (W, (RB,), BREACHED, None),  # a warning after the breach of the other says nothing
    ],
)
def test_what_is_settled_is_not_told_again(
    kind: DeadlineKind,
    told: tuple[DeadlineKind, ...],
    verdict: SlaVerdict | None,
    expected: DeadlineNotice | None,
) -> None:
    now = WARNING_AT if kind is W else BREACH_AT
    assert judge_moment(kind, DUE | RELATIVE, told, verdict, RUNNING, now) == expected


@pytest.mark.parametrize(
    ("now", "run", "is_told"),
    [
        (READY_AT - MINUTE, None, False),
        (READY_AT, None, True),  # nothing ever started
        (READY_AT, a_run(), True),
        (READY_AT, a_run(ready_at=READY_AT - MINUTE), False),
        (READY_AT, a_run(ready_at=READY_AT), True),  # at the instant is late
        (BREACH_AT, a_run(ready_at=WARNING_AT), True),  # told late, and still true
        (READY_AT, a_run(status=Status.FAILED), True),  # its window closed before
        # an attempt before had them hold: the date was ready, whatever became of it
        (READY_AT, a_run(attempt=1, ready_at=READY_AT - MINUTE), False),
        (BREACH_AT, done(BREACH_AT), True),
        (BREACH_AT, done(READY_AT - MINUTE), True),  # when its rules held is unknown
    ],
)
def test_whether_a_date_was_ready_is_reported_by_when_its_rules_first_held(
    now: datetime, run: Run | None, is_told: bool
) -> None:
    expected = DeadlineNotice(READY, None) if is_told else None
    for verdict in (None, BREACHED):  # the verdict is another matter
        assert judge_moment(READY, DUE | {READY: READY_AT}, (), verdict, run, now) == expected
    assert judge_moment(READY, DUE | {READY: READY_AT}, (READY,), None, run, now) is None


def test_why_a_date_was_not_ready_is_said_in_one_line_per_cause() -> None:
    def lines(run: Run | None) -> list[str]:
        return unready_by(run, PIPELINE, "stream", READY_AT, BREACH_AT)

    assert lines(None) == ["no reading of orders"]
    assert lines(a_run(verdict=judged(False, FAILING))) == ["orders.count is 940, needs >= 1000"]
    assert lines(a_run(ready_at=READY_AT + 5 * MINUTE)) == ["its rules held 5m later"]


def test_a_moment_that_the_date_does_not_have_is_not_told() -> None:
    assert judge_moment(RB, DUE, (), None, RUNNING, BREACH_AT) is None


PIPELINE = declared("schedule: {trigger: {key: orders, check: exists}}")
CRON = declared("schedule: {cron: '0 6 * * *'}")
FAILING = RuleRecord("orders", "gte", "count", 1000, 940, "not_greater_or_equal")
PASSING = RuleRecord("orders", "exists")
EARLIER = (a_key(date="2026-03-01"), a_key(date="2026-03-02"))


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
            a_run(verdict=judged(False, PASSING), waits_for=EARLIER),
            ["waits for a place behind 2026-03-01, 2026-03-02"],
        ),
        (
            a_run(verdict=judged(False, FAILING), waits_for=EARLIER[:1]),
            ["orders.count is 940, needs >= 1000", "waits for a place behind 2026-03-01"],
        ),
        (
            a_run(status=Status.TRIGGERING, verdict=judged(True, PASSING)),
            ["its job is being launched"],
        ),
        (
            a_run(status=Status.TRIGGERING, job_message="it answers 500"),
            ["its launch failed and is being retried: it answers 500"],
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
            a_run(waits_for=(a_key(date="2026-03-01"), a_key(date="2026-03-02"))),
            ["waits for a place behind 2026-03-01, 2026-03-02"],
        ),
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


def test_before_no_instant_every_date_was_ready() -> None:
    assert was_ready(None, None)


def test_a_date_whose_row_cannot_be_read_waits_for_its_row() -> None:
    run = unreadable_run(a_run().key, "status is missing")
    assert blocked_by(run, declared(), "stream", BREACH_AT) == [
        "its stored row can't be read: status is missing"
    ]


def test_a_cron_date_without_a_run_was_not_opened() -> None:
    assert blocked_by(None, CRON, "cron", BREACH_AT) == ["no run was opened"]


@pytest.mark.parametrize(
    ("later", "as_of"),
    [
        (timedelta(0), ""),
        (timedelta(milliseconds=900), ""),
        (timedelta(hours=2), f", as of {WARNING_AT:%H:%M:%S}Z"),
        (timedelta(days=1), f", as of {WARNING_AT:%Y-%m-%dT%H:%M:%S}Z"),
    ],
)
def test_an_age_is_as_of_the_judgement_and_says_so_later(later: timedelta, as_of: str) -> None:
    stamp = (WARNING_AT - timedelta(hours=2)).isoformat()
    old = RuleRecord("orders", "age_lt", "at", "1h", stamp, "too_old")
    came = RuleRecord("orders", "exists", None, "1h", stamp, "received_too_old")
    lines = failing_lines(judged(False, old, came, FAILING), WARNING_AT + later)
    assert lines == [
        f"orders.at is 2h old, needs to be younger than 1h{as_of}",
        f"orders was received 2h ago, needs one received within 1h{as_of}",
        "orders.count is 940, needs >= 1000",
    ]


@pytest.mark.parametrize("verdict", [None, judged(True, PASSING)])
def test_rules_that_hold_have_no_lines(verdict: Any) -> None:
    assert failing_lines(verdict, BREACH_AT) == []


# --- the word of the job

TELL, IDLE, WAIT = Weight


@pytest.mark.parametrize(
    ("kind", "run", "asked"),
    [
        (B, RUNNING, True),
        (W, RUNNING, True),
        (RB, a_run(status=Status.TRIGGERING), True),  # it may have started unseen
        (B, a_run(status=Status.PENDING), False),  # there is no job
        (B, a_run(status=Status.FAILED_FINAL), False),
        (B, None, False),
        (READY, RUNNING, False),  # the rules are no affair of the job
    ],
)
def test_a_job_is_asked_before_its_run_is_called_late(
    kind: DeadlineKind, run: Run | None, asked: bool
) -> None:
    assert asks_first(kind, run) is asked
    if run is not None and not asked:
        assert weigh(kind, BREACH_AT, run, None, BREACH_AT) is TELL


def seen(**said: Any) -> JobSeen:
    usual: dict[str, Any] = {"attempt": 0, "at": BREACH_AT + MINUTE}
    return JobSeen(**usual | said)


@pytest.mark.parametrize(
    ("kind", "said", "weight"),
    [
        (B, seen(), TELL),  # it runs, or it failed
        (B, seen(succeeded_at=BREACH_AT - MINUTE), IDLE),
        (B, seen(succeeded_at=BREACH_AT), TELL),  # at the instant is late
        (W, seen(succeeded_at=BREACH_AT), IDLE),  # done: nothing to fear
        (B, None, WAIT),
        (B, seen(attempt=1), WAIT),  # another attempt's
        (B, seen(problem="it does not answer"), WAIT),
    ],
)
def test_what_the_job_says_decides_whether_its_run_is_late(
    kind: DeadlineKind, said: JobSeen | None, weight: Weight
) -> None:
    assert weigh(kind, BREACH_AT, RUNNING, said, BREACH_AT + MINUTE) is weight


def test_a_platform_that_can_not_be_asked_is_waited_for_within_bounds() -> None:
    run, said = a_run(status=Status.RUNNING, unasked_since=BREACH_AT), seen(problem="away")
    assert weigh(B, BREACH_AT, run, said, BREACH_AT + ASK_PATIENCE - MINUTE) is WAIT
    assert weigh(B, BREACH_AT, run, said, BREACH_AT + ASK_PATIENCE) is TELL


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (seen(), None),
        (seen(problem="away"), "the state of its job is unknown: away"),
        (seen(succeeded_at=BREACH_AT + MINUTE / 2), "its job succeeded 30s later"),
        (
            seen(succeeded_at=BREACH_AT + 2 * MINUTE, undated=True),
            "its job had succeeded when checked 2m later; its platform does not say when",
        ),
    ],
)
def test_a_breach_repeats_what_the_job_said(said: JobSeen, word: str | None) -> None:
    assert word_of_job(said, BREACH_AT) == word


@pytest.mark.parametrize(
    ("late", "in_time"),
    [(0 * MINUTE, True), (MINUTE, True), (MINUTE + MINUTE / 60, False)],
)
def test_a_question_just_behind_a_moment_is_one_about_the_moment(
    late: timedelta, in_time: bool
) -> None:
    assert (asked_as_of(BREACH_AT, BREACH_AT + late) < BREACH_AT) is in_time


@pytest.mark.parametrize(
    ("late", "run", "counts"),
    [
        (-MINUTE, RUNNING, BREACH_AT - MINUTE),
        (MINUTE, RUNNING, BREACH_AT - timedelta(microseconds=1)),
        (2 * MINUTE, RUNNING, BREACH_AT + 2 * MINUTE),
        # it was seen running at the breach, or launched behind it
        (MINUTE, a_run(status=Status.RUNNING, sla_verdict=BREACHED), BREACH_AT + MINUTE),
        (MINUTE, a_run(status=Status.RUNNING, launched_at=BREACH_AT), BREACH_AT),
    ],
)
def test_an_end_without_a_date_counts_as_of_the_breach_just_before_the_question(
    late: timedelta, run: Run, counts: datetime
) -> None:
    if run.launched_at is None:
        run = msgspec.structs.replace(run, launched_at=BREACH_AT - 5 * MINUTE)
    assert counted_end(BREACH_AT + late, run, [BREACH_AT]) == counts


def test_of_two_breaches_just_before_the_question_both_are_met() -> None:
    run = a_run(status=Status.RUNNING, launched_at=BREACH_AT - 5 * MINUTE)
    earlier = BREACH_AT - MINUTE / 2
    assert counted_end(BREACH_AT + MINUTE / 3, run, [BREACH_AT, earlier]) < earlier


def test_what_stays_of_a_pruned_run_keeps_its_verdict_and_counts_its_attempts() -> None:
    run = a_run(status=Status.COMPLETED, attempt=2, sla_verdict=MET, sla_told=(W,))
    left = pruned(run, BREACH_AT)
    assert (left.key, left.verdict, left.told) == (run.key, MET, (W,))
    assert (left.attempts, left.pruned_at) == (3, BREACH_AT)
