"""What people say about dates: who may say what of which run, and what every decision makes of it."""

from datetime import timedelta
from typing import Any

import pytest

from contracts.samples import KEY, NOW, a_run
from declared import declared
from interlock.domain.admission import Ignore, admit
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.threads import opened
from interlock.domain.backfill import BegunDate, DateEnding, DateFacts, state_of
from interlock.domain.backfill_range import BackfillRange, DateRules, dates_in_range
from interlock.domain.due_dates import DateDeadline, Needs
from interlock.domain.event import EventType, Phase, happened, subject
from interlock.domain.guards import Snapshot, relative_sla_breaches, sla_scheduling
from interlock.domain.marking import is_marked, marked, objection_to_mark
from interlock.domain.partition import Label
from interlock.domain.reruns import Cause, Granted, RerunCase, RerunRefused, judge_request
from interlock.domain.run import DeadlineKind, MarkedAs, OutcomeMark, Run, Skip, Status
from interlock.domain.schedule import is_expected
from interlock.domain.sensor import Reading
from interlock.domain.skipping import objection_to_skip, objection_to_unskip, skipped
from interlock.domain.sla import blocked_by, judge_moment
from interlock.domain.typed_value import typed_value
from interlock.domain.watching import watch_at

PIPELINE = declared(
    "sla: {maxDuration: 2h}\npostRun: {rules: [{key: audit, check: exists}], sensorTimeout: 1h}"
)
SKIPPED = skipped(a_run(), "ada", "a holiday", NOW)
DONE, FAILED = MarkedAs


def a_mark(outcome: MarkedAs = DONE, by: str = "ada") -> OutcomeMark:
    return OutcomeMark(outcome=outcome, by=by, at=NOW, reason="by hand")


def retrying() -> Run:
    return a_run(status=Status.FAILED, retry_at=NOW)


@pytest.mark.parametrize(
    ("status", "objection"),
    [
        (Status.PENDING, None),
        (Status.TRIGGERING, "cancel it first"),
        (Status.RUNNING, "cancel it first"),
        (Status.FAILED, None),
        (Status.COMPLETED, "it is done"),
        (Status.FAILED_FINAL, None),
        (Status.SKIPPED, None),
        (Status.UNREADABLE, "interlock doctor"),
    ],
)
def test_what_has_no_job_and_is_not_done_can_be_skipped(
    status: Status, objection: str | None
) -> None:
    found = objection_to_skip(a_run(status=status))
    assert found is None if objection is None else found is not None and objection in found


def test_only_a_skip_can_be_undone() -> None:
    assert objection_to_unskip(SKIPPED) is None
    for run in (None, a_run(), a_run(status=Status.UNREADABLE)):
        assert objection_to_unskip(run) is not None


def test_a_skip_forgets_what_was_to_come_and_says_who() -> None:
    run = skipped(retrying(), "ada", "a holiday", NOW)
    assert (run.retry_at, run.sla_armed, run.is_placeholder) == (None, {}, False)
    assert str(run.skip) == "skipped by ada: a holiday"
    assert str(Skip(by="", at=NOW, reason="why")) == "skipped: why"
    assert str(a_mark(FAILED)) == "marked failed by ada: by hand"
    assert str(a_mark(by="")) == "marked done: by hand"


@pytest.mark.parametrize("status", Status)
def test_a_person_states_an_outcome_only_where_no_job_decides(status: Status) -> None:
    run = a_run(status=status)
    may_be_done = status in {Status.PENDING, Status.FAILED, Status.FAILED_FINAL, Status.SKIPPED}
    assert (objection_to_mark(run, DONE) is None) is may_be_done
    assert (objection_to_mark(run, FAILED) is None) is (
        status in {Status.PENDING, Status.COMPLETED}
    )


def test_a_date_without_a_run_may_be_done_but_has_not_failed() -> None:
    assert objection_to_mark(None, DONE) is None
    assert objection_to_mark(None, FAILED) is not None
    assert objection_to_mark(retrying(), FAILED) is None


def test_a_mark_counts_while_the_run_has_its_outcome() -> None:
    done = marked(SKIPPED, a_mark(), cascading=True)
    assert (done.status, done.completed_at, done.skip) == (Status.COMPLETED, NOW, None)
    assert done.cascading and is_marked(done, DONE) and not is_marked(done, FAILED)
    failed = marked(done, a_mark(FAILED))
    assert (failed.status, failed.completed_at, failed.cascading) == (
        Status.FAILED_FINAL,
        None,
        False,
    )
    assert is_marked(failed, FAILED) and not is_marked(a_run(), DONE)
    assert not is_marked(skipped(failed, "ada", "why", NOW), FAILED)


@pytest.mark.parametrize("key", ["orders", "audit"])
@pytest.mark.parametrize(
    ("run", "why"),
    [
        (SKIPPED, "skipped by ada: a holiday"),
        (marked(a_run(), a_mark()), "marked done by ada: by hand"),
    ],
)
def test_readings_of_such_a_date_are_ignored(key: str, run: Run, why: str) -> None:
    reading = Reading("silver-orders", key, {"date": KEY.date}, NOW)
    (admission,) = admit(PIPELINE, reading, {KEY: run}, NOW)
    assert isinstance(admission, Ignore)
    expected = "no job of that date" if key == "audit" and run is SKIPPED else why
    assert expected in admission.reason


def test_a_skipped_date_has_no_deadline() -> None:
    late = NOW + timedelta(hours=9)
    due = {DeadlineKind.BREACH: NOW, DeadlineKind.RELATIVE_BREACH: NOW}
    run = a_run(status=Status.SKIPPED, skip=SKIPPED.skip, breach_at=NOW, relative_breach_at=NOW)
    for kind in due:
        assert judge_moment(kind, due, (), None, run, late) is None
    schedule = PIPELINE.schedules[0]
    needs = Needs((), {}, (DateDeadline(KEY.date, due),))
    seen = Snapshot(
        pipeline=PIPELINE,
        schedule=schedule,
        since=NOW,
        needs=needs,
        due=(run,),
        runs={KEY.date: run},
    )
    assert [*sla_scheduling(seen, late), *relative_sla_breaches(seen, late)] == []
    assert watch_at(run, has_outbox=False) is None
    assert blocked_by(run, PIPELINE, "stream", late) == ["skipped by ada: a holiday"]


def test_a_skipped_date_is_not_rerun_and_a_marked_one_needs_no_new_data() -> None:
    case = RerunCase(reason="manual", run=SKIPPED, force=True)
    assert judge_request(case, PIPELINE) == RerunRefused(Cause.SKIPPED)
    case = RerunCase(reason="manual", run=marked(a_run(), a_mark()))
    assert isinstance(judge_request(case, PIPELINE), Granted)


@pytest.mark.parametrize(("outcome", "phase"), [(DONE, Phase.DONE), (FAILED, Phase.FAILED)])
def test_a_thread_shows_the_outcome_that_was_stated(outcome: MarkedAs, phase: Phase) -> None:
    event = happened(
        EventType.RUN_MARKED, subject(None, KEY), NOW, "x", parts=(0, outcome, 1), outcome=outcome
    )
    assert opened(event, Target("slack", "C1"), NOW).state is phase


@pytest.mark.parametrize(
    ("schedule", "date", "known"),
    [
        ("cron: '0 9 * * *', exclude: {weekends: true}", "2026-03-03", True),
        ("cron: '0 9 * * *', exclude: {weekends: true}", "2026-03-07", False),
        ("cron: '0 * * * *'", "2026-03-03T10", True),
        ("cron: '0 * * * *'", "2026-03-03", False),
        ("include: {dates: ['2026-03-03']}", "2026-03-04", False),
        ("trigger: {key: orders, check: exists}, exclude: {weekends: true}", "2026-03-03T10", True),
        ("trigger: {key: orders, check: exists}, exclude: {weekends: true}", "2026-03-07", False),
    ],
)
def test_a_schedule_knows_its_dates(schedule: str, date: str, known: bool) -> None:
    pipeline = declared(f"schedule: {{{schedule}}}")
    found = is_expected(pipeline.schedules[0], pipeline.calendars, Label.parse(date))
    assert found is known


@pytest.mark.parametrize(
    ("text", "value"),
    [("4200", 4200), ("true", True), ("ada", "ada"), ("", ""), ('{"a":1}', {"a": 1})],
)
def test_a_typed_value_is_what_it_looks_like(text: str, value: Any) -> None:
    assert typed_value(text) == value


def test_a_backfill_leaves_a_skipped_date_alone() -> None:
    begun = BegunDate(None, 0)
    assert state_of(begun, DateFacts(run=SKIPPED)) is DateEnding.SKIPPED
    assert "interlock unskip" in DateEnding.SKIPPED.why


def test_a_range_may_lie_in_the_future() -> None:
    pipeline = declared("schedule: {cron: '0 9 * * *', exclude: {weekends: true}}")
    rules = DateRules(pipeline.schedules[0], pipeline.calendars)
    ends = BackfillRange(Label.parse("2030-01-04"), Label.parse("2030-01-07"))
    assert dates_in_range(ends, rules) == ["2030-01-04", "2030-01-07"]
