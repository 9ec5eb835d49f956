"""Open runs whose execution is over: the next pass finds them, whatever their lease says."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.budgets import Category
from interlock.domain.event import EventType
from interlock.domain.guards import EngineState, Resume
from interlock.domain.job_record import JobRecord
from interlock.domain.run import Status
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnavailableError
from interlock.runtime.loop import Runtime
from interlock.simulation.scenario import Call, JobScript
from interlock.usecases.act_on_finding import act_on_finding
from interlock.usecases.ports import Ports
from interlock.usecases.watch import PassReport, watch
from usecases.home import CADENCE, KEY, NOW, Home, assert_a_crash_changes_nothing
from usecases.test_watch import end_execution

MINUTE = timedelta(minutes=1)
FIRST, SECOND, THIRD = (
    f"silver-orders-stream-2026-03-03{again}" for again in ("", "-again-2", "-again-3")
)
RECOVERED = EventType.TRIGGER_RECOVERED


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


def look(home: Home, ports: Ports | None = None, **span: float) -> PassReport:
    home.pass_time(**(span or {"minutes": 5}))
    report = watch(CADENCE, ports or home.ports)
    assert report is not None
    return report


def pending(home: Home) -> None:
    """Its rules do not hold yet, and its execution is over."""
    home.adopt("validation: {rules: [{key: stock, check: exists}]}")
    home.admit()
    home.mode("evaluate")
    end_execution(home, FIRST)


def triggering(home: Home, launched: bool = True) -> None:
    """The launch was begun, its outcome was not recorded, and its execution is over."""
    home.adopt()
    home.admit()
    home.mode("evaluate")
    if launched:
        home.mode("trigger", ports=home.with_ports(runs=ForgettingRuns(home)))
    else:
        run = home.run()
        assert home.store.runs.save(run.to(Status.TRIGGERING, home.clock()))
    assert home.run().status is Status.TRIGGERING
    end_execution(home, FIRST)


def running(home: Home, text: str = "", **script: Any) -> None:
    """Its job runs, for twenty minutes unless it is told otherwise, and its execution is over."""
    home.adopt(text)
    home.scripts["silver-orders"] = (JobScript(**({"after": "20m"} | script)),)
    home.launched()
    end_execution(home, FIRST)


class ForgettingRuns:
    """Runs of a store that loses what comes after TRIGGERING."""

    def __init__(self, home: Home) -> None:
        self._runs = home.store.runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def save(self, run: Any, *given: Any, **named: Any) -> bool:
        return run.status is Status.RUNNING or self._runs.save(run, *given, **named)


# --- launched ---


def test_a_job_that_runs_on_is_watched_by_another_execution_to_its_end(home: Home) -> None:
    running(home)
    look(home)
    assert home.started() == [FIRST, SECOND]
    assert (home.run().execution_name, home.run().executions) == (SECOND, 2)
    assert home.event(RECOVERED).detail["how"] == "resume"
    for _ in range(12):  # polls every minute; nothing wakes it
        home.pass_time(minutes=1)
        home.settle()
    assert home.run().status is Status.RUNNING
    for _ in range(5):
        home.pass_time(minutes=1)
        home.settle()
    run = home.run()
    assert (run.status, run.completed_at) == (Status.COMPLETED, NOW + 20 * MINUTE)
    assert len(home.jobs.launches) == 1
    assert home.started() == [FIRST, SECOND]
    assert len(home.events(RECOVERED)) == 1


def test_a_job_that_has_ended_is_recorded_by_another_execution(home: Home) -> None:
    text = "job: {type: command, config: {command: [etl]}, maxRetries: 1}"
    running(home, text, result="fail", category=Category.TRANSIENT, error="oom")
    look(home, minutes=30)
    for _ in range(4):
        home.settle()
        home.pass_time(minutes=1)
    assert home.event(EventType.JOB_FAILED).detail["error"] == "oom"
    assert home.run().attempt == 1  # and has its retry


def test_a_job_whose_success_is_logged_completes_its_run_at_once(home: Home) -> None:
    running(home)
    home.job_says("success", 0)
    look(home)
    assert home.run().status is Status.COMPLETED
    assert home.started() == [FIRST]
    assert home.event(RECOVERED).detail["how"] == "completion"


def test_the_poll_window_ends_a_job_that_its_second_execution_watches(home: Home) -> None:
    running(home, hang=True)
    look(home)
    unwatched = home.clock() - home.run().launched_at  # type: ignore[operator]
    for _ in range(60):
        home.settle()
        home.pass_time(minutes=1)
    home.settle()
    assert home.run().status is Status.FAILED_FINAL
    running_for = home.event(EventType.JOB_POLL_EXHAUSTED).detail["runningForSeconds"]
    assert running_for == unwatched.total_seconds() + 3600
    assert home.jobs.launches[-1].cancelled


def test_an_unrecorded_launch_is_found_by_its_token(home: Home) -> None:
    triggering(home)
    look(home)
    home.settle()
    assert home.run().status is Status.RUNNING
    assert len(home.jobs.launches) == 1
    assert len(home.events(EventType.JOB_TRIGGERED)) == 1


def test_a_launch_that_never_was_is_made(home: Home) -> None:
    triggering(home, launched=False)
    look(home)
    home.settle()
    assert home.run().status is Status.RUNNING
    assert len(home.jobs.launches) == 1


def test_each_execution_that_breaks_off_is_followed_by_another_until_the_lease_ends(
    home: Home,
) -> None:
    running(home, hang=True)
    look(home)
    end_execution(home, SECOND)
    look(home)
    assert home.started() == [FIRST, SECOND, THIRD]
    assert len(home.events(RECOVERED)) == 1  # told once an attempt
    while home.run().is_open:
        end_execution(home, home.run().execution_name)
        look(home, minutes=10)
    assert home.run().status is Status.FAILED_FINAL
    assert len(home.events(EventType.SFN_TIMEOUT)) == 1


@pytest.mark.parametrize("away", [5, 24, 20 * 24])
def test_an_attempt_whose_lease_ends_while_the_controller_is_away_goes_on(
    home: Home, away: int
) -> None:
    """Or while the clock leaps, which looks the same."""
    running(home, hang=True)
    look(home, minutes=1)
    end_execution(home, SECOND)
    look(home, hours=away)
    assert home.started() == [FIRST, SECOND, THIRD]
    assert home.run().lease_until == home.clock() + home.ports.lease
    home.settle()
    assert home.run().status is Status.RUNNING
    assert not home.jobs.launches[-1].cancelled


def test_passes_that_are_seldom_by_choice_give_no_attempt_more_time(home: Home) -> None:
    seldom = timedelta(hours=1)
    running(home, hang=True)
    while home.run().is_open:
        home.pass_time(seconds=seldom.total_seconds())
        watch(seldom, home.ports)
        if home.run().is_open:
            end_execution(home, home.run().execution_name)
    assert home.run().lease_until < home.clock() <= home.run().lease_until + seldom
    assert len(home.events(EventType.SFN_TIMEOUT)) == 1


def test_rules_whose_time_ends_while_the_controller_is_away_are_judged_again(home: Home) -> None:
    pending(home)
    home.store.watch.save(WatchdogState(version=1, last_pass_at=home.clock()))
    look(home, hours=24)
    home.settle()
    assert home.run().status is Status.FAILED
    assert len(home.events(EventType.VALIDATION_EXHAUSTED)) == 1


def test_a_start_that_failed_is_made_up_for_under_the_same_name(home: Home) -> None:
    running(home)
    home.fails(Call.START)
    report = look(home)
    assert [(f.check, f.pipeline) for f in report.failures] == [("stale-triggers", "silver-orders")]
    assert home.started() == [FIRST]
    look(home)
    assert home.started() == [FIRST, SECOND]


def test_the_attempt_is_judged_by_the_file_it_began_with(home: Home) -> None:
    before = home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.launched()
    end_execution(home, FIRST)
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 7}")
    home.fails(Call.START)
    look(home)  # its name is taken, and its start fails
    look(home)
    given = home.store.workflows.given(SECOND)
    assert given is not None
    assert given["executionName"] == SECOND
    assert given["config"]["job"]["maxRetries"] == before.pipeline.job.max_retries == 1


class ForgetfulEngine:
    """An engine that has forgotten what its executions were given."""

    def __init__(self, home: Home) -> None:
        self._workflows = home.ports.workflows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workflows, name)

    def given(self, name: str) -> None:
        return None


def test_where_that_is_forgotten_it_is_judged_by_the_file_in_force(home: Home) -> None:
    running(home)
    look(home, home.with_ports(workflows=ForgetfulEngine(home)))
    given = home.store.workflows.given(SECOND)
    assert given is not None and given["config"]["pipeline"]["id"] == "silver-orders"


def test_a_run_that_moved_on_since_it_was_found_is_not_resumed(home: Home) -> None:
    running(home)
    found = home.run()
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    home.finish()
    before = home.run()
    for engine in (EngineState.ENDED, EngineState.ABSENT):
        act_on_finding(Resume(found, engine), config, home.clock(), home.ports)
    assert home.run() == before
    assert home.started() == [FIRST]


def test_two_passes_that_find_it_at_once_start_one_execution(home: Home) -> None:
    running(home)
    found = home.run()
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    for _ in range(2):
        act_on_finding(Resume(found, EngineState.ENDED), config, home.clock(), home.ports)
    assert home.started() == [FIRST, SECOND]
    assert home.run().executions == 2


# --- not launched ---


def test_an_attempt_that_launched_nothing_is_tried_again_in_five_minutes(home: Home) -> None:
    pending(home)
    look(home)
    run = home.run()
    assert (run.status, run.retry_at) == (Status.FAILED, home.clock() + 5 * MINUTE)
    assert run.infra_retries == 1
    event = home.event(EventType.INFRA_FAILURE)
    assert (event.detail["state"], event.detail["executionName"]) == ("Execution", FIRST)
    assert "ended without finishing the run" in event.message
    look(home)
    assert len(home.events(EventType.INFRA_FAILURE)) == 1


def test_an_attempt_that_was_just_opened_is_not_given_up(home: Home) -> None:
    home.adopt()
    home.fails(Call.START)
    with pytest.raises(Exception, match="start fails"):
        home.admit()
    look(home, minutes=1)
    assert home.run().status is Status.PENDING
    assert home.events(EventType.INFRA_FAILURE) == []


# --- whom it asks ---


class AskedEngine(ForgetfulEngine):
    """Counts about whom it is asked; may not be able to say what is under way."""

    def __init__(self, home: Home, can_list: bool = True) -> None:
        super().__init__(home)
        self.asked: list[str] = []
        self._can_list = can_list

    def describe(self, name: str) -> Any:
        self.asked.append(name)
        return self._workflows.describe(name)

    def running(self) -> set[str]:
        if not self._can_list:
            raise UnavailableError("the engine can't be asked")
        return self._workflows.running()


def test_an_execution_that_is_under_way_is_not_asked_about(home: Home) -> None:
    home.adopt()
    home.launched()
    engine = AskedEngine(home)
    look(home, home.with_ports(workflows=engine))
    assert engine.asked == []
    assert home.started() == [FIRST]


def test_an_engine_that_can_not_list_executions_declares_no_attempt_dead(home: Home) -> None:
    running(home)
    report = look(home, home.with_ports(workflows=AskedEngine(home, can_list=False)))
    assert [(f.check, f.pipeline) for f in report.failures] == [("stale-triggers", "*")]
    assert home.started() == [FIRST]
    look(home)
    assert home.started() == [FIRST, SECOND]


# --- whatever the steps raise, and wherever it dies ---


class FullLog:
    """A job log that takes nothing for a while."""

    def __init__(self, home: Home, times: int) -> None:
        self._log = home.store.job_log
        self._left = times
        self.of_run = home.store.job_log.of_run

    def append(self, record: JobRecord) -> None:
        if self._left:
            self._left -= 1
            raise UnavailableError("the log is full")
        self._log.append(record)


@pytest.mark.parametrize("times", [4, 5, 9])
def test_a_trigger_that_fails_after_the_launch_leads_to_the_poll_loop(
    home: Home, times: int
) -> None:
    home.adopt()
    home.scripts["silver-orders"] = (JobScript(after="20m"),)
    home.admit()
    runtime = Runtime(home.store, home.with_ports(job_log=FullLog(home, times)), CADENCE)
    for _ in range(24):
        runtime.settle()
        home.pass_time(minutes=1)
    run = home.run()
    assert (run.status, run.completed_at) == (Status.COMPLETED, NOW + 20 * MINUTE)
    assert len(home.jobs.launches) == 1
    assert home.events(EventType.INFRA_FAILURE) == []
    assert home.started() == [FIRST]


@pytest.mark.parametrize("scene", [pending, triggering, running])
def test_dying_after_any_write_of_the_pass_changes_nothing(scene: Any) -> None:
    assert_a_crash_changes_nothing(scene, look)


def test_a_retired_pipeline_has_its_job_watched_too(home: Home) -> None:
    running(home)
    home.take_away()
    look(home)
    assert home.run(KEY).execution_name == SECOND
