"""Cancelling: the attempt ends, its job is asked to stop, and the outcome that was first stands."""

from collections.abc import Mapping
from typing import Any

import pytest

from interlock.domain.budgets import Category
from interlock.domain.cancellation import Cancellation
from interlock.domain.event import EventType
from interlock.domain.job import Failed, Running, Succeeded
from interlock.domain.run import RunKey, Status
from interlock.errors import ConflictError, NotFoundError, TransientError
from interlock.simulation.scenario import JobResult, JobScript
from interlock.usecases.cancel_run import cancel_run
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.run_order import RunOrder
from usecases.home import KEY, Home, assert_a_crash_changes_nothing

CANCELLED = EventType.RUN_CANCELLED
RETRIES = "job: {type: command, config: {command: [etl]}, maxRetries: 3}"


class Platform:
    """A platform with one job, which says what it is told to."""

    def __init__(self, says: Any = None, stops: bool = True) -> None:
        self.says, self.stops, self.asked = says or Running(), stops, 0

    def poll(self, metadata: Mapping[str, Any]) -> Any:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        self.asked += 1
        return self.stops


def cancel(home: Home, platform: Any = None, reason: str = "it hangs") -> Cancellation:
    ports = home.ports if platform is None else home.with_ports(jobs=platform)
    return cancel_run(RunOrder(KEY, "ada", reason), ports)


def hanging(home: Home, text: str = RETRIES) -> None:
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.adopt(text)
    home.launched()
    home.pass_time(minutes=5)


def test_a_running_job_is_asked_to_stop_and_no_retry_follows(home: Home) -> None:
    hanging(home)
    platform = Platform()
    done = cancel(home, platform)
    assert done.job_asked and platform.asked == 1
    run = home.run()
    assert (run.status, run.retry_at) == (Status.FAILED_FINAL, None)
    assert run.failure is not None and run.failure.message == "cancelled by ada: it hangs"
    event = home.event(CANCELLED)
    assert (event.detail["reason"], event.detail["requestedBy"]) == ("it hangs", "ada")
    assert event.detail["runStatus"] == "RUNNING"


@pytest.mark.parametrize(
    "says", [Failed(Category.PERMANENT, "killed", stopped=True), Failed(Category.TRANSIENT, "oom")]
)
def test_the_execution_that_watches_the_job_finds_the_run_over(home: Home, says: Failed) -> None:
    hanging(home)
    cancel(home, Platform())
    home.pass_time(minutes=1)
    answer = home.mode("check-job", ports=home.with_ports(jobs=Platform(says)))
    assert not answer["current"]
    assert home.run().status is Status.FAILED_FINAL and not home.events(EventType.JOB_FAILED)


def test_a_success_that_comes_after_the_cancellation_changes_nothing(home: Home) -> None:
    hanging(home)
    cancel(home, Platform(stops=False))
    home.pass_time(minutes=1)
    home.finish()
    assert home.run().status is Status.FAILED_FINAL
    assert not home.events(EventType.JOB_COMPLETED)


def test_a_second_cancellation_asks_the_job_again_and_tells_nothing_new(home: Home) -> None:
    hanging(home)
    platform = Platform()
    cancel(home, platform)
    first = home.state()
    home.pass_time(minutes=1)
    assert cancel(home, platform, "really").job_asked
    assert platform.asked == 2 and home.state() == first


def test_dying_in_between_and_asking_again_leads_to_the_same(home: Home) -> None:
    plain = assert_a_crash_changes_nothing(hanging, cancel)
    assert plain.jobs.launches[-1].cancelled


def test_a_job_that_can_not_be_asked_may_still_run(home: Home) -> None:
    hanging(home)
    assert cancel(home, Platform(stops=False)).job_asked is False


def test_a_job_that_has_ended_meanwhile_needs_no_asking(home: Home) -> None:
    hanging(home)
    cancel(home, Platform())
    stopped = Platform(Failed(Category.PERMANENT, "killed", stopped=True), stops=False)
    assert cancel(home, stopped).job_asked is None


def test_a_platform_that_does_not_answer_keeps_nobody_from_cancelling(home: Home) -> None:
    hanging(home)
    done = cancel(home, Platform(TransientError("no answer"), stops=False))
    assert done.job_asked is False and done.run.status is Status.FAILED_FINAL


@pytest.mark.parametrize("says", [Succeeded(), Failed(Category.TRANSIENT, "oom")])
def test_a_job_that_has_just_ended_keeps_its_outcome(home: Home, says: Any) -> None:
    hanging(home)
    with pytest.raises(ConflictError, match="its job has just ended"):
        cancel(home, Platform(says))
    assert home.run().status is Status.RUNNING and not home.events(CANCELLED)


def test_a_job_that_logged_its_success_keeps_it(home: Home) -> None:
    hanging(home)
    home.job_says("success", 0)
    platform = Platform()
    with pytest.raises(ConflictError, match=r"ended \(success\)"):
        cancel(home, platform)
    assert not platform.asked


def test_a_run_that_waits_for_its_rules_is_cancelled_and_new_data_opens_it_no_more(
    home: Home,
) -> None:
    home.adopt("validation: {rules: [{key: stock, check: exists}]}")
    home.admit(count=1)
    done = cancel(home)
    assert (done.job_asked, done.run.status) == (None, Status.FAILED_FINAL)
    home.pass_time(minutes=1)
    home.admit(count=2)
    home.admit("stock")
    home.settle()
    assert home.run().attempt == 0 and not home.jobs.launches


def test_a_due_retry_is_dropped(home: Home) -> None:
    failing = JobScript(after="1m", result=JobResult.FAIL, category=Category.TRANSIENT, error="oom")
    home.scripts["silver-orders"] = (failing,)
    home.adopt(RETRIES)
    home.launched()
    home.pass_time(minutes=2)
    home.mode("check-job")
    home.mode("complete-trigger")
    assert home.run().awaits_retry
    done = cancel(home)
    assert (done.job_asked, done.run.retry_at) == (None, None)
    home.pass_time(hours=3)
    home.settle()
    assert home.run().attempt == 0 and len(home.jobs.launches) == 1


def test_a_rerun_opens_the_date_again(home: Home) -> None:
    hanging(home)
    cancel(home)
    home.pass_time(minutes=1)
    judge_rerun(home.request(force=True), home.ports)
    assert (home.run().status, home.run().attempt) == (Status.PENDING, 1)
    home.pass_time(minutes=1)
    cancel(home)
    assert len(home.events(CANCELLED)) == 2  # one of each attempt


def test_a_job_that_is_being_launched_can_be_cancelled_in_a_moment(home: Home) -> None:
    home.adopt()
    home.admit()
    home.mode("evaluate")
    run = home.run()
    assert home.store.runs.save(run.to(Status.TRIGGERING, home.clock()))
    with pytest.raises(ConflictError, match="being launched: try again"):
        cancel(home)
    assert home.run().status is Status.TRIGGERING


def test_there_is_nothing_to_cancel_in_a_run_that_is_over(home: Home) -> None:
    home.adopt()
    home.completed()
    with pytest.raises(ConflictError, match="2026-03-03: it is done: there is nothing to cancel"):
        cancel(home)
    assert home.run().status is Status.COMPLETED


def test_a_date_without_a_run_and_an_unknown_pipeline_are_named(home: Home) -> None:
    home.adopt()
    with pytest.raises(NotFoundError, match="silver-orders has no run of 2026-03-03"):
        cancel(home)
    order = RunOrder(RunKey("nope", "stream", "2026-03-03"), "ada", "why")
    with pytest.raises(NotFoundError, match="no pipeline nope"):
        cancel_run(order, home.ports)
