"""Skipping: a date that need not run falls silent, and undoing it loses nothing."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from interlock.domain.admission import Ignore
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.run import MarkedAs, OpenedBy, Run, RunKey, Status
from interlock.domain.sla import pruned
from interlock.errors import ConfigError, ConflictError, NotFoundError, TransientError
from interlock.simulation.scenario import JobResult, JobScript
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.cancel_run import cancel_run
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.look_back import look_back
from interlock.usecases.mark_run import mark_run
from interlock.usecases.pause import pause, resume
from interlock.usecases.retry_job import retry_job
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import skip_run
from interlock.usecases.unskip_run import unskip_run
from interlock.usecases.watch import watch
from usecases.home import CADENCE, KEY, NOW, Home, assert_a_crash_changes_nothing

CRON = "schedule: {cron: '0 * * * *', evaluation: {window: 20m, interval: 5m}, grace: 10m}"
SLA = "sla: {deadline: '10:00', expectedDuration: 30m}"
RETRIES = "job: {type: command, config: {command: [etl]}, maxRetries: 3}"
#: The first date whose deadline the file of this morning promises.
MORROW = RunKey("silver-orders", "stream", "2026-03-04")
TROUBLE = (
    EventType.SCHEDULE_MISSED,
    EventType.SLA_WARNING,
    EventType.SLA_BREACH,
    EventType.SENSOR_DEADLINE_EXPIRED,
    EventType.LATE_DATA_ARRIVAL,
    EventType.TRIGGER_RECOVERED,
    EventType.TRIGGER_STARTED,
)


def hour(label: str) -> RunKey:
    return RunKey("silver-orders", "cron", f"2026-03-03T{label}")


def skip(home: Home, key: RunKey = KEY, reason: str = "a holiday", ports: Any = None) -> Run:
    return skip_run(RunOrder(key, "ada", reason), ports or home.ports)


def unskip(home: Home, key: RunKey = KEY, reason: str = "it was none") -> Run | None:
    return unskip_run(RunOrder(key, "bob", reason), home.ports)


def look(home: Home, passes: int = 1, **span: float) -> None:
    for _ in range(passes):
        home.pass_time(**(span or {"minutes": 5}))
        assert watch(CADENCE, home.ports) is not None


def trouble(home: Home) -> list[str]:
    return [event.type for event in home.events() if event.type in TROUBLE]


# --- skipping ---


def test_a_date_without_a_run_is_skipped_and_keeps_who_why_and_when(home: Home) -> None:
    home.adopt()
    run = skip(home)
    assert (run.status, run.opened_by) == (Status.SKIPPED, OpenedBy.OPERATOR)
    assert run.skip is not None and run.skip.created
    assert (run.skip.by, run.skip.at, run.skip.reason) == ("ada", NOW, "a holiday")
    event = home.event(EventType.RUN_SKIPPED)
    assert event.message == "skipped by ada: a holiday"
    assert (event.detail["reason"], event.detail["requestedBy"]) == ("a holiday", "ada")


def test_nothing_at_all_is_said_of_a_skipped_date(home: Home) -> None:
    home.adopt(f"{CRON}\nsla: {{deadline: ':45'}}")
    look(home)
    skip(home, hour("09"))
    look(home, passes=60)
    told = [event for event in home.events() if event.type in TROUBLE]
    assert hour("09").date not in {event.date for event in told}
    assert hour("10").date in {event.date for event in told}  # its neighbour is watched as ever
    assert home.run(hour("09")).status is Status.SKIPPED
    armed = [name for name in home.armed() if name.endswith(hour("09").date)]
    assert all(name.startswith("cron.") for name in armed)


def test_a_waiting_run_is_skipped_and_its_execution_finds_it_over(home: Home) -> None:
    home.adopt(SLA)
    home.admit(count=1)
    assert home.armed()
    run = skip(home)
    assert run.status is Status.SKIPPED and run.skip is not None and not run.skip.created
    assert home.event(EventType.RUN_SKIPPED).detail["runStatus"] == "PENDING"
    assert not home.mode("evaluate")["current"]
    assert not home.armed() and home.run().sla_armed == {}
    assert home.jobs.launches == []


def test_a_timer_that_fires_all_the_same_says_nothing(home: Home) -> None:
    home.adopt(SLA)
    home.admit(count=1)
    armed = home.armed()
    skip(home)
    home.clock.now = max(armed.values()) + timedelta(minutes=1)
    for name in armed:
        kind: Any = name.split(".")[0]
        assert not fire_deadline(KEY, kind, home.ports)
    assert home.run().sla_verdict is None


def test_the_retry_of_a_skipped_run_never_comes(home: Home) -> None:
    home.scripts["silver-orders"] = (JobScript(result=JobResult.FAIL),)
    home.adopt(RETRIES)
    home.launched()
    home.finish("fail")
    assert home.run().awaits_retry
    skip(home)
    home.pass_time(hours=1)
    retry_job(KEY, 0, home.ports)
    look(home, passes=3)
    assert (home.run().status, home.run().attempt) == (Status.SKIPPED, 0)


@pytest.mark.parametrize("event", ["fail", "timeout"])
def test_a_run_that_failed_for_good_is_skipped(home: Home, event: str) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 0}")
    home.launched()
    home.finish(event)
    assert home.run().status is Status.FAILED_FINAL
    assert skip(home).status is Status.SKIPPED


@pytest.mark.parametrize("scene", ["launching", "running"])
def test_a_run_with_a_job_must_be_cancelled_first(home: Home, scene: str) -> None:
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.adopt()
    if scene == "running":
        home.launched()
    else:
        home.admit()
        home.mode("evaluate")
        home.store.runs.save(home.run().to(Status.TRIGGERING, NOW))
    with pytest.raises(ConflictError, match="its job is running: cancel it first"):
        skip(home)
    assert home.events(EventType.RUN_SKIPPED) == []


def test_a_run_that_is_done_has_nothing_to_skip(home: Home) -> None:
    home.adopt()
    home.completed()
    with pytest.raises(ConflictError, match="2026-03-03: it is done: there is nothing to skip"):
        skip(home)


def test_a_date_that_the_schedule_does_not_know_is_refused(home: Home) -> None:
    home.adopt("schedule: {cron: '30 8 * * *', exclude: {weekends: true}}")
    for date in ("2026-03-07", "2026-03-04T09"):
        with pytest.raises(ConfigError, match="is not a date of its schedule cron"):
            skip(home, RunKey("silver-orders", "cron", date))
    assert skip(home, RunKey("silver-orders", "cron", "2027-01-04")).status is Status.SKIPPED


def test_a_row_that_can_not_be_read_is_left_alone(home: Home) -> None:
    home.adopt()
    home.admit(count=1)
    home.database.write(lambda connection: connection.execute("UPDATE runs SET run = '{'"))
    order = RunOrder(KEY, "ada", "why")
    acts: list[Any] = [skip_run, unskip_run]
    acts.append(lambda order, ports: mark_run(order, MarkedAs.DONE, {}, ports))
    for act in acts:
        with pytest.raises(ConflictError, match="its stored row can't be read"):
            act(order, home.ports)


def test_an_unknown_pipeline_or_schedule_is_named(home: Home) -> None:
    home.adopt()
    with pytest.raises(NotFoundError, match="there is no pipeline nope"):
        skip(home, RunKey("nope", "stream", "2026-03-03"))
    with pytest.raises(ConfigError, match="has no schedule cron; it has stream"):
        skip(home, RunKey("silver-orders", "cron", "2026-03-03"))


def test_skipping_again_changes_nothing(home: Home) -> None:
    home.adopt()
    first = skip(home)
    state = home.state()
    home.pass_time(minutes=1)
    assert skip(home, reason="really") == first and home.state() == state


@pytest.mark.parametrize("opened", [True, False])
def test_dying_while_skipping_and_asking_again_leads_to_the_same(opened: bool) -> None:
    def scene(home: Home) -> None:
        home.adopt(SLA)
        if opened:
            home.admit(count=1)

    plain = assert_a_crash_changes_nothing(scene, skip)
    assert plain.run().status is Status.SKIPPED


def test_a_run_that_opens_at_the_same_moment_is_skipped_all_the_same(home: Home) -> None:
    home.adopt()
    runs = home.store.runs

    class Late:
        """A store in which a run comes first, once."""

        def __getattr__(self, name: str) -> Any:
            return getattr(runs, name)

        def open(self, run: Run, events: Any = ()) -> bool:
            home.admit(count=1)
            return runs.open(run, events)

    run = skip(home, ports=home.with_ports(runs=Late()))
    assert (run.status, run.opened_by) == (Status.SKIPPED, OpenedBy.SENSOR)


def test_a_writer_that_always_loses_gives_up(home: Home) -> None:
    home.adopt()
    runs = home.store.runs

    class Never:
        def __getattr__(self, name: str) -> Any:
            return getattr(runs, name)

        def open(self, run: Run, events: Any = ()) -> bool:
            return False

    with pytest.raises(TransientError, match="other processes got there first"):
        skip(home, ports=home.with_ports(runs=Never()))


# --- what a skipped date answers ---


def test_a_reading_of_a_skipped_date_is_ignored_and_told_who_and_why(home: Home) -> None:
    home.adopt()
    skip(home)
    reading = home.reading(date="2026-03-03", count=1)
    (admission,) = admit_reading(reading, home.ports)
    assert isinstance(admission, Ignore)
    assert "the date is skipped by ada: a holiday" in admission.reason
    assert "interlock unskip" in admission.reason
    look(home, passes=4)
    assert home.run().status is Status.SKIPPED and not home.started()


def test_a_rerun_of_a_skipped_date_is_refused(home: Home) -> None:
    home.adopt()
    skip(home)
    judge_rerun(home.request(), home.ports)
    event = home.event(EventType.RERUN_REJECTED)
    assert event.detail["cause"] == "skipped" and "unskip" in event.message


def test_a_skipped_date_can_not_be_cancelled(home: Home) -> None:
    home.adopt()
    skip(home)
    with pytest.raises(ConflictError, match="it is skipped: there is nothing to cancel"):
        cancel_run(RunOrder(KEY, "ada", "why"), home.ports)


def test_a_skipped_hour_does_not_stand_in_for_its_day(home: Home) -> None:
    home.adopt(SLA)
    look(home)
    skip(home, RunKey("silver-orders", "stream", f"{MORROW.date}T05"))
    look(home, hours=51)
    assert home.event(EventType.SLA_BREACH).date == MORROW.date


# --- undoing it ---


def test_a_date_that_only_the_skip_opened_is_expected_again(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    skip(home, hour("10"))
    assert unskip(home, hour("10")) is None
    assert home.store.runs.find([hour("10")]) == {}
    event = home.event(EventType.RUN_UNSKIPPED)
    assert event.message == "the skip was undone by bob: it was none"
    assert (event.detail["skippedBy"], event.detail["skipReason"]) == ("ada", "a holiday")
    home.clock.now = NOW + timedelta(hours=2)
    home.settle()
    run = home.run(hour("10"))
    assert (run.status, run.attempt, run.opened_by) == (Status.PENDING, 0, OpenedBy.CRON)


def test_a_moment_that_passed_meanwhile_is_fired_late_at_once(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    skip(home, hour("09"))
    look(home, passes=13)
    run = unskip(home, hour("09"))
    assert run is not None and run.status is Status.PENDING


def test_a_date_that_can_no_longer_run_is_reported_missed(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    skip(home, hour("09"))
    for _ in range(40):
        look(home)
    assert unskip(home, hour("09")) is None
    look(home)
    assert hour("09").date in {event.date for event in home.events(EventType.SCHEDULE_MISSED)}


def test_a_reading_that_came_meanwhile_opens_the_date(home: Home) -> None:
    home.adopt()
    skip(home)
    home.admit(count=1)
    run = unskip(home)
    assert run is not None and run.status is Status.PENDING
    assert (run.attempt, run.opened_by) == (0, OpenedBy.SENSOR)


def test_a_deadline_that_passed_meanwhile_is_told_and_one_ahead_is_armed(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00', expectedDuration: 30m}")
    look(home)
    skip(home, MORROW)
    unskip(home, MORROW)
    assert home.armed()
    home.pass_time(minutes=1)
    skip(home, MORROW, "after all")
    assert not home.armed()
    look(home, hours=51)
    assert trouble(home) == []
    unskip(home, MORROW)
    look(home)
    assert home.event(EventType.SLA_BREACH).date == MORROW.date
    watched = home.store.claims.watch(MORROW)
    assert watched is not None and watched.verdict is SlaVerdict.BREACHED
    assert len(home.events(EventType.RUN_SKIPPED)) == len(home.events(EventType.RUN_UNSKIPPED)) == 2


def test_a_run_that_had_attempts_gets_a_further_one_that_no_budget_pays(home: Home) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 0, maxManualReruns: 0}")
    home.launched()
    home.finish("fail")
    spent = home.run().spending
    skip(home)
    run = unskip(home)
    assert run is not None and (run.status, run.attempt) == (Status.PENDING, 1)
    assert (run.opened_by, run.opened_for) == (OpenedBy.OPERATOR, "unskip")
    assert (run.spending, run.skip, run.failure) == (spent, None, None)
    assert run.execution_name in home.started()


def test_an_open_run_has_its_deadlines_back(home: Home) -> None:
    home.adopt(SLA)
    home.admit(count=1)
    armed = home.armed()
    skip(home)
    unskip(home)
    assert home.armed() == armed
    assert set(home.run().sla_armed.values()) <= set(armed.values())


def test_what_is_not_skipped_can_not_be_undone(home: Home) -> None:
    home.adopt()
    with pytest.raises(ConflictError, match="it has no run, and is not skipped"):
        unskip(home)
    home.admit(count=1)
    with pytest.raises(ConflictError, match="it is not skipped"):
        unskip(home)


@pytest.mark.parametrize("scene", ["sensor", "cron", "waiting"])
def test_dying_while_undoing_and_asking_again_leads_to_the_same(scene: str) -> None:
    key = hour("09") if scene == "cron" else KEY

    def skipped(home: Home) -> None:
        home.adopt(f"{CRON}\nsla: {{deadline: ':45'}}" if scene == "cron" else SLA)
        look(home)
        if scene == "waiting":
            home.admit(count=1)
        skip(home, key)
        home.pass_time(minutes=65)
        if scene == "sensor":
            home.admit(count=1)

    plain = assert_a_crash_changes_nothing(skipped, lambda home: unskip(home, key))
    assert plain.run(key).status is Status.PENDING


def test_a_date_is_not_lost_if_the_operator_never_asks_again(home: Home) -> None:
    """The watchdog was asked to look back before the row went."""
    home.adopt(CRON)
    look(home)
    skip(home, hour("09"))
    look(home, passes=30)
    runs = home.store.runs

    class Dying:
        def __getattr__(self, name: str) -> Any:
            return getattr(runs, name)

        def remove(self, *given: Any) -> bool:
            runs.remove(*given)
            raise KeyboardInterrupt

    order = RunOrder(hour("09"), "bob", "it was none")
    with pytest.raises(KeyboardInterrupt):
        unskip_run(order, home.with_ports(runs=Dying()))
    look(home, passes=2)
    assert hour("09").date in {event.date for event in home.events(EventType.SCHEDULE_MISSED)}
    assert len(home.events(EventType.RUN_UNSKIPPED)) == 1


def test_a_request_to_look_back_outlasts_the_pass_that_is_under_way(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    skip(home, hour("09"))
    look(home, passes=30)
    events = home.store.events
    undone = False

    class Busy:
        """A bus over which the operator comes in between."""

        def __getattr__(self, name: str) -> Any:
            return getattr(events, name)

        def publish(self, told: Any) -> None:
            nonlocal undone
            if not undone:
                undone = True
                unskip(home, hour("09"))
            events.publish(told)

    home.pass_time(minutes=5)
    while not undone:
        home.pass_time(minutes=5)
        watch(CADENCE, home.with_ports(events=Busy()))
    assert home.store.watch.load().pass_until is None
    look(home)
    assert hour("09").date in {event.date for event in home.events(EventType.SCHEDULE_MISSED)}


def test_a_second_request_to_look_back_during_a_pass_is_not_lost(home: Home) -> None:
    """It asks for no earlier instant than the pass began with, and the pass may be past it."""
    home.adopt(CRON)
    look(home)
    look_back("silver-orders", NOW, home.ports)
    claimed = home.store.watch.load()
    under_way = {"version": claimed.version + 1, "pass_until": home.clock.now + CADENCE}
    home.store.watch.save(msgspec.structs.replace(claimed, **under_way))
    look_back("silver-orders", NOW + timedelta(minutes=1), home.ports)
    state = home.store.watch.load()
    assert state.lagging["silver-orders"] < NOW


def test_what_is_to_come_needs_no_look_back_and_asking_twice_writes_once(home: Home) -> None:
    home.adopt(CRON)
    look_back("silver-orders", NOW, home.ports)  # no pass has been made yet
    look(home)
    version = home.store.watch.load().version
    look_back("silver-orders", home.clock.now + timedelta(hours=1), home.ports)
    assert home.store.watch.load().version == version
    for _ in range(2):
        look_back("silver-orders", NOW - timedelta(days=90), home.ports)
    state = home.store.watch.load()
    assert state.version == version + 1
    assert state.lagging["silver-orders"] > NOW - timedelta(days=31)
    look(home)
    assert home.store.watch.load().lagging == {}
    assert home.events(EventType.WATCHDOG_RECOVERED) == []


def test_a_look_back_that_always_loses_gives_up(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    watch_row = home.store.watch

    class Never:
        def __getattr__(self, name: str) -> Any:
            return getattr(watch_row, name)

        def save(self, state: Any) -> bool:
            return False

    with pytest.raises(TransientError, match="other processes got there first"):
        look_back("silver-orders", NOW, home.with_ports(watch=Never()))


def test_a_paused_pipeline_opens_nothing_until_it_is_resumed(home: Home) -> None:
    home.adopt()
    skip(home)
    home.admit(count=1)
    pause("silver-orders", home.ports)
    assert unskip(home) is None
    home.pass_time(minutes=5)
    resume("silver-orders", home.ports)
    look(home, passes=4)
    assert home.run().status is Status.PENDING


def test_the_readings_of_a_pruned_run_do_not_open_its_date_again(home: Home) -> None:
    home.adopt()
    home.admit(count=1)
    home.launched()
    home.finish()
    home.store.claims.save_watch(pruned(home.run(), NOW))
    home.database.write(lambda connection: connection.execute("DELETE FROM runs"))
    home.pass_time(minutes=1)
    assert skip(home).attempt == 1
    assert unskip(home) is None
    look(home, passes=4)
    assert home.store.runs.find([KEY]) == {}


def test_a_dry_run_is_skipped_and_undone_without_events(home: Home) -> None:
    home.adopt("dryRun: true")
    assert skip(home).key.dry
    assert unskip(home) is None
    assert home.told() == []
