"""Acting on a finding: conditional on what was found, so that a faster writer is not undone."""

from datetime import timedelta

import msgspec
import pytest

from interlock.domain.budgets import Category
from interlock.domain.event import EventType
from interlock.domain.guards import (
    Close,
    EngineState,
    ExtendLease,
    Finding,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    Suspect,
    TimeOut,
)
from interlock.domain.run import RunKey, Status
from interlock.errors import TransientError
from interlock.simulation.scenario import Call, JobScript
from interlock.usecases.act_on_finding import act_on_finding
from usecases.home import KEY, Home

HOUR = timedelta(hours=1)


def act(home: Home, finding: Finding) -> None:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    act_on_finding(finding, config, home.clock(), home.ports)


def test_a_run_that_moved_on_since_it_was_found_is_left_alone(home: Home) -> None:
    home.adopt("postRun: {rules: [{key: audit, check: exists}]}")
    home.admit()
    found = home.run()
    home.mode("evaluate")
    home.mode("trigger")
    home.finish("success")
    before = home.run()
    for finding in (
        Restart(found),
        NoteStarted(found),
        ExtendLease(found),
        TimeOut(found, EngineState.ENDED),
        PostRunMissing(msgspec.structs.replace(found, attempt=7), ("audit",)),
        Suspect("a doubt is only remembered"),
    ):
        act(home, finding)
        assert home.run() == before


def test_what_the_watchdog_opened_it_does_not_tell_of_twice(home: Home) -> None:
    home.adopt()
    home.fails(Call.START)
    with pytest.raises(TransientError):
        home.admit()
    run = home.run()
    assert home.store.runs.save(run.changed(home.clock(), recovered=True))
    act(home, Restart(run))
    assert home.run().started_at == home.clock()
    assert home.events(EventType.TRIGGER_RECOVERED) == []


def launched(home: Home, script: JobScript) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.scripts["silver-orders"] = (script,)
    home.launched()
    home.pass_time(hours=5)


def test_a_job_that_ended_well_unseen_is_not_timed_out(home: Home) -> None:
    launched(home, JobScript(after="20m"))
    act(home, TimeOut(home.run(), EngineState.ENDED))
    run = home.run()
    assert run.status is Status.COMPLETED
    assert run.completed_at is not None and run.launched_at is not None
    assert run.completed_at - run.launched_at == timedelta(minutes=20)
    assert home.event(EventType.TRIGGER_RECOVERED).detail["how"] == "completion"


def test_a_job_that_failed_unseen_has_its_retry(home: Home) -> None:
    failing = JobScript(after="20m", result="fail", category=Category.TRANSIENT, error="oom")  # type: ignore[arg-type]
    launched(home, failing)
    act(home, TimeOut(home.run(), EngineState.ENDED))
    assert home.run().awaits_retry
    assert home.event(EventType.JOB_FAILED).detail["error"] == "oom"
    assert home.events(EventType.SFN_TIMEOUT) == []


def test_a_job_that_can_not_be_asked_is_not_timed_out(home: Home) -> None:
    launched(home, JobScript(hang=True))
    home.fails(Call.POLL)
    with pytest.raises(TransientError):
        act(home, TimeOut(home.run(), EngineState.ENDED))
    assert home.run().status is Status.RUNNING


def test_a_date_that_was_opened_meanwhile_is_not_closed(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists, deadline: '06:30'}}")
    home.admit()
    act(home, Close(KEY, home.clock()))
    assert home.run().status is Status.PENDING
    assert home.events(EventType.SENSOR_DEADLINE_EXPIRED) == []


def test_a_listed_date_without_a_trigger_has_no_trigger_to_tell_of(home: Home) -> None:
    home.adopt("schedule: {include: {dates: [2026-03-03]}, time: '05:00'}")
    key = RunKey("silver-orders", "stream", "2026-03-03")
    act(home, Missed(key, home.clock() - 3 * HOUR, "controller-down"))
    assert "trigger" not in home.event(EventType.IRREGULAR_SCHEDULE_MISSED).detail
