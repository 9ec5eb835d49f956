"""Retrying a job: the timer of a failed attempt, and the attempt that follows."""

from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.budgets import Category, Spending
from interlock.domain.event import EventType
from interlock.domain.job_record import JobRecord
from interlock.domain.run import OpenedBy, Run, Status
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.note_job_record import note_job_record
from interlock.usecases.pause import pause, resume
from interlock.usecases.retry_job import retry_job
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

TWO = "job: {type: command, config: {command: [etl]}, maxRetries: 2, maxCodeRetries: 1}"
RETRY_0 = "retry.silver-orders.stream.2026-03-03.0"


def failed(home: Home, category: str | None = "TRANSIENT", text: str = TWO, **facts: Any) -> Run:
    home.adopt(text)
    home.launched()
    home.pass_time(minutes=1)
    home.finish("fail", category=category and Category(category), error="out of memory", **facts)
    return home.run()


def record_of(home: Home, event: str = "fail") -> JobRecord:
    (record,) = [each for each in home.store.job_log.of_run(KEY) if each.event == event]
    return record


def test_a_failure_with_budget_left_is_due_after_a_delay(home: Home) -> None:
    run = failed(home)
    assert run.status is Status.FAILED
    assert run.retry_at == NOW + timedelta(minutes=1, seconds=30)
    note_job_record(record_of(home), home.ports)
    assert home.armed() == {RETRY_0: run.retry_at}
    event = home.event(EventType.JOB_FAILED)
    assert (event.detail["willRetry"], event.severity) == (True, "warning")


def test_the_timer_is_armed_from_the_record_before_the_run_has_heard_of_it(home: Home) -> None:
    home.adopt(TWO)
    home.launched()
    record = home.job_says("fail", category=Category.TRANSIENT)
    note_job_record(record, home.ports)
    assert home.run().status is Status.RUNNING
    assert home.armed() == {RETRY_0: NOW + timedelta(seconds=30)}


class Engine:
    """Notes who is woken."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        self.woken.append(f"{pipeline_id} {waiting_for}")


@pytest.mark.parametrize("polled", [True, False])
def test_a_success_is_news_to_its_run_unless_it_was_polled(home: Home, polled: bool) -> None:
    home.adopt(TWO)
    home.launched()
    engine = Engine()
    record = home.job_says("success", 0, polled=polled)
    note_job_record(record, home.with_ports(workflows=engine))
    assert engine.woken == ([] if polled else ["silver-orders job"])
    assert record_of(home, "success").polled is polled


@pytest.mark.parametrize(
    ("event", "facts"),
    [
        ("success", {}),
        ("timeout", {"final": True}),  # the job may still be running
        ("fail", {"stopped": True}),  # it was stopped on purpose
        ("triggered", {}),
        ("fail", {"attempt": 7}),  # of another attempt
    ],
)
def test_a_record_that_leads_to_no_retry_arms_nothing(
    home: Home, event: str, facts: dict[str, Any]
) -> None:
    home.adopt(TWO)
    home.launched()
    note_job_record(home.job_says(event, **facts), home.ports)
    assert home.armed() == {}


def test_a_record_of_a_date_without_a_run_means_nothing(home: Home) -> None:
    home.adopt(TWO)
    note_job_record(home.job_says("fail"), home.ports)
    assert home.armed() == {}


def test_a_record_of_a_pipeline_that_is_gone_means_nothing(home: Home) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxCodeRetries: 0}")
    home.launched()
    note_job_record(home.job_says("fail", category=Category.PERMANENT), home.ports)
    assert home.armed() == {}  # no budget


def test_when_the_timer_fires_the_next_attempt_opens_and_is_charged(home: Home) -> None:
    failed(home)
    home.pass_time(seconds=30)
    run = retry_job(KEY, 0, home.ports)
    assert run is not None
    assert (run.status, run.attempt, run.opened_by) == (Status.PENDING, 1, OpenedBy.RETRY)
    assert run.spending == Spending(retries=1)
    (record,) = home.store.reruns.granted(KEY)
    assert (record.attempt, record.source) == (1, "job")
    assert home.started()[-1].endswith("-rerun-1")


@pytest.mark.parametrize(
    ("category", "spending"),
    [
        ("TRANSIENT", Spending(retries=1)),
        ("TIMEOUT", Spending(retries=1)),
        (None, Spending(retries=1)),
        ("PERMANENT", Spending(code_retries=1)),
    ],
)
def test_each_category_is_charged_to_its_budget(
    home: Home, category: str | None, spending: Spending
) -> None:
    failed(home, category)
    retry_job(KEY, 0, home.ports)
    assert home.run().spending == spending


def test_a_timer_that_fires_again_changes_nothing(home: Home) -> None:
    failed(home)
    retry_job(KEY, 0, home.ports)
    before = home.state()
    retry_job(KEY, 0, home.ports)
    assert home.state() == before


def test_a_timer_of_an_older_attempt_changes_nothing(home: Home) -> None:
    failed(home)
    retry_job(KEY, 0, home.ports)
    home.mode("evaluate")
    home.mode("trigger")
    home.finish("fail", category=Category.TRANSIENT)
    assert home.run().awaits_retry
    retry_job(KEY, 0, home.ports)
    assert home.run().attempt == 1


def test_a_run_that_is_not_due_is_not_retried(home: Home) -> None:
    home.adopt()
    home.completed()
    before = home.run()
    assert retry_job(KEY, 0, home.ports) == before


def test_a_date_that_has_no_run_has_nothing_to_retry(home: Home) -> None:
    home.adopt()
    assert retry_job(KEY, 0, home.ports) is None


def test_while_paused_a_retry_waits_for_the_watchdog(home: Home) -> None:
    failed(home)
    pause("silver-orders", home.ports)
    assert retry_job(KEY, 0, home.ports) is None
    assert home.run().awaits_retry
    home.pass_time(minutes=10)
    resume("silver-orders", home.ports)
    home.settle()
    assert home.run().attempt == 1


#: The only schedule of a pipeline stays its only schedule, so one more is added.
TWO_OTHERS = "schedules: [{id: a, cron: '0 8 * * *'}, {id: b, cron: '0 9 * * *'}]"


@pytest.mark.parametrize("all_of_it", [True, False])
def test_a_schedule_that_was_taken_away_gives_up(home: Home, all_of_it: bool) -> None:
    failed(home)
    if all_of_it:
        home.take_away()
    else:
        home.adopt(TWO_OTHERS)
    run = retry_job(KEY, 0, home.ports)
    assert run is not None and run.status is Status.FAILED_FINAL
    assert retry_job(KEY, 0, home.ports) == run  # twice is once
    assert len(home.started()) == 1
    event = home.event(EventType.RETRY_EXHAUSTED)
    gone, how = ("pipeline", "retired") if all_of_it else ("schedule", "removed")
    assert event.message == f"the retry of attempt 0 was dropped: its {gone} was {how}"
    assert event.detail["kind"] == f"{gone}-gone"
    assert event.detail["lastError"] == "out of memory"


def test_dying_while_a_retry_is_given_up_neither_loses_its_event_nor_tells_it_twice() -> None:
    def scene(home: Home) -> None:
        failed(home)
        home.take_away()

    plain = assert_a_crash_changes_nothing(scene, lambda home: retry_job(KEY, 0, home.ports))
    assert plain.run().status is Status.FAILED_FINAL


def test_a_retry_that_the_watchdog_makes_up_for_is_reported(home: Home) -> None:
    failed(home)
    retry_job(KEY, 0, home.ports, recovered=True)
    retry_job(KEY, 0, home.ports, recovered=True)
    event = home.event(EventType.TRIGGER_RECOVERED)
    assert event.detail["how"] == "restart"


def test_an_infra_failure_is_retried_and_charged_to_no_budget(home: Home) -> None:
    home.adopt(TWO)
    home.admit()
    home.mode("infra-failure", errors={"Evaluate": {"Error": "Boom", "Cause": "no store"}})
    run = home.run()
    assert run.retry_at == NOW + timedelta(minutes=5)
    retry_job(KEY, 0, home.ports)
    assert home.run().attempt == 1
    assert home.run().spending == Spending()


def test_a_smaller_budget_in_a_new_file_does_not_hold_up_a_retry_that_was_promised(
    home: Home,
) -> None:
    failed(home)
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 0}")
    run = retry_job(KEY, 0, home.ports)
    assert run is not None and run.attempt == 1
    assert run.spending == Spending()  # it is never exceeded


@pytest.mark.parametrize(
    ("retries", "told"), [(2, "DRY_RUN_WOULD_RETRY"), (0, "DRY_RUN_RETRY_EXHAUSTED")]
)
def test_a_dry_run_tells_what_it_would_do_about_a_failure_elsewhere(
    home: Home, retries: int, told: str
) -> None:
    home.adopt(
        f"dryRun: true\njob: {{type: command, config: {{command: [etl]}}, maxRetries: {retries}}}"
    )
    home.admit()
    home.settle()
    for event in ("success", "fail", "fail"):
        note_job_record(home.job_says(event, category=Category.TRANSIENT), home.ports)
    assert home.told()[-1] == told
    assert home.told().count(told) == 1
    assert home.events(EventType(told))[0].detail["max"] == retries
    assert home.armed() == {}


def test_a_start_that_fails_is_made_up_for_by_the_repeat(home: Home) -> None:
    failed(home)
    home.fails(Call.START)
    with pytest.raises(TransientError):
        retry_job(KEY, 0, home.ports)
    retry_job(KEY, 0, home.ports)
    assert home.started()[-1].endswith("-rerun-1")
    assert home.run().spending == Spending(retries=1)


def test_dying_at_any_line_changes_nothing() -> None:
    assert_a_crash_changes_nothing(failed, lambda home: retry_job(KEY, 0, home.ports))
    assert_a_crash_changes_nothing(
        failed, lambda home: note_job_record(record_of(home), home.ports)
    )
