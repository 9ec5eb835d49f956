"""Backfills: the dates of a range run a few at a time, once each, whatever happens meanwhile."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from interlock.domain.backfill import Backfill, BackfillState, DateEnding, DateState
from interlock.domain.event import EventType, Severity
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey, Status
from interlock.errors import ConfigError, ConflictError, NotFoundError, TransientError
from interlock.queries.backfill_progress import backfill_dates, backfill_progress
from interlock.simulation.scenario import JobResult, JobScript
from interlock.usecases.advance_backfill import advance_backfill
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.pause import pause, resume
from interlock.usecases.start_backfill import BackfillOrder, start_backfill
from interlock.usecases.steer_backfill import BackfillTurn, steer_backfill
from interlock.usecases.watch import watch
from usecases.home import CADENCE, Home

FREE = (
    "pipeline: {id: free}\n"
    "schedule: {cron: '0 1 * * *'}\n"
    "validation: {rules: [{key: always, check: exists}]}\n"
    "job: {type: command, config: {command: [etl]}, maxRetries: 0, maxCodeRetries: 0}"
)


def start(home: Home, first: str = "2026-02-01", last: str = "2026-02-05", **more: Any) -> Backfill:
    order = BackfillOrder(
        pipeline_id="free", first=first, last=last, requested_by="ada", reason="currency", **more
    )
    return start_backfill(order, home.ports)


def stored(home: Home, backfill: Backfill) -> Backfill:
    found = home.store.backfills.find(backfill.id)
    assert found is not None
    return found


def turn(home: Home, backfill: Backfill, state: BackfillState) -> Backfill:
    return steer_backfill(BackfillTurn(backfill.id, state, "bo", "load"), home.ports)


def run_on(home: Home, minutes: int = 10) -> None:
    """Let the controller work, and time pass."""
    for _ in range(minutes):
        home.settle()
        home.pass_time(minutes=1)
    home.settle()


@pytest.fixture
def free(home: Home) -> Home:
    home.scripts["free"] = (JobScript(after="2m"),)
    home.adopt(FREE)
    home.reading("always", "free")
    home.settle()
    return home


def test_every_date_runs_once_and_never_more_than_allowed_at_once(free: Home) -> None:
    backfill = start(free)
    most = 0
    for _ in range(30):
        free.settle()
        busy = [run for run in free.store.runs.active() if run.is_open]
        most = max(most, len(busy), len(stored(free, backfill).begun))
        free.pass_time(minutes=1)
    assert most == 2
    done = stored(free, backfill)
    assert done.state is BackfillState.DONE
    assert done.ended == dict.fromkeys(done.dates, DateEnding.COMPLETED)
    assert len(done.dates) == len(free.jobs.launches) == 5
    (told,) = free.events(EventType.BACKFILL_DONE)
    assert told.severity is Severity.INFO and told.detail["completed"] == 5
    assert len(free.events(EventType.BACKFILL_STARTED)) == 1


def test_the_next_date_begins_when_one_ends_without_a_pass_of_the_watchdog(free: Home) -> None:
    start(free, max_concurrent=1)
    run_on(free, minutes=4)
    dates = [launch.date for launch in free.jobs.launches]
    assert dates == ["2026-02-01", "2026-02-02", "2026-02-03"]


def test_a_failed_date_does_not_stop_the_others_and_is_alerted(free: Home) -> None:
    bad = JobScript(after="1m", result=JobResult.FAIL, error="no space")
    free.scripts["free"] = (JobScript(after="1m"), bad, JobScript(after="1m"))
    backfill = start(free, last="2026-02-03", max_concurrent=1)
    run_on(free, 15)
    done = stored(free, backfill)
    assert done.ended["2026-02-02"] is DateEnding.FAILED
    assert done.count(DateState.COMPLETED) == 2
    (told,) = free.events(EventType.BACKFILL_DONE)
    assert told.severity is Severity.WARNING
    assert told.message == "2 of 3 completed, 1 failed"
    (shown,) = backfill_dates(done, "failed", None, 10, free.ports)
    assert (shown.date, shown.why) == ("2026-02-02", "no space")


def test_a_retry_counts_as_running_until_it_is_over(free: Home) -> None:
    free.adopt(FREE.replace("maxRetries: 0", "maxRetries: 1"))
    fail = JobScript(after="1m", result=JobResult.FAIL, error="x")
    free.scripts["free"] = (fail, JobScript(after="1m"))
    backfill = start(free, last="2026-02-01")
    free.settle()
    free.pass_time(minutes=1)
    free.settle()
    assert free.run(RunKey("free", "cron", "2026-02-01")).awaits_retry
    assert stored(free, backfill).begun
    run_on(free)
    assert stored(free, backfill).ended == {"2026-02-01": DateEnding.COMPLETED}


def test_a_refused_date_makes_room_for_the_next(free: Home) -> None:
    """An exclusion that is adopted after the date was requested and before that was judged."""
    backfill = start(free, max_concurrent=1)
    free.adopt(FREE.replace("'0 1 * * *'", "'0 1 * * *', exclude: {dates: [2026-02-01]}"))
    free.settle()
    found = stored(free, backfill)
    assert found.ended == {"2026-02-01": DateEnding.EXCLUDED}
    assert list(found.begun) == ["2026-02-02"]


def test_dates_that_an_edit_removed_are_refused_one_by_one(free: Home) -> None:
    backfill = start(free, max_concurrent=1)
    free.adopt(FREE.replace("'0 1 * * *'", "'0 1 * * MON,TUE'"))
    run_on(free, 20)
    done = stored(free, backfill)
    assert done.state is BackfillState.DONE
    assert done.ended == {
        "2026-02-01": DateEnding.COMPLETED,  # a Sunday, but requested before the edit
        "2026-02-02": DateEnding.COMPLETED,
        "2026-02-03": DateEnding.COMPLETED,
        "2026-02-04": DateEnding.NOT_EXPECTED,
        "2026-02-05": DateEnding.NOT_EXPECTED,
    }


def test_a_dropped_schedule_refuses_what_is_left(free: Home) -> None:
    backfill = start(free, max_concurrent=1)
    free.adopt(FREE.replace("schedule: {cron", "schedules:\n- {id: other, cron"))
    run_on(free, 20)
    done = stored(free, backfill)
    assert done.state is BackfillState.DONE
    assert DateEnding.COMPLETED in done.ended.values() or done.count(DateState.REFUSED) == 5


def test_a_paused_pipeline_makes_the_backfill_wait_and_say_so(free: Home) -> None:
    backfill = start(free, max_concurrent=1)
    pause("free", free.ports, by="bo", reason="upstream moves")
    run_on(free, 10)
    waiting = stored(free, backfill)
    assert waiting.state is BackfillState.RUNNING and len(waiting.waiting) == 4
    shown = backfill_progress(waiting, free.ports)
    assert shown.waits_for == "its pipeline is paused by bo (upstream moves)"
    resume("free", free.ports)
    run_on(free, 20)
    done = stored(free, backfill)
    assert done.state is BackfillState.DONE
    assert backfill_progress(done, free.ports).waits_for == ""
    assert len(free.jobs.launches) == 5


def test_a_retired_pipeline_ends_the_backfill_with_that_reason(free: Home) -> None:
    backfill = start(free)
    free.settle()
    free.take_away("free")
    watch(CADENCE, free.ports)
    over = stored(free, backfill)
    assert (over.state, over.changed_for) == (BackfillState.CANCELLED, "its pipeline was retired")
    (told,) = free.events(EventType.BACKFILL_CANCELLED)
    assert "its pipeline was retired" in told.message
    assert len(over.begun) == 2 and len(over.waiting) == 3


def test_a_paused_backfill_starts_nothing_and_goes_on_when_it_is_resumed(free: Home) -> None:
    backfill = start(free, max_concurrent=1)
    free.settle()
    turn(free, backfill, BackfillState.PAUSED)
    run_on(free, 15)
    paused = stored(free, backfill)
    assert paused.ended == {"2026-02-01": DateEnding.COMPLETED} and not paused.begun
    turn(free, backfill, BackfillState.RUNNING)
    run_on(free, 20)
    assert stored(free, backfill).state is BackfillState.DONE
    kinds = [EventType.BACKFILL_PAUSED, EventType.BACKFILL_RESUMED]
    assert [len(free.events(kind)) for kind in kinds] == [1, 1]
    assert len(free.jobs.launches) == 5


def test_the_last_dates_of_a_paused_backfill_make_it_done(free: Home) -> None:
    backfill = start(free, last="2026-02-02")
    turn(free, backfill, BackfillState.PAUSED)
    run_on(free, 10)
    assert stored(free, backfill).state is BackfillState.DONE


def test_a_cancelled_backfill_notes_how_its_last_dates_end_and_starts_no_other(free: Home) -> None:
    backfill = start(free)
    free.settle()
    turn(free, backfill, BackfillState.CANCELLED)
    run_on(free, 10)
    over = stored(free, backfill)
    assert over.state is BackfillState.CANCELLED and over.is_over
    assert over.count(DateState.COMPLETED) == 2 and len(over.waiting) == 3
    assert len(free.jobs.launches) == 2
    assert free.events(EventType.BACKFILL_DONE) == []


def test_steering_twice_changes_nothing_and_a_finished_one_is_refused(free: Home) -> None:
    backfill = start(free)
    first = turn(free, backfill, BackfillState.PAUSED)
    assert turn(free, backfill, BackfillState.PAUSED) == first
    assert len(free.events(EventType.BACKFILL_PAUSED)) == 1
    turn(free, backfill, BackfillState.CANCELLED)
    with pytest.raises(ConflictError, match="is CANCELLED: it is over"):
        turn(free, backfill, BackfillState.RUNNING)
    with pytest.raises(NotFoundError, match="there is no backfill nope"):
        steer_backfill(BackfillTurn("nope", BackfillState.PAUSED, "", "x"), free.ports)


def test_a_date_in_progress_is_waited_for_and_counts(free: Home) -> None:
    request = RerunRequest(
        key=RunKey("free", "cron", "2026-02-02"), reason="manual", requested_at=free.clock()
    )
    judge_rerun(request, free.ports)
    backfill = start(free)
    begun = stored(free, backfill).begun
    assert begun["2026-02-02"].at is None and len(begun) == 2
    run_on(free, 30)
    assert stored(free, backfill).count(DateState.COMPLETED) == 5
    assert len(free.jobs.launches) == 5


def test_a_completed_date_is_not_part_of_a_backfill(free: Home) -> None:
    first = start(free, last="2026-02-02")
    run_on(free, 10)
    assert stored(free, first).state is BackfillState.DONE
    second = start(free, last="2026-02-03")
    assert second.dates == ("2026-02-03",)
    with pytest.raises(ConfigError, match="nothing to run: every date from 2026-02-01"):
        start(free, last="2026-02-02")


def test_a_second_backfill_of_the_same_dates_is_refused_until_the_first_is_over(free: Home) -> None:
    first = start(free)
    with pytest.raises(ConflictError, match=f"{first.id} already has 2026-02-04 and 1 more"):
        start(free, first="2026-02-04", last="2026-02-09")
    other = start(free, first="2026-02-06", last="2026-02-09")
    assert other.id != first.id
    turn(free, first, BackfillState.CANCELLED)
    assert start(free, first="2026-02-04", last="2026-02-05").dates


def test_a_failed_date_costs_one_manual_rerun_and_a_spent_budget_refuses_it(free: Home) -> None:
    free.adopt(FREE.replace("maxRetries: 0", "maxRetries: 0, maxManualReruns: 1"))
    free.scripts["free"] = (JobScript(after="1m", result=JobResult.FAIL, error="x"),)
    endings = []
    for _ in range(3):
        backfill = start(free, last="2026-02-01")
        run_on(free, 5)
        endings.append(stored(free, backfill).ended["2026-02-01"])
    assert endings == [DateEnding.FAILED, DateEnding.FAILED, DateEnding.BUDGET]
    assert free.run(RunKey("free", "cron", "2026-02-01")).spending.manual_reruns == 1


def test_runs_say_which_backfill_asked_for_them_until_another_rerun_does(free: Home) -> None:
    free.scripts["free"] = (JobScript(after="1m", result=JobResult.FAIL, error="x"),)
    backfill = start(free, last="2026-02-01")
    run_on(free, 5)
    key = RunKey("free", "cron", "2026-02-01")
    run = free.run(key)
    assert (run.backfill, run.opened_for) == (backfill.id, "backfill: currency")
    free.store.reruns.request(
        RerunRequest(key=key, reason="manual", requested_at=free.clock(), requested_by="bo")
    )
    free.settle()
    assert free.run(key).backfill is None


class LosingBackfills:
    """Another process is always first."""

    def __init__(self, home: Home) -> None:
        self.find = home.store.backfills.find

    def save(self, backfill: Backfill, events: Any = ()) -> bool:
        return False


def test_a_write_that_always_loses_is_given_up_for_now(free: Home) -> None:
    backfill = start(free, max_concurrent=1)
    run_on(free, 1)
    ports = free.with_ports(backfills=LosingBackfills(free))
    with pytest.raises(TransientError, match="other processes changed it first, 8 times"):
        steer_backfill(BackfillTurn(backfill.id, BackfillState.PAUSED, "", "x"), ports)
    free.pass_time(minutes=5)
    key = RunKey("free", "cron", "2026-02-01")
    run = free.run(key)
    free.store.runs.save(run.to(Status.FAILED_FINAL, free.clock()))
    with pytest.raises(TransientError, match="other processes changed it first, 8 times"):
        advance_backfill(backfill.id, ports)
    assert advance_backfill("nope", free.ports) is None


class BrokenBackfills:
    """A store that can't be read just now."""

    def find(self, backfill_id: str) -> Backfill | None:
        raise TransientError("throttled")


def test_a_run_ends_even_if_its_backfill_can_not_be_advanced(free: Home) -> None:
    from interlock.usecases.save_run import RunWrite, save_run

    backfill = start(free, max_concurrent=1)
    free.settle()
    key = RunKey("free", "cron", "2026-02-01")
    ports = free.with_ports(backfills=BrokenBackfills())
    now = free.clock()
    over = save_run(key, lambda run: RunWrite(run.to(Status.FAILED_FINAL, now)), ports)
    assert over.status is Status.FAILED_FINAL
    assert list(stored(free, backfill).begun) == ["2026-02-01"]
    watch(CADENCE, free.ports)
    assert list(stored(free, backfill).begun) == ["2026-02-02"]


class NoRequests:
    """The process dies before the request is stored."""

    def __init__(self, home: Home) -> None:
        self.answers = home.store.reruns.answers

    def request(self, request: RerunRequest) -> None:
        raise TransientError("died")


def test_a_date_whose_request_was_never_stored_is_requested_again_as_it_was(free: Home) -> None:
    order = BackfillOrder(pipeline_id="free", first="2026-02-01", last="2026-02-03", reason="x")
    with pytest.raises(TransientError):
        start_backfill(order, free.with_ports(reruns=NoRequests(free)))
    (backfill,) = free.store.backfills.unsettled()
    assert len(backfill.begun) == 2 and free.store.reruns.unjudged() == []
    free.pass_time(minutes=5)
    watch(CADENCE, free.ports)
    requested = [request.requested_at for request in free.store.reruns.unjudged()]
    asked: list[datetime | None] = [each.at for each in backfill.begun.values()]
    assert requested == asked
    run_on(free, 30)
    assert len(free.jobs.launches) == 3


def test_a_later_request_that_was_refused_ends_the_date_as_replaced(free: Home) -> None:
    pause("free", free.ports)
    order = BackfillOrder(pipeline_id="free", first="2026-02-01", last="2026-02-01", reason="x")
    backfill = start_backfill(order, free.ports)
    assert not stored(free, backfill).begun
    resume("free", free.ports)
    later = free.clock() + timedelta(seconds=5)
    request = msgspec.structs.replace(
        stored(free, backfill).request("2026-02-01"), requested_at=later, backfill=None
    )
    free.store.reruns.request(request)
    free.store.reruns.judged(request, "excluded")
    done = advance_backfill(backfill.id, free.ports)
    assert done is not None and done.ended == {"2026-02-01": DateEnding.REPLACED}


def test_dates_are_shown_with_what_they_are_doing(free: Home) -> None:
    backfill = start(free)
    shown = backfill_dates(backfill, None, None, 3, free.ports)
    assert [each.state for each in shown] == ["requested", "requested", "waiting"]
    free.settle()
    shown = backfill_dates(stored(free, backfill), None, "2026-02-01", 3, free.ports)
    assert [(each.date, each.state) for each in shown] == [
        ("2026-02-02", "running"),
        ("2026-02-03", "waiting"),
        ("2026-02-04", "waiting"),
    ]
    running = backfill_dates(stored(free, backfill), "running", None, 10, free.ports)
    assert [each.date for each in running] == ["2026-02-01", "2026-02-02"]


def test_of_an_unknown_or_retired_pipeline_there_is_no_backfill(free: Home) -> None:
    order = BackfillOrder(pipeline_id="nope", first="2026-02-01", last="2026-02-01", reason="x")
    with pytest.raises(NotFoundError):
        start_backfill(order, free.ports)
    free.take_away("free")
    with pytest.raises(NotFoundError):
        start(free)


def test_existing_runs_of_hours_say_what_a_day_means(home: Home) -> None:
    config = home.adopt()
    from interlock.usecases.plan_backfill import plan_backfill

    schedule = config.pipeline.schedules[0]
    days = plan_backfill(config, schedule, "2026-03-01", "2026-03-02", home.ports)
    assert days == ["2026-03-01", "2026-03-02"]
    home.admit(date="2026-03-02", hour="05")
    hours = plan_backfill(config, schedule, "2026-03-01", "2026-03-02", home.ports)
    assert len(hours) == 48
