"""One pass of the watchdog: what it finds and does, and what it does when it fails itself."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from interlock.adapters.sqlite.workflows import Progress
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.run import EngineState, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.errors import TransientError, UnavailableError
from interlock.simulation.scenario import Call
from interlock.usecases.conclude_pass import PassReport
from interlock.usecases.pause import pause, resume
from interlock.usecases.ports import Ports
from interlock.usecases.watch import watch
from usecases.home import CADENCE, KEY, NOW, Home, assert_a_crash_changes_nothing

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CRON = "schedule: {cron: '30 * * * *', evaluation: {window: 30m}}"
DEGRADED, RECOVERED = EventType.WATCHDOG_DEGRADED, EventType.WATCHDOG_RECOVERED
MISSED = EventType.SCHEDULE_MISSED


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


def look(home: Home, ports: Ports | None = None, **span: float) -> PassReport:
    """Time passes, and the watchdog makes a pass."""
    home.pass_time(**(span or {"minutes": 5}))
    report = watch(CADENCE, ports or home.ports)
    assert report is not None
    return report


def pipeline(name: str, text: str = CRON) -> str:
    return f"pipeline: {{id: {name}}}\n{text}"


def end_execution(home: Home, name: str) -> None:
    claimed = home.store.workflows.claim(name, home.clock())
    assert claimed is not None
    home.store.workflows.define("d", "{}")
    ended = Progress(
        definition="d", snapshot="{}", status="FAILED", state="X", wake_at=NOW, ended_at=NOW
    )
    home.store.workflows.store(claimed, ended)
    home.store.workflows.let_go(claimed)


# --- a pass ---


def test_a_pass_over_nothing_finds_nothing(home: Home) -> None:
    report = look(home)
    assert (report.findings, report.failures) == ([], [])
    state = home.store.watch.load()
    assert state.last_pass_at == state.last_ok_at == state.since == home.clock()
    assert state.pass_until is None


def test_only_one_pass_is_made_at_a_time(home: Home) -> None:
    state = home.store.watch.load()
    held = type(state)(version=1, pass_until=NOW + timedelta(minutes=4))
    assert home.store.watch.save(held)
    assert watch(CADENCE, home.ports) is None
    home.pass_time(minutes=4)  # its holder has died
    assert watch(CADENCE, home.ports) is not None


class LosingWatch:
    """A row that another pass always claims first."""

    def __init__(self, home: Home) -> None:
        self.load = home.store.watch.load

    def save(self, state: object) -> bool:
        return False


def test_who_loses_the_claim_does_nothing(home: Home) -> None:
    home.adopt(CRON)
    home.pass_time(hours=3)
    assert watch(CADENCE, home.with_ports(watch=LosingWatch(home))) is None
    assert home.told() == []


def test_what_was_left_lying_is_swept_up(home: Home) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxCodeRetries: 0}")
    home.launched()
    home.finish("fail", category="PERMANENT")
    home.request()
    home.want(pipeline("gold"))
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        home.admit("orders", date="soon")  # a rejection that could not be told
    look(home)
    assert home.run().attempt == 1  # the request is judged
    assert home.store.pipelines.find("gold") is not None  # the file is in force
    assert EventType.SENSOR_REJECTED in home.told()  # the event is published


# --- its findings ---


def test_a_missed_hour_is_reported_once_however_often_it_is_found(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    look(home, minutes=70)
    for _ in range(5):
        look(home)
    assert [event.date for event in home.events(MISSED)] == ["2026-03-03T08"]
    event = home.event(MISSED)
    assert event.detail["due"] == "2026-03-03T08:30:00Z"
    assert event.detail["cause"] == "controller-down"
    assert (event.detail["cron"], event.detail["grace"]) == ("30 * * * *", "10m")


def test_a_moment_within_its_window_is_fired_late_and_told_as_recovered(home: Home) -> None:
    home.adopt(CRON)
    look(home, minutes=45)
    assert home.told() == ["TRIGGER_STARTED", "TRIGGER_RECOVERED"]
    event = home.event(EventType.TRIGGER_RECOVERED)
    assert (event.detail["how"], event.detail["lateBy"]) == ("late-fire", "15m")
    look(home)
    assert len(home.events(EventType.TRIGGER_RECOVERED)) == 1


def test_the_cause_says_whether_the_controller_was_there(home: Home) -> None:
    home.adopt("schedule: {cron: '30 9 * * *', time: '16:00', evaluation: {window: 5m}}")
    look(home)
    look(home, hours=4)  # down over the moment, and back before it counts as missed
    assert home.events(MISSED) == []
    for _ in range(50):
        look(home)
    assert home.event(MISSED).detail["cause"] == "controller-down"


def test_a_moment_that_a_living_controller_did_not_fire_says_so(home: Home) -> None:
    home.adopt("schedule: {cron: '30 9 * * *', evaluation: {window: 1m}}")
    for _ in range(24):
        look(home)  # no timer is ever fired here
    assert home.event(MISSED).detail["cause"] == "not-fired"


def test_a_run_that_was_never_started_is_started_and_published_once(home: Home) -> None:
    home.adopt()
    home.fails(Call.START)
    with pytest.raises(TransientError):
        home.admit()
    look(home)
    assert home.started() == ["silver-orders-stream-2026-03-03"]
    event = home.event(EventType.TRIGGER_RECOVERED)
    assert event.detail["how"] == "restart"
    look(home)
    assert len(home.events(EventType.TRIGGER_RECOVERED)) == 1


def test_a_start_that_still_fails_is_not_told_as_recovered(home: Home) -> None:
    home.adopt()
    home.fails(Call.START, 2)
    with pytest.raises(TransientError):
        home.admit()
    report = look(home)
    assert [(f.check, f.pipeline) for f in report.failures] == [("stale-triggers", "silver-orders")]
    assert home.events(EventType.TRIGGER_RECOVERED) == []
    look(home)
    assert len(home.events(EventType.TRIGGER_RECOVERED)) == 1


def test_an_execution_that_runs_is_noted(home: Home) -> None:
    home.adopt()
    home.admit()
    look(home)
    assert home.run().started_at == home.clock()
    assert home.events(EventType.TRIGGER_RECOVERED) == []


def test_a_run_that_outlived_its_lease_with_its_engine_is_slow_not_dead(home: Home) -> None:
    home.adopt()
    home.launched()
    look(home, hours=5)
    run = home.run()
    assert run.status is Status.RUNNING
    assert run.lease_until == home.clock() + timedelta(minutes=30)
    assert home.events(EventType.SFN_TIMEOUT) == []


def hang(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00'}")
    home.launched()
    launch = home.jobs.launches[-1]
    launch.script = type(launch.script)(hang=True)
    end_execution(home, home.run().execution_name)


def test_a_run_whose_execution_is_over_is_timed_out_and_its_job_asked_to_stop(home: Home) -> None:
    hang(home)
    look(home, hours=5)
    assert home.run().status is Status.FAILED_FINAL
    event = home.event(EventType.SFN_TIMEOUT)
    assert event.message.startswith("step function timed out for silver-orders")
    assert (event.detail["engineStatus"], event.detail["runStatus"]) == ("ended", "RUNNING")
    assert home.jobs.launches[-1].cancelled
    assert any(name.startswith("breach") for name in home.armed())  # it still breaches
    look(home)
    assert len(home.events(EventType.SFN_TIMEOUT)) == 1


def test_a_job_that_ended_well_completes_its_run_from_the_job_log(home: Home) -> None:
    hang(home)
    home.pass_time(minutes=30)
    home.job_says("success")
    look(home, hours=5)
    run = home.run()
    assert (run.status, run.completed_at) == (Status.COMPLETED, NOW + timedelta(minutes=30))
    assert run.sla_verdict is SlaVerdict.MET
    assert home.event(EventType.TRIGGER_RECOVERED).detail["how"] == "completion"
    assert home.events(EventType.SFN_TIMEOUT) == []


class SilentEngine:
    """An engine that can't be reached."""

    def __init__(self, home: Home) -> None:
        self._workflows = home.store.workflows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workflows, name)

    def describe(self, name: str) -> EngineState:
        raise UnavailableError("the engine can't be asked")


def test_an_unavailable_engine_declares_no_run_dead(home: Home) -> None:
    hang(home)
    ports = home.with_ports(workflows=SilentEngine(home))
    report = look(home, ports, hours=5)
    assert home.run().status is Status.RUNNING
    assert [(f.check, f.pipeline) for f in report.failures] == [("stale-triggers", "silver-orders")]
    assert home.event(DEGRADED).message == "watchdog checks failed: stale-triggers (silver-orders)"


def test_an_engine_that_can_not_be_asked_blinds_no_other_check(home: Home) -> None:
    home.adopt(
        "schedule: {trigger: {key: orders, check: exists}, dayOffset: 0}\nsla: {deadline: '10:00'}"
    )
    home.pass_time(days=1)
    look(home)
    home.admit(date="2026-03-04")
    home.store.timers.cancel(list(home.armed()))
    report = look(home, home.with_ports(workflows=SilentEngine(home)), hours=5)
    assert [failure.check for failure in report.failures] == ["stale-triggers"]
    assert len(home.events(EventType.SLA_BREACH)) == 1


def test_a_reading_whose_change_was_lost_is_acted_on_after_a_doubt(home: Home) -> None:
    home.adopt()
    look(home)
    home.reading(date="2026-03-03")
    look(home)
    assert home.store.runs.find([KEY]) == {}  # it may be on its way this very second
    assert len(home.store.watch.load().suspects) == 1
    look(home)
    assert home.run().status is Status.PENDING
    event = home.event(EventType.TRIGGER_RECOVERED)
    assert (event.detail["how"], event.detail["key"]) == ("reading", "orders")
    look(home)
    assert home.store.watch.load().suspects == {}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"date": "2026-03-01"}, "PIPELINE_EXCLUDED"),
        ({"date": "soon"}, "SENSOR_REJECTED"),
        ({"date": "2026-03-03", "count": 0}, None),  # it does not pass
    ],
)
def test_what_a_lost_change_should_have_published_is_published_once(
    home: Home, fields: dict[str, Any], told: str | None
) -> None:
    home.adopt(
        "schedule: {trigger: {key: orders, check: gt, field: count, value: 0},"
        " exclude: {weekends: true}}"
    )
    look(home)
    home.reading(**({"count": 5} | fields))
    for _ in range(5):
        look(home)
    assert home.told() == ([] if told is None else [told])


def test_late_data_whose_change_was_lost_is_found(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    home.reading(date="2026-03-03", count=2)
    for _ in range(3):
        look(home)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    assert home.run().attempt == 1


def test_a_date_that_nothing_opened_is_closed_at_its_deadline(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists, deadline: '06:30'}, dayOffset: 1}")
    look(home)
    key = RunKey("silver-orders", "stream", "2026-03-04")
    home.clock.now = datetime.fromisoformat("2026-03-05T06:30Z")
    look(home)
    run = home.run(key)
    assert (run.status, run.failure and run.failure.reason) == (Status.FAILED_FINAL, "deadline")
    event = home.event(EventType.SENSOR_DEADLINE_EXPIRED)
    assert event.detail["trigger"]["kind"] == "sensor_missing"
    assert event.detail["triggerDeadline"] == "06:30"
    look(home)
    home.admit(date="2026-03-04")  # too late: only a rerun opens it
    assert home.run(key) == run
    home.request(key=key)
    look(home)
    assert home.run(key).attempt == 1


def test_hours_of_a_day_stand_in_for_it(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00'}")
    look(home)
    home.admit(date="2026-03-03", hour=7)
    home.settle()
    home.pass_time(minutes=1)
    home.settle()
    home.clock.now = datetime.fromisoformat("2026-03-04T10:30Z")
    look(home)
    assert home.run(RunKey("silver-orders", "stream", "2026-03-03T07")).status is Status.COMPLETED
    assert home.events(EventType.SLA_BREACH) == []  # neither the hour nor its day


def test_a_listed_date_that_never_came_is_reported_with_its_trigger(home: Home) -> None:
    home.adopt(
        "schedule: {include: {dates: [2026-03-03]}, time: '09:00',"
        " trigger: {key: orders, check: gt, field: count, value: 5}}"
    )
    look(home)
    home.reading(date="2026-03-03", count=1)
    look(home, hours=2)
    event = home.event(EventType.IRREGULAR_SCHEDULE_MISSED)
    assert event.detail["trigger"]["kind"] == "not_greater"
    assert event.detail["trigger"]["actual"] == 1


def test_a_deadline_without_a_timer_is_judged_all_the_same(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00', expectedDuration: 30m}")
    look(home)
    day = RunKey("silver-orders", "stream", "2026-03-04")
    home.clock.now = datetime.fromisoformat("2026-03-05T09:00Z")
    look(home)
    assert len(home.armed()) == 2
    home.store.timers.cancel(list(home.armed()))  # they vanish
    home.clock.now = datetime.fromisoformat("2026-03-05T10:02Z")
    look(home)
    event = home.event(EventType.SLA_BREACH)
    assert event.detail["lateBy"] == "7m"
    assert home.events(EventType.SLA_WARNING) == []  # the breach says more
    watched = home.store.claims.watch(day)
    assert watched is not None and watched.verdict is SlaVerdict.BREACHED


def test_a_relative_deadline_without_a_timer_is_judged_all_the_same(home: Home) -> None:
    home.adopt("sla: {maxDuration: 1h}\nvalidation: {rules: [{key: stock, check: exists}]}")
    home.admit()
    home.store.timers.cancel(list(home.armed()))
    look(home, hours=2)
    assert len(home.events(EventType.RELATIVE_SLA_BREACH)) == 1


def audited(home: Home) -> None:
    home.adopt("postRun: {rules: [{key: audit, check: exists}, {key: totals, check: exists}]}")
    home.completed()


def test_post_run_readings_that_never_came_are_reported_once(home: Home) -> None:
    audited(home)
    home.pass_time(minutes=1)
    home.admit("audit")
    look(home, hours=2)
    event = home.event(EventType.POST_RUN_SENSOR_MISSING)
    assert event.detail["missing"] == ["totals"]
    assert list(event.detail["lastSeen"]) == ["audit"]
    assert event.message == "post-run sensor not received within 2h of completion: totals"
    look(home)
    assert len(home.events(EventType.POST_RUN_SENSOR_MISSING)) == 1


def test_post_run_readings_that_came_some_other_way_are_not_missing(home: Home) -> None:
    audited(home)
    done_at = home.run().completed_at
    assert done_at is not None
    for key in ("audit", "totals"):  # they were not admitted, but their producer dates them
        later = (done_at + timedelta(minutes=1)).isoformat()
        home.reading(key, date="2026-03-03", updatedAt=later)
    look(home, hours=2)
    assert home.events(EventType.POST_RUN_SENSOR_MISSING) == []
    assert home.run().post_run.missing_judged


def test_a_retry_whose_timer_never_came_is_made(home: Home) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.launched()
    home.finish("fail")
    look(home)
    assert home.run().attempt == 1
    assert home.event(EventType.TRIGGER_RECOVERED).detail["how"] == "restart"


def test_a_dry_run_that_was_never_started_is_started_by_the_next_pass(home: Home) -> None:
    home.adopt("dryRun: true")
    home.fails(Call.START)
    with pytest.raises(TransientError):
        home.admit()
    look(home)
    home.settle()
    assert home.run(msgspec.structs.replace(KEY, dry=True)).status is Status.COMPLETED
    assert home.told().count("DRY_RUN_COMPLETED") == 1


def test_a_dry_run_has_no_deadlines_and_no_missed_dates(home: Home) -> None:
    home.adopt(
        "dryRun: true\nsla: {deadline: '10:00'}\n"
        "schedule: {cron: '30 * * * *', trigger: {key: orders, check: exists}}"
    )
    look(home)
    look(home, days=2)
    assert home.told() == ["WATCHDOG_RECOVERED"]


def test_a_schedule_that_its_file_has_dropped_is_watched_for_what_it_left_open(home: Home) -> None:
    hang(home)
    home.adopt("schedule: {cron: '0 4 * * *'}")
    report = look(home, hours=5)
    assert report.failures == []
    assert home.run().status is Status.FAILED_FINAL
    assert len(home.events(EventType.SFN_TIMEOUT)) == 1


def test_a_retired_pipeline_is_watched_for_what_it_left_open(home: Home) -> None:
    hang(home)
    home.pass_time(minutes=1)
    home.take_away()
    look(home, hours=5)
    assert home.run().status is Status.FAILED_FINAL
    assert home.told()[-1] == "SFN_TIMEOUT"
    look(home, days=2)
    assert home.events(EventType.SLA_BREACH) == []


def test_a_run_of_an_unknown_pipeline_is_no_error(home: Home) -> None:
    home.adopt()
    home.admit()
    home.database.write(lambda connection: connection.execute("DELETE FROM pipelines"))
    assert look(home, hours=5).failures == []


# --- paused ---


def test_a_paused_pipeline_is_held_and_no_date_of_the_pause_is_lost(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    pause("silver-orders", home.ports)
    for _ in range(40):
        look(home)
    assert home.told() == [EventType.PIPELINE_PAUSED]
    assert set(home.store.watch.load().lagging) == {"silver-orders"}
    resume("silver-orders", home.ports)
    look(home)
    told = home.events(MISSED) + home.events(EventType.TRIGGER_STARTED)
    assert sorted(event.date or "" for event in told) == [
        "2026-03-03T08",
        "2026-03-03T09",
        "2026-03-03T10",
    ]
    assert home.store.watch.load().lagging == {}


def test_deadlines_count_in_a_pause(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00'}\nschedule: {cron: '30 8 * * *'}")
    look(home)
    pause("silver-orders", home.ports)
    look(home, hours=3)
    assert home.event(EventType.SLA_BREACH).detail["blockedBy"] == ["paused", "no run was opened"]


# --- since ---


def test_a_new_pipeline_raises_nothing_for_the_past(home: Home) -> None:
    look(home)
    look(home, days=3)
    home.adopt("sla: {deadline: '07:00'}\nschedule: {cron: '0 6 * * *'}")
    look(home)
    assert [kind for kind in home.told() if kind != "WATCHDOG_RECOVERED"] == []


@pytest.mark.parametrize(
    ("outage", "hours"), [(timedelta(minutes=10), 0), (3 * HOUR, 3), (2 * DAY, 48)]
)
def test_an_outage_is_looked_at_hour_by_hour(home: Home, outage: timedelta, hours: int) -> None:
    home.adopt(CRON)
    look(home)
    look(home, seconds=outage.total_seconds())
    told = home.events(MISSED) + home.events(EventType.TRIGGER_STARTED)
    assert len({event.date for event in told}) == len(told) == hours


def test_what_lies_farther_back_than_a_month_is_named(home: Home) -> None:
    home.adopt("schedule: {cron: '30 9 * * *'}")
    look(home)
    look(home, days=40)
    event = home.event(RECOVERED)
    farthest = home.clock() - timedelta(days=31)
    assert event.detail["notWatched"] == farthest.strftime("%Y-%m-%dT%H:%M:%SZ")
    missed = home.events(MISSED)
    assert len(missed) == 31
    assert {each.detail["notWatched"] for each in missed} == {event.detail["notWatched"]}


def test_a_pause_of_more_than_a_month_is_not_skipped_in_silence(home: Home) -> None:
    home.adopt("schedule: {cron: '30 9 * * *'}")
    look(home)
    pause("silver-orders", home.ports)
    for _ in range(40):
        home.pass_time(days=1)
        watch(DAY, home.ports)  # no gap: the watchdog is there, and holds
    assert home.events(RECOVERED) == []
    resume("silver-orders", home.ports)
    look(home)
    assert home.event(RECOVERED).detail["notWatched"]
    assert len(home.events(MISSED)) == 31
    look(home)
    assert len(home.events(RECOVERED)) == 1


def test_dates_of_old_can_be_looked_at_by_hand(home: Home) -> None:
    home.adopt(CRON)
    for _ in range(5):
        look(home)
    home.pass_time(hours=1)
    report = watch(CADENCE, home.ports, since=NOW)
    assert report is not None
    assert [event.date for event in home.events(MISSED)] == ["2026-03-03T08"]


# --- where reading costs something ---


NEVER = timedelta(days=3650)


class CountingSensors:
    """Notes whose readings were looked for."""

    def __init__(self, home: Home) -> None:
        self._sensors, self.asked = home.store.sensors, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sensors, name)

    def between(self, pipeline_id: str, *given: Any) -> list[Reading]:
        self.asked.append(pipeline_id)
        return self._sensors.between(pipeline_id, *given)


def test_readings_are_looked_for_only_in_a_pipelines_turn(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists}}")
    look(home)
    sensors = CountingSensors(home)
    ports = home.with_ports(sensors=sensors)
    for _ in range(6):
        home.pass_time(minutes=5)
        assert watch(CADENCE, ports, reconcile_every=timedelta(minutes=15)) is not None
    assert len(sensors.asked) == 2


def test_a_suspicion_is_followed_up_in_the_next_pass_whosever_turn_it_is(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists}}")
    home.reading(date="2026-03-03")  # and its change was lost
    look(home)
    home.pass_time(minutes=5)
    watch(CADENCE, home.ports, reconcile_every=NEVER)
    assert home.run().status is Status.PENDING


def test_before_a_date_is_closed_its_reading_is_looked_for_whosever_turn_it_is(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists, deadline: '08:30'}, dayOffset: 0}")
    look(home, days=1)
    home.reading(date="2026-03-04")  # in time, but its change was lost
    for _ in range(7):
        home.pass_time(minutes=5)
        watch(CADENCE, home.ports, reconcile_every=NEVER)
    assert home.run(RunKey("silver-orders", "stream", "2026-03-04")).status is Status.PENDING
    assert EventType.SENSOR_DEADLINE_EXPIRED not in home.told()


def test_a_pass_for_which_the_time_was_too_short_says_so_and_the_next_goes_on_there(
    home: Home,
) -> None:
    """So many that they can't all be noted as lagging: a hundred a pass, and every pipeline gets its turn."""
    names = [f"p{n:03}" for n in range(701)]
    for name in names:
        home.adopt(pipeline(name, "schedule: {trigger: {key: orders, check: exists}}"))
    sensors, looked = CountingSensors(home), list[list[str]]()
    ports = home.with_ports(sensors=sensors)
    for _ in range(3):
        home.pass_time(minutes=5)
        sensors.asked.clear()
        times = iter([True])
        report = watch(CADENCE, ports, has_time=lambda times=times: next(times, False))  # type: ignore[misc]
        assert report is not None and len(report.left_out) == 601
        looked.append(list(sensors.asked))
    assert [name for each in looked for name in each] == names[:300]
    home.pass_time(minutes=5)
    assert DEGRADED not in home.told()
    home.pass_time(seconds=1)
    late = watch(CADENCE, ports, has_time=lambda: False)
    assert late is not None and ("time", "*") in {(f.check, f.pipeline) for f in late.failures}
    assert home.store.watch.load().since is None  # no pipeline counts as looked at


# --- when it fails itself ---


class PoisonedSensors:
    """Readings of one pipeline that can't be read."""

    def __init__(self, home: Home, poisoned: str) -> None:
        self._sensors, self._poisoned = home.store.sensors, poisoned

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sensors, name)

    def between(self, pipeline_id: str, *given: Any) -> list[Reading]:
        if pipeline_id == self._poisoned:
            raise ValueError("this reading can't be decoded")
        return self._sensors.between(pipeline_id, *given)


BOTH = "schedule: {cron: '30 * * * *', trigger: {key: orders, check: exists}}"


def test_one_bad_pipeline_never_blinds_the_others(home: Home) -> None:
    for name in ("bad", "good"):
        home.adopt(pipeline(name, BOTH))
    ports = home.with_ports(sensors=PoisonedSensors(home, "bad"))
    look(home, ports)
    look(home, ports, hours=2)
    assert {event.pipeline_id for event in home.events(EventType.TRIGGER_STARTED)} == {"good"}
    assert set(home.store.watch.load().lagging) == {"bad"}
    (failure,) = home.events(DEGRADED)[-1].detail["failures"]
    assert failure["pipeline"] == "bad"
    assert failure["error"] == "ValueError: this reading can't be decoded"


def test_a_pipeline_that_failed_catches_up_later(home: Home) -> None:
    for name in ("bad", "good"):
        home.adopt(pipeline(name, BOTH))
    look(home)
    poisoned = home.with_ports(sensors=PoisonedSensors(home, "bad"))
    for _ in range(36):
        look(home, poisoned)
    look(home)  # it is repaired
    dates = {
        name: sorted(
            {e.date for e in home.events() if e.pipeline_id == name and e.date is not None}
        )
        for name in ("bad", "good")
    }
    assert dates["bad"] == dates["good"] == ["2026-03-03T08", "2026-03-03T09", "2026-03-03T10"]


class BrokenRuns:
    """Runs whose due ones can't be listed."""

    def __init__(self, home: Home) -> None:
        self._runs = home.store.runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def due(self, now: datetime) -> Any:
        raise UnavailableError("the index is away")


def test_a_common_read_that_fails_is_a_failure_for_all(home: Home) -> None:
    home.adopt(CRON)
    before = home.store.watch.load().since
    look(home, home.with_ports(runs=BrokenRuns(home)), hours=2)
    event = home.event(DEGRADED)
    assert event.message == "watchdog checks failed: stale-triggers (all)"
    assert home.store.watch.load().since == before  # no pipeline moves on
    assert len(home.events(MISSED)) == 1  # and the other checks are made all the same


def test_degraded_is_reported_once_and_again_when_it_changes_and_once_a_day(home: Home) -> None:
    for name in ("bad", "worse"):
        home.adopt(pipeline(name, BOTH))
    bad = home.with_ports(sensors=PoisonedSensors(home, "bad"))
    for _ in range(5):
        look(home, bad)
    assert len(home.events(DEGRADED)) == 1
    worse = home.with_ports(sensors=PoisonedSensors(home, "worse"))
    for _ in range(3):
        look(home, worse)
    assert len(home.events(DEGRADED)) == 2  # the set of failures is another one
    since = {event.detail["since"] for event in home.events(DEGRADED)}
    assert len(since) == 1
    for _ in range(3):
        look(home, worse, days=1)
    assert len(home.events(DEGRADED)) == 5  # a reminder a day


def test_the_first_clean_pass_tells_that_it_is_over(home: Home) -> None:
    home.adopt(pipeline("bad", BOTH))
    look(home)
    bad = home.with_ports(sensors=PoisonedSensors(home, "bad"))
    start = home.clock() + CADENCE
    for _ in range(20):
        look(home, bad)
    look(home)
    event = home.event(RECOVERED)
    assert event.detail["from"] == start.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert event.detail["until"] == home.clock().strftime("%Y-%m-%dT%H:%M:%SZ")
    assert event.detail["firedLate"] == 1
    look(home)
    assert len(home.events(RECOVERED)) == 1
    assert home.store.watch.load().failing_since is None


@pytest.mark.parametrize(("minutes", "told"), [(15, 0), (16, 1)])
def test_a_gap_of_more_than_three_cadences_is_reported(home: Home, minutes: int, told: int) -> None:
    look(home)
    look(home, minutes=minutes)
    assert len(home.events(RECOVERED)) == told


def test_one_finding_that_fails_leaves_the_rest_acted_on(home: Home) -> None:
    for name in ("a", "b", "c"):
        home.adopt(pipeline(name))
    look(home)
    home.fails(Call.PUBLISH)
    report = look(home, minutes=70)
    assert [(f.check, f.pipeline) for f in report.failures] == [("missed-schedules", "a")]
    # the next pass publishes the claim that was not published, and nothing twice
    look(home)
    assert sorted(event.pipeline_id or "" for event in home.events(MISSED)) == ["a", "b", "c"]


class DeadBus:
    """A bus that accepts no events."""

    def publish(self, events: object) -> None:
        raise UnavailableError("the bus is down")


def test_a_bus_that_is_down_is_a_failure_and_stays_one_until_it_is_back(home: Home) -> None:
    home.adopt(CRON)
    look(home)
    report = look(home, home.with_ports(events=DeadBus()), minutes=70)
    assert {failure.check for failure in report.failures} >= {"missed-schedules", "report"}
    assert home.events(DEGRADED) == home.events(MISSED) == []
    assert home.store.watch.load().failing_since is not None
    look(home)
    look(home)
    assert len(home.events(MISSED)) == len(home.events(DEGRADED)) == 1


def test_many_failures_are_counted_and_not_all_shown(home: Home) -> None:
    for number in range(60):
        home.adopt(pipeline(f"p{number:02}", BOTH))

    class AllPoisoned(PoisonedSensors):
        def between(self, pipeline_id: str, *given: Any) -> list[Reading]:
            raise ValueError("no")

    look(home, home.with_ports(sensors=AllPoisoned(home, "")))
    event = home.event(DEGRADED)
    assert len(event.detail["failures"]) == 50
    assert event.detail["count"] == 60


# --- crashes ---


def test_dying_after_any_write_of_a_pass_ends_in_the_same_state() -> None:
    def scene(home: Home) -> None:
        home.adopt(CRON + "\nsla: {deadline: ':50', expectedDuration: 5m}")
        home.adopt(pipeline("gold", "schedule: {trigger: {key: orders, check: exists}}"))
        watch(CADENCE, home.ports)
        home.reading(pipeline="gold", date="2026-03-03")
        home.pass_time(hours=2)
        watch(CADENCE, home.ports)
        home.pass_time(minutes=10)

    def act(home: Home) -> None:
        state = home.store.watch.load()
        if state.pass_until is not None:  # the process that held it has crashed
            home.store.watch.save(
                type(state)(
                    **{f: getattr(state, f) for f in state.__struct_fields__}
                    | {"version": state.version + 1, "pass_until": None}
                )
            )
        for _ in range(2):
            watch(CADENCE, home.ports)
            home.pass_time(minutes=5)

    assert_a_crash_changes_nothing(scene, act)
