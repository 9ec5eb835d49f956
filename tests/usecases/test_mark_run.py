"""Marking: a person states the outcome, nothing is launched, and what follows from it follows."""

from typing import Any

import pytest

from interlock.domain.admission import Ignore
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType, Severity
from interlock.domain.run import MarkedAs, OpenedBy, Run, RunKey, Status
from interlock.errors import ConfigError, ConflictError
from interlock.simulation.scenario import JobScript
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.mark_run import mark_run
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import skip_run
from interlock.usecases.watch import watch
from usecases.home import CADENCE, KEY, NOW, Home, assert_a_crash_changes_nothing

DOWNSTREAM = "pipeline: {id: gold}\nschedule: {trigger: {pipeline: silver-orders}}"
GOLD = RunKey("gold", "stream", "2026-03-03")
RETRIES = "job: {type: command, config: {command: [etl]}, maxRetries: 3}"
FINAL = "job: {type: command, config: {command: [etl]}, maxRetries: 0}"


def mark(home: Home, outcome: str = "done", key: RunKey = KEY, **evidence: str) -> Run:
    return mark_run(RunOrder(key, "ada", "by hand"), MarkedAs(outcome), evidence, home.ports)


def failed(home: Home, text: str = FINAL) -> None:
    home.adopt(text)
    home.launched()
    home.finish("fail", error="out of memory")


def is_done_by_hand(home: Home) -> None:
    run = home.run()
    assert run.status is Status.COMPLETED and run.completed_at == home.clock.now
    assert run.mark is not None and (run.mark.by, run.mark.reason) == ("ada", "by hand")


# --- done ---


def test_a_run_that_failed_for_good_is_marked_done(home: Home) -> None:
    failed(home)
    launches = len(home.jobs.launches)
    mark(home, rows="4200", seen="in the warehouse")
    is_done_by_hand(home)
    assert home.run().failure is None
    event = home.event(EventType.RUN_MARKED)
    assert event.message == "marked done by ada: by hand" and event.severity is Severity.INFO
    assert event.detail["evidence"] == {"rows": "4200", "seen": "in the warehouse"}
    assert event.detail["runStatus"] == "FAILED_FINAL"
    assert len(home.jobs.launches) == launches and not home.events(EventType.JOB_COMPLETED)


def test_a_waiting_run_and_one_whose_retry_is_due_are_marked_done(home: Home) -> None:
    home.adopt(RETRIES)
    home.admit(count=1)
    mark(home)
    is_done_by_hand(home)
    assert not home.mode("evaluate")["current"] and home.jobs.launches == []


def test_the_retry_of_a_run_that_is_marked_done_never_comes(home: Home) -> None:
    failed(home, RETRIES)
    assert home.run().awaits_retry
    mark(home)
    is_done_by_hand(home)
    home.pass_time(hours=1)
    watch(CADENCE, home.ports)
    assert (home.run().status, home.run().attempt) == (Status.COMPLETED, 0)


def test_a_date_without_a_run_is_marked_done(home: Home) -> None:
    home.adopt()
    mark(home)
    is_done_by_hand(home)
    assert home.run().opened_by is OpenedBy.OPERATOR and not home.started()


def test_a_skipped_date_is_marked_done(home: Home) -> None:
    home.adopt()
    skip_run(RunOrder(KEY, "ada", "a holiday"), home.ports)
    mark(home)
    is_done_by_hand(home)
    assert home.run().skip is None


def test_pipelines_that_wait_for_it_go_on(home: Home) -> None:
    home.adopt()
    home.adopt(DOWNSTREAM)
    mark(home)
    assert not home.run().cascading
    home.settle()
    assert home.run(GOLD).opened_by is OpenedBy.CASCADE


def test_its_deadline_is_judged_by_now(home: Home) -> None:
    home.adopt("sla: {maxDuration: 2h}")
    home.admit(count=1)
    home.pass_time(hours=1)
    assert mark(home).sla_verdict is SlaVerdict.MET
    assert not home.armed() and len(home.events(EventType.SLA_MET)) == 1


def test_a_deadline_that_had_passed_stays_breached(home: Home) -> None:
    home.adopt("sla: {maxDuration: 2h}")
    home.admit(count=1)
    home.pass_time(hours=3)
    assert mark(home).sla_verdict is SlaVerdict.BREACHED
    assert home.event(EventType.RUN_MARKED).detail["lateBy"] == "1h"


def test_what_comes_later_is_ignored_and_told_who_said_it(home: Home) -> None:
    failed(home)
    mark(home)
    home.pass_time(minutes=5)
    (admission,) = admit_reading(home.reading(date="2026-03-03", count=2), home.ports)
    assert isinstance(admission, Ignore)
    assert "the date is marked done by ada: by hand" in admission.reason
    for _ in range(4):
        home.pass_time(minutes=5)
        watch(CADENCE, home.ports)
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []


def test_post_run_rules_do_not_judge_what_a_person_said(home: Home) -> None:
    home.adopt("postRun: {rules: [{key: audit, check: exists}], sensorTimeout: 10m}")
    mark(home)
    home.pass_time(minutes=5)
    home.admit("audit", count=1)
    home.pass_time(hours=1)
    watch(CADENCE, home.ports)
    told = {event.type for event in home.events()}
    assert not told & {EventType.POST_RUN_SENSOR_MISSING, EventType.POST_RUN_PASSED}


def test_a_rerun_opens_it_again_without_new_data(home: Home) -> None:
    home.adopt()
    mark(home)
    judge_rerun(home.request(), home.ports)
    run = home.run()
    assert (run.status, run.attempt, run.mark) == (Status.PENDING, 1, None)


# --- failed ---


def test_a_success_that_was_none_is_marked_failed(home: Home) -> None:
    home.adopt()
    home.adopt(DOWNSTREAM)
    home.completed()
    home.settle()
    run = mark(home, "failed")
    assert (run.status, run.completed_at) == (Status.FAILED_FINAL, None)
    assert run.failure is not None and run.failure.message == "marked failed by ada: by hand"
    event = home.event(EventType.RUN_MARKED)
    assert "runs that its completion opened downstream are not undone" in event.message
    assert event.severity is Severity.WARNING and "interlock rerun" in event.detail["actionHint"]
    assert home.run(GOLD).status is not Status.FAILED_FINAL


def test_a_waiting_run_is_marked_failed_and_no_reading_opens_it(home: Home) -> None:
    home.adopt()
    home.admit(count=1)
    mark(home, "failed")
    home.admit(count=2)
    assert home.run().status is Status.FAILED_FINAL


def test_a_due_retry_is_given_up(home: Home) -> None:
    failed(home, RETRIES)
    run = mark(home, "failed")
    assert (run.status, run.retry_at) == (Status.FAILED_FINAL, None)


# --- refused ---


@pytest.mark.parametrize("outcome", ["done", "failed"])
def test_a_run_with_a_job_must_be_cancelled_first(home: Home, outcome: str) -> None:
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.adopt()
    home.launched()
    with pytest.raises(ConflictError, match="its job is running: cancel it first"):
        mark(home, outcome)


def test_what_has_that_outcome_already_is_refused(home: Home) -> None:
    failed(home)
    with pytest.raises(ConflictError, match="it has failed for good already"):
        mark(home, "failed")
    home.store.runs.save(home.run().reopened(NOW, OpenedBy.RERUN, "", home.ports.lease))
    home.mode("evaluate")
    home.mode("trigger")
    home.finish()
    with pytest.raises(ConflictError, match="it is done already"):
        mark(home)


def test_a_date_without_a_run_has_nothing_that_failed(home: Home) -> None:
    home.adopt()
    with pytest.raises(ConfigError, match="it has no run: there is nothing that failed"):
        mark(home, "failed")
    skip_run(RunOrder(KEY, "ada", "a holiday"), home.ports)
    with pytest.raises(ConflictError, match="it is skipped: undo that first"):
        mark(home, "failed")


@pytest.mark.parametrize(
    ("date", "why"), [("2026-03-07", "is not a date of its schedule"), ("2026-03-20", "too far")]
)
def test_an_implausible_date_is_refused(home: Home, date: str, why: str) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}")
    with pytest.raises(ConfigError, match=why):
        mark(home, key=RunKey("silver-orders", "stream", date))


# --- twice ---


def test_saying_it_again_changes_nothing_and_the_opposite_is_another_event(home: Home) -> None:
    failed(home)
    mark(home)
    state = home.state()
    home.pass_time(minutes=1)
    mark(home, rows="1")
    assert home.state() == state
    mark(home, "failed")
    home.pass_time(minutes=1)
    mark(home)
    assert [event.detail["outcome"] for event in home.events(EventType.RUN_MARKED)] == [
        "done",
        "failed",
        "done",
    ]


@pytest.mark.parametrize("begun", [True, False])
def test_dying_while_marking_and_asking_again_leads_to_the_same(begun: bool) -> None:
    def scene(home: Home) -> None:
        home.adopt("sla: {deadline: '10:00', maxDuration: 2h}")
        home.adopt(DOWNSTREAM)
        if begun:
            home.admit(count=1)

    def act(home: Home) -> Any:
        mark(home)
        home.settle()

    plain = assert_a_crash_changes_nothing(scene, act)
    assert plain.run().status is Status.COMPLETED and not plain.run().cascading
