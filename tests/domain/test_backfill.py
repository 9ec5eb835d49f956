"""Backfill: which dates begin next, and how each one ended."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_backfill, a_config, a_run
from interlock.domain.backfill import (
    Backfill,
    BackfillState,
    Beginning,
    BegunDate,
    DateEnding,
    DateFacts,
    DateState,
    backfill_id,
    begin,
    finished,
    is_unsent,
    settled,
    state_of,
)
from interlock.domain.backfill_events import started, turned
from interlock.domain.event import Severity
from interlock.domain.rerun_request import RequestAnswer
from interlock.domain.reruns import Cause
from interlock.domain.run import Run, RunKey, Status

NOW = datetime(2026, 3, 10, 8, tzinfo=UTC)
BEFORE, LATER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
DATES = ("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04")
ASKED = BegunDate(NOW, 2)


def run(status: Status = Status.COMPLETED, attempt: int = 3, **changes: Any) -> Run:
    return a_run(status=status, attempt=attempt, **changes)


def plan(**changes: Any) -> Backfill:
    return a_backfill(dates=DATES, **changes)


@pytest.mark.parametrize(
    ("begun", "found", "request_answer", "state"),
    [
        (BegunDate(NOW), None, None, DateState.REQUESTED),
        (BegunDate(NOW), None, RequestAnswer(NOW), DateState.REQUESTED),
        (BegunDate(NOW), None, RequestAnswer(BEFORE, True, "budget"), DateState.REQUESTED),
        (BegunDate(NOW), None, RequestAnswer(LATER), DateState.REQUESTED),
        (BegunDate(NOW), None, RequestAnswer(LATER, True), DateEnding.REPLACED),
        (BegunDate(NOW), None, RequestAnswer(NOW, True), DateEnding.REMOVED),
        (BegunDate(NOW), None, RequestAnswer(NOW, True, "excluded"), DateEnding.EXCLUDED),
        (BegunDate(NOW), None, RequestAnswer(NOW, True, "rejected"), DateEnding.REFUSED),
        (BegunDate(NOW), run(Status.PENDING, 0), RequestAnswer(NOW), DateState.RUNNING),
        (BegunDate(NOW), run(attempt=0), RequestAnswer(NOW, True), DateEnding.COMPLETED),
        (ASKED, run(Status.FAILED_FINAL, 2), RequestAnswer(NOW), DateState.REQUESTED),
        (ASKED, run(Status.FAILED_FINAL, 2), RequestAnswer(NOW, True, "budget"), DateEnding.BUDGET),
        (ASKED, run(Status.FAILED_FINAL), RequestAnswer(NOW, True), DateEnding.FAILED),
        (ASKED, run(Status.FAILED), RequestAnswer(NOW, True), DateEnding.FAILED),
        (ASKED, run(Status.FAILED, retry_at=LATER), RequestAnswer(NOW, True), DateState.RUNNING),
        # another attempt came first, and its outcome counts whatever the request was told
        (ASKED, run(), RequestAnswer(NOW, True, "in-progress"), DateEnding.COMPLETED),
        (BegunDate(None, 2), run(Status.RUNNING, 2), None, DateState.RUNNING),
        (BegunDate(None, 2), run(attempt=2), None, DateEnding.COMPLETED),
        (BegunDate(None, 2), run(Status.FAILED_FINAL, 2), None, DateEnding.FAILED),
        (BegunDate(None, 2), None, None, DateEnding.REMOVED),
        (ASKED, run(Status.UNREADABLE, 0), RequestAnswer(NOW), DateState.REQUESTED),
        (ASKED, run(Status.UNREADABLE, 0), None, DateState.REQUESTED),
        (BegunDate(None, 2), run(Status.UNREADABLE, 0), None, DateState.REQUESTED),
        (
            ASKED,
            run(Status.UNREADABLE, 0),
            RequestAnswer(NOW, True, "unreadable"),
            DateEnding.UNREADABLE,
        ),
    ],
)
def test_the_run_says_how_a_date_ended_and_before_it_moves_the_request_does(
    begun: BegunDate,
    found: Run | None,
    request_answer: RequestAnswer | None,
    state: DateState | DateEnding,
) -> None:
    assert state_of(begun, DateFacts(found, request_answer)) is state


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_of_a_rejection_is_an_ending_and_says_why(cause: Cause) -> None:
    ending = state_of(BegunDate(NOW), DateFacts(None, RequestAnswer(NOW, True, cause)))
    assert isinstance(ending, DateEnding) and ending == str(cause)
    assert ending.state is DateState.REFUSED and ending.why


@pytest.mark.parametrize("ending", list(DateEnding))
def test_every_ending_but_those_of_a_run_says_why(ending: DateEnding) -> None:
    of_run = ending in (DateEnding.COMPLETED, DateEnding.FAILED)
    assert bool(ending.why) is not of_run


@pytest.mark.parametrize(
    ("begun", "request_answer", "unsent"),
    [
        (BegunDate(NOW), None, True),
        (BegunDate(NOW), RequestAnswer(BEFORE, True), True),
        (BegunDate(NOW), RequestAnswer(NOW), False),
        (BegunDate(NOW), RequestAnswer(LATER), False),
        (BegunDate(None, 1), None, False),
    ],
)
def test_a_request_is_made_again_only_if_it_was_never_stored(
    begun: BegunDate, request_answer: RequestAnswer | None, unsent: bool
) -> None:
    assert is_unsent(begun, request_answer) is unsent


def beginning(runs: dict[str, Run] | None = None, gone: str = "") -> Beginning:
    return Beginning(runs or {}, lambda date: date != gone, NOW)


def test_dates_begin_in_order_as_far_as_there_is_room() -> None:
    begun = begin(plan(), DATES, beginning())
    assert begun.begun == {"2026-03-01": BegunDate(NOW), "2026-03-02": BegunDate(NOW)}
    assert begun.waiting == ["2026-03-03", "2026-03-04"] and begun.room == 0
    assert begin(begun, begun.waiting, beginning()) == begun


def test_a_date_that_needs_no_run_ends_at_once_and_takes_no_room() -> None:
    runs = {"2026-03-02": run()}
    begun = begin(plan(), DATES, beginning(runs, gone="2026-03-01"))
    assert begun.ended == {
        "2026-03-01": DateEnding.NOT_EXPECTED,
        "2026-03-02": DateEnding.COMPLETED,
    }
    assert list(begun.begun) == ["2026-03-03", "2026-03-04"]


def test_a_run_in_progress_is_waited_for_and_not_requested() -> None:
    runs = {"2026-03-01": run(Status.RUNNING, 5), "2026-03-02": run(Status.FAILED_FINAL, 1)}
    begun = begin(plan(), DATES, beginning(runs))
    assert begun.begun == {"2026-03-01": BegunDate(None, 5), "2026-03-02": BegunDate(NOW, 1)}


def test_a_dry_run_of_a_date_is_not_repeated() -> None:
    dry = run(Status.FAILED_FINAL, key=RunKey("silver-orders", "stream", "2026-03-01", dry=True))
    begun = begin(plan(), DATES[:1], beginning({"2026-03-01": dry}))
    assert begun.ended == {"2026-03-01": DateEnding.DRY_RUN}


def test_only_the_dates_that_ended_are_settled() -> None:
    begun = plan(begun={"2026-03-01": BegunDate(NOW), "2026-03-02": BegunDate(NOW)})
    after = settled(begun, {"2026-03-01": DateFacts(run())})
    assert after.ended == {"2026-03-01": DateEnding.COMPLETED}
    assert list(after.begun) == ["2026-03-02"] and after.room == 1
    assert after.version == begun.version


@pytest.mark.parametrize("state", list(BackfillState))
def test_a_backfill_is_done_when_no_date_is_left(state: BackfillState) -> None:
    ended = dict.fromkeys(DATES, DateEnding.COMPLETED)
    over = finished(plan(state=state, ended=ended), LATER)
    cancelled = state is BackfillState.CANCELLED
    assert over.state is (BackfillState.CANCELLED if cancelled else BackfillState.DONE)
    one_left = plan(state=state, ended=dict.fromkeys(DATES[1:], DateEnding.COMPLETED))
    assert finished(one_left, LATER) == one_left


def test_a_cancelled_backfill_needs_attention_while_its_dates_are_at_work() -> None:
    cancelled = plan(state=BackfillState.CANCELLED, begun={"2026-03-01": BegunDate(NOW)})
    assert cancelled.needs_attention and not cancelled.is_over
    over = msgspec.structs.replace(cancelled, begun={})
    assert over.is_over and not over.needs_attention
    assert not plan(state=BackfillState.PAUSED).needs_attention


def test_an_id_is_made_of_the_facts_and_sorts_by_time() -> None:
    first = backfill_id("p", "s", ("2026-03-01", "2026-03-02"), NOW)
    assert first == backfill_id("p", "s", ("2026-03-01", "2026-03-02"), NOW)
    others = [
        backfill_id("q", "s", ("2026-03-01", "2026-03-02"), NOW),
        backfill_id("p", "s", ("2026-03-01", "2026-03-03"), NOW),
        backfill_id("p", "s", ("2026-03-01", "2026-03-02"), NOW + timedelta(microseconds=1)),
    ]
    assert first not in others
    assert first < backfill_id("a", "a", ("2026-03-01", "2026-03-01"), LATER)


def test_a_done_backfill_is_a_warning_only_if_dates_did_not_complete() -> None:
    good = plan(state=BackfillState.DONE, ended=dict.fromkeys(DATES, DateEnding.COMPLETED))
    told = turned(good, None)
    assert (told.severity, told.message) == (Severity.INFO, "4 of 4 completed")
    ended = {**good.ended, "2026-03-02": DateEnding.FAILED, "2026-03-04": DateEnding.BUDGET}
    told = turned(msgspec.structs.replace(good, ended=ended), None)
    assert told.severity is Severity.WARNING
    assert told.message == "2 of 4 completed, 1 failed, 1 refused"
    assert told.detail["notCompleted"] == ["2026-03-02", "2026-03-04"]


def test_a_pause_says_how_many_dates_wait_and_why() -> None:
    paused = plan().turned(BackfillState.PAUSED, LATER, "bo", "load")
    told = turned(paused, None)
    assert told.message == "no further date starts, 4 of 4 dates waiting: load"
    assert told.detail["requestedBy"] == "bo"
    resumed = turned(paused.turned(BackfillState.RUNNING, LATER), None)
    assert resumed.message == "further dates start, 4 of 4 dates waiting"


def test_the_request_of_a_date_is_the_same_however_often_it_is_made() -> None:
    asked = plan(begun={"2026-03-02": ASKED})
    assert asked.request("2026-03-02") == asked.request("2026-03-02")
    assert (asked.request("2026-03-02").key.date, asked.request("2026-03-02").requested_at) == (
        "2026-03-02",
        NOW,
    )


def test_a_start_says_how_many_dates_run_how_many_at_once_and_why() -> None:
    told = started(plan(), a_config())
    assert told.message == "backfill of 4 dates, 2 at once: new currency"
