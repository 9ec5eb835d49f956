"""Deadlines: arming them, telling of their moments, and settling them when the run is done."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.job import CannotTell, Running, Succeeded
from interlock.domain.run import DeadlineKind, RunKey, Status
from interlock.errors import NotFoundError, TransientError
from interlock.lifecycle.deadlines import reconcile
from interlock.simulation.scenario import Call, JobScript
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.pause import pause
from interlock.usecases.ports import Ports
from interlock.usecases.settle_deadline import settle_deadline
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

W, B, RW, RB, READY = DeadlineKind
#: The date is the day before: a sensor-driven schedule has its deadline the day after.
PROMISED = "sla: {deadline: '10:00', expectedDuration: 30m}"
DAY = RunKey("silver-orders", "stream", "2026-03-02")
BREACH_AT, WARNING_AT = NOW + timedelta(hours=2), NOW + timedelta(minutes=90)
BOTH = "sla: {deadline: '10:00', expectedDuration: 30m, maxDuration: 1h}"
CRITICAL = "sla: {deadline: '10:00', expectedDuration: 30m, critical: true}"


def opened(home: Home, text: str = PROMISED) -> None:
    home.adopt(text)
    home.admit(date="2026-03-02", count=1)


def at(home: Home, moment: datetime) -> None:
    home.clock.now = moment


def settle(home: Home, key: RunKey = DAY) -> SlaVerdict | None:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    return settle_deadline(key, config, home.ports)


def arm(home: Home, key: RunKey = DAY) -> list[str]:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    return arm_deadlines(key, config, home.ports)


def done(home: Home, moment: datetime) -> None:
    """The run of the day completes at that moment."""
    home.mode("evaluate", DAY)
    home.mode("trigger", DAY)
    at(home, moment)
    record = home.jobs.launches[-1]
    record.script = record.script.__class__(after=f"{(moment - record.at).total_seconds():.0f}s")
    home.mode("check-job", DAY)
    home.mode("complete-trigger", DAY, event="success")


# --- firing on a run ---


def test_a_warning_says_what_is_due_and_what_holds_it_up(home: Home) -> None:
    opened(home)
    at(home, WARNING_AT)
    assert fire_deadline(DAY, W, home.ports)
    event = home.event(EventType.SLA_WARNING)
    assert event.severity == "warning"
    assert event.detail["breachAt"] == "2026-03-03T10:00:00Z"
    assert event.detail["warningAt"] == "2026-03-03T09:30:00Z"
    assert (event.detail["deadline"], event.detail["timezone"]) == ("10:00", "UTC")
    assert event.detail["status"] == "PENDING"
    assert event.detail["blockedBy"] == ["waiting for its rules"]
    assert "lateBy" not in event.detail
    assert event.message.startswith("is due 2026-03-03 10:00 UTC and is not done")
    assert home.run(DAY).sla_verdict is None


def test_a_breach_writes_the_verdict_with_it(home: Home) -> None:
    opened(home)
    at(home, BREACH_AT + timedelta(minutes=3))
    assert fire_deadline(DAY, B, home.ports)
    run = home.run(DAY)
    assert (run.sla_verdict, run.sla_told) == (SlaVerdict.BREACHED, (B,))
    event = home.event(EventType.SLA_BREACH)
    assert event.detail["lateBy"] == "3m"
    assert event.detail["failed"] is False
    assert event.message.startswith("was due")


def test_a_run_that_failed_for_good_breaches_at_the_deadline_and_says_so(home: Home) -> None:
    opened(home, PROMISED + "\njob: {type: command, config: {command: [etl]}, maxCodeRetries: 0}")
    home.mode("evaluate", DAY)
    home.mode("trigger", DAY)
    launch = home.jobs.launches[-1]
    launch.script = launch.script.__class__(result="fail", category="PERMANENT", error="a bug")  # type: ignore[arg-type]
    home.mode("check-job", DAY)
    home.mode("complete-trigger", DAY, event="fail")
    assert home.run(DAY).status is Status.FAILED_FINAL
    assert home.events(EventType.SLA_BREACH) == []  # not before the deadline
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    event = home.event(EventType.SLA_BREACH)
    assert (event.detail["failed"], event.detail["failure"]) == (True, "a bug")


def test_a_critical_deadline_is_one_step_more_severe(home: Home) -> None:
    opened(home, CRITICAL)
    at(home, WARNING_AT)
    fire_deadline(DAY, W, home.ports)
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    assert home.event(EventType.SLA_WARNING).severity == "error"
    assert home.event(EventType.SLA_BREACH).severity == "critical"


READINESS = "sla: {deadline: '10:00', expectedDuration: 30m, evaluationDeadline: '09:00'}"
SHORT = "\nvalidation: {rules: [{key: orders, check: gte, field: count, value: 100}]}"
READY_AT = NOW + timedelta(hours=1)


def test_rules_that_did_not_hold_by_then_are_reported_with_what_is_missing(home: Home) -> None:
    opened(home, READINESS + SHORT)
    home.mode("evaluate", DAY)
    at(home, READY_AT - timedelta(seconds=1))
    assert not fire_deadline(DAY, READY, home.ports)
    at(home, READY_AT)
    assert fire_deadline(DAY, READY, home.ports)
    assert not fire_deadline(DAY, READY, home.ports)  # once
    event = home.event(EventType.READINESS_MISSED)
    assert event.severity == "warning"
    assert event.message == (
        "was to be ready 2026-03-03 09:00 UTC and was not: orders.count is 1, needs >= 100"
    )
    assert event.detail["blockedBy"] == ["orders.count is 1, needs >= 100"]
    assert (event.detail["evaluationDeadline"], event.detail["timezone"]) == ("09:00", "UTC")
    assert (event.detail["readinessAt"], event.detail["status"]) == (
        "2026-03-03T09:00:00Z",
        "PENDING",
    )
    run = home.run(DAY)
    assert (run.sla_told, run.sla_verdict, run.status) == ((READY,), None, Status.PENDING)


def test_rules_that_held_in_time_are_not_told_of_whatever_comes_then(home: Home) -> None:
    opened(home, READINESS)
    assert home.armed().keys() == {
        f"{kind}.silver-orders.stream.2026-03-02" for kind in (W, B, READY)
    }
    home.mode("evaluate", DAY)
    assert home.run(DAY).ready_at == NOW
    home.mode("trigger", DAY)
    home.jobs.launches[-1].script = JobScript(hang=True)
    at(home, READY_AT)
    assert not fire_deadline(DAY, READY, home.ports)
    assert home.events(EventType.READINESS_MISSED) == []


def test_a_date_without_a_run_is_reported_at_its_moment_and_the_run_takes_it_over(
    home: Home,
) -> None:
    home.adopt(READINESS)
    assert len(arm(home)) == 3
    at(home, READY_AT)
    assert fire_deadline(DAY, READY, home.ports)
    event = home.event(EventType.READINESS_MISSED)
    assert (event.detail["status"], event.detail["blockedBy"]) == (
        "absent",
        ["no reading of orders"],
    )
    at(home, READY_AT + timedelta(minutes=5))
    home.admit(date="2026-03-02", count=1)
    assert home.run(DAY).sla_told == (READY,)
    done(home, READY_AT + timedelta(minutes=10))
    assert settle(home) is SlaVerdict.MET
    assert len(home.events(EventType.READINESS_MISSED)) == 1


def test_what_a_file_promises_after_the_moment_is_not_told(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, READY_AT + timedelta(minutes=10))
    home.adopt(READINESS)
    assert {name.split(".")[0] for name in arm(home)} == {W, B}


def test_a_completion_tells_what_a_late_timer_could_not(home: Home) -> None:
    opened(home, READINESS + SHORT)
    at(home, READY_AT + timedelta(seconds=5))
    home.reading(date="2026-03-02", count=200)
    done(home, READY_AT + timedelta(seconds=20))
    assert settle(home) is SlaVerdict.MET
    event = home.event(EventType.READINESS_MISSED)
    assert event.detail["blockedBy"] == ["its rules held 5s later"]
    assert event.detail["lateBy"] == "20s"
    assert home.armed() == {}


def test_a_promise_of_readiness_alone_gives_no_verdict(home: Home) -> None:
    opened(home, "sla: {evaluationDeadline: '09:00'}")
    done(home, NOW + timedelta(minutes=10))
    assert settle(home) is None
    assert home.armed() == {}
    assert home.events(EventType.SLA_MET) == []


@pytest.mark.parametrize("text", ["dryRun: true\n" + READINESS, PROMISED, ""])
def test_what_promises_no_readiness_is_not_told_of_it(home: Home, text: str) -> None:
    home.adopt(text)
    at(home, READY_AT)
    assert not fire_deadline(DAY, READY, home.ports)


def test_readiness_counts_in_a_pause_and_not_after_a_retirement(home: Home) -> None:
    home.adopt(READINESS)
    pause("silver-orders", home.ports)
    at(home, READY_AT)
    assert fire_deadline(DAY, READY, home.ports)
    assert home.event(EventType.READINESS_MISSED).detail["blockedBy"][0] == "paused"
    home.take_away()
    other = RunKey("silver-orders", "stream", "2026-03-03")
    at(home, READY_AT + timedelta(days=1))
    assert not fire_deadline(other, READY, home.ports)


def test_dying_while_readiness_is_reported_changes_nothing() -> None:
    def scene(home: Home) -> None:
        opened(home, READINESS + SHORT)
        at(home, READY_AT)

    assert_a_crash_changes_nothing(scene, lambda home: fire_deadline(DAY, READY, home.ports))


def test_a_moment_is_reported_once(home: Home) -> None:
    opened(home)
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    assert not fire_deadline(DAY, B, home.ports)
    assert not fire_deadline(DAY, W, home.ports)  # the breach says more
    assert home.told() == ["TRIGGER_STARTED", "SLA_BREACH"]


@pytest.mark.parametrize("moment", [WARNING_AT - timedelta(seconds=1), NOW])
def test_a_timer_that_comes_early_says_nothing(home: Home, moment: datetime) -> None:
    opened(home)
    at(home, moment)
    assert not fire_deadline(DAY, W, home.ports)
    assert not fire_deadline(DAY, B, home.ports)


def test_a_paused_pipeline_still_breaches_and_says_that_it_is_paused(home: Home) -> None:
    opened(home)
    pause("silver-orders", home.ports)
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    assert home.event(EventType.SLA_BREACH).detail["blockedBy"][0] == "paused"


def taken_away(home: Home) -> None:
    opened(home)
    home.take_away()


@pytest.mark.parametrize(
    "scene",
    [
        lambda home: None,  # the pipeline is unknown
        taken_away,
        lambda home: opened(home, PROMISED + "\ndryRun: true"),
        lambda home: opened(home, ""),  # nothing is promised
    ],
)
def test_where_nothing_is_promised_nothing_breaches(
    home: Home, scene: Callable[[Home], object]
) -> None:
    scene(home)
    at(home, BREACH_AT)
    assert not fire_deadline(DAY, B, home.ports)
    assert home.events(EventType.SLA_BREACH) == []


# --- firing without a run ---


def test_a_date_without_a_run_breaches_too(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, WARNING_AT)
    assert fire_deadline(DAY, W, home.ports)
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    assert not fire_deadline(DAY, B, home.ports)
    event = home.event(EventType.SLA_BREACH)
    assert (event.detail["status"], event.detail["blockedBy"]) == (
        "absent", ["no reading of orders"],
    )  # fmt: skip
    watch = home.store.claims.watch(DAY)
    assert watch is not None
    assert (watch.verdict, watch.told) == (SlaVerdict.BREACHED, (W, B))


def test_a_run_that_opens_later_takes_over_what_was_said(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    home.admit(date="2026-03-02")
    home.pass_time(minutes=1)
    assert home.run(DAY).sla_verdict is SlaVerdict.BREACHED
    assert not fire_deadline(DAY, B, home.ports)
    assert len(home.events(EventType.SLA_BREACH)) == 1


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (DAY, ""),
        (RunKey("silver-orders", "gone", "2026-03-02"), PROMISED),  # a schedule that is no more
        (
            RunKey("silver-orders", "stream", "2026-02-28"),
            PROMISED,
        ),  # before the pipeline was there
        (
            DAY,
            PROMISED + "\nschedule: {trigger: {key: o, check: exists}, exclude: {days: [monday]}}",
        ),
    ],
)
def test_a_date_without_a_deadline_can_not_breach(home: Home, key: RunKey, text: str) -> None:
    home.adopt(text)
    at(home, BREACH_AT)
    assert not fire_deadline(key, B, home.ports)
    assert arm(home, key) == []


def test_a_deadline_that_the_file_has_moved_is_judged_by_the_file(home: Home) -> None:
    home.adopt(PROMISED)
    arm(home)
    home.adopt(PROMISED.replace("10:00", "20:00"))  # the old timer is still armed
    at(home, BREACH_AT)
    assert not fire_deadline(DAY, B, home.ports)
    assert home.events(EventType.SLA_BREACH) == []
    at(home, NOW + timedelta(hours=12))
    assert fire_deadline(DAY, B, home.ports)


@pytest.mark.parametrize("text", ["", PROMISED + "\nschedule: {id: new, cron: '0 8 * * *'}"])
def test_a_deadline_that_the_file_has_dropped_breaches_no_date(home: Home, text: str) -> None:
    home.adopt(PROMISED)
    arm(home)
    home.admit(date="2026-03-01")
    home.adopt(text)
    at(home, BREACH_AT)
    for date in ("2026-03-01", "2026-03-02"):  # with a run, and without
        assert not fire_deadline(RunKey("silver-orders", "stream", date), B, home.ports)


class LosingMarks:
    """Marks that another process always writes first."""

    def __init__(self, home: Home) -> None:
        self._marks = home.store.claims

    def __getattr__(self, name: str) -> Any:
        return getattr(self._marks, name)

    def save_watch(self, watch: object, events: object = ()) -> bool:
        return False


def test_who_loses_the_race_says_nothing(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, BREACH_AT)
    assert not fire_deadline(DAY, B, home.with_ports(claims=LosingMarks(home)))
    assert home.told() == []


# --- relative ---


def test_two_deadlines_are_both_reported_and_the_earlier_counts(home: Home) -> None:
    opened(home, BOTH)
    at(home, NOW + timedelta(minutes=30))
    assert fire_deadline(DAY, RW, home.ports)
    at(home, NOW + timedelta(hours=1))
    assert fire_deadline(DAY, RB, home.ports)
    assert home.run(DAY).sla_verdict is SlaVerdict.BREACHED
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    event = home.event(EventType.RELATIVE_SLA_BREACH)
    assert event.detail["maxDuration"] == "1h"
    assert event.detail["firstSensorAt"] == "2026-03-03T08:00:00Z"
    assert "deadline" not in event.detail
    assert home.told()[1:] == ["RELATIVE_SLA_WARNING", "RELATIVE_SLA_BREACH", "SLA_BREACH"]


# --- arming ---


def test_what_is_not_armed_is_armed_and_remembered(home: Home) -> None:
    home.adopt(PROMISED)
    names = ["warning.silver-orders.stream.2026-03-02", "breach.silver-orders.stream.2026-03-02"]
    assert arm(home) == names
    assert arm(home) == []
    assert home.armed() == {names[0]: WARNING_AT, names[1]: BREACH_AT}


def test_a_moved_deadline_is_armed_again(home: Home) -> None:
    home.adopt(PROMISED)
    arm(home)
    home.adopt(PROMISED.replace("10:00", "11:00"))
    arm(home)
    assert home.armed()["breach.silver-orders.stream.2026-03-02"] == BREACH_AT + timedelta(hours=1)


def test_a_breached_date_is_not_armed(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    assert arm(home) == []


def test_a_run_that_lost_its_timers_gets_them_back(home: Home) -> None:
    opened(home)
    run = home.run(DAY)
    home.store.runs.save(run.changed(NOW, sla_armed={}))
    home.store.timers.cancel(list(home.armed()))
    assert len(arm(home)) == 2
    assert len(home.armed()) == 2
    assert home.run(DAY).sla_armed == {W: WARNING_AT, B: BREACH_AT}
    assert arm(home) == []


# --- settling ---


def test_a_run_done_in_time_has_met_its_deadline(home: Home) -> None:
    opened(home)
    done(home, NOW + timedelta(minutes=15))
    assert settle(home) is SlaVerdict.MET
    event = home.event(EventType.SLA_MET)
    assert event.detail["marginSeconds"] == 105 * 60
    assert event.detail["warned"] is False
    assert home.armed() == {}
    assert settle(home) is SlaVerdict.MET
    assert len(home.events(EventType.SLA_MET)) == 1


def test_a_run_that_was_warned_of_says_so(home: Home) -> None:
    opened(home)
    at(home, WARNING_AT)
    fire_deadline(DAY, W, home.ports)
    done(home, BREACH_AT - timedelta(seconds=1))
    assert settle(home) is SlaVerdict.MET
    assert home.event(EventType.SLA_MET).detail["warned"] is True


@pytest.mark.parametrize("late", [timedelta(0), timedelta(minutes=5)])
def test_a_run_done_late_before_its_timer_came_breaches_once(home: Home, late: timedelta) -> None:
    opened(home)
    done(home, BREACH_AT + late)
    assert settle(home) is SlaVerdict.BREACHED
    assert not fire_deadline(DAY, B, home.ports)
    assert len(home.events(EventType.SLA_BREACH)) == 1
    assert home.events(EventType.SLA_MET) == []


def test_a_late_completion_says_by_how_much_and_breaches_no_second_time(home: Home) -> None:
    opened(home)
    at(home, BREACH_AT)
    fire_deadline(DAY, B, home.ports)
    done(home, BREACH_AT + timedelta(minutes=20))
    assert settle(home) is SlaVerdict.BREACHED
    assert home.event(EventType.JOB_COMPLETED).detail["lateBy"] == "20m"
    assert len(home.events(EventType.SLA_BREACH)) == 1


def test_of_two_deadlines_that_passed_unseen_both_are_reported(home: Home) -> None:
    opened(home, BOTH)
    done(home, BREACH_AT + timedelta(minutes=5))  # nothing ran that could fire the timers
    assert settle(home) is SlaVerdict.BREACHED
    assert len(home.events(EventType.RELATIVE_SLA_BREACH)) == 1
    assert len(home.events(EventType.SLA_BREACH)) == 1
    assert set(home.run(DAY).sla_told) == {B, RB}


def test_a_run_that_is_not_done_keeps_its_timers(home: Home) -> None:
    opened(home)
    before = home.armed()
    assert settle(home) is None
    assert home.armed() == before


def test_a_run_whose_deadline_was_dropped_on_the_way_has_no_verdict(home: Home) -> None:
    opened(home)
    done(home, BREACH_AT + timedelta(minutes=5))
    home.adopt("")
    assert settle(home) is None
    assert home.events(EventType.SLA_BREACH) == []
    assert home.armed() == {}
    assert not home.run(DAY).is_unfinished  # no further look is due


def test_a_run_without_a_deadline_has_no_verdict(home: Home) -> None:
    opened(home, "")
    done(home, NOW + timedelta(minutes=5))
    assert settle(home) is None


# --- by hand ---


def test_reconciling_arms_and_judges_one_date(home: Home) -> None:
    home.adopt(PROMISED)
    at(home, WARNING_AT)
    answer = reconcile(DAY, home.ports)
    assert answer["told"] == [W]
    assert len(answer["armed"]) == 2
    with pytest.raises(NotFoundError, match="gold"):
        reconcile(RunKey("gold", "stream", "2026-03-02"), home.ports)


def test_the_instants_of_a_date_can_be_asked_for(home: Home) -> None:
    opened(home, BOTH)
    assert home.mode("calculate", DAY) == {
        "warningAt": "2026-03-03T09:30:00Z",
        "breachAt": "2026-03-03T10:00:00Z",
        "relativeWarningAt": "2026-03-03T08:30:00Z",
        "relativeBreachAt": "2026-03-03T09:00:00Z",
        "readinessAt": None,
    }


def test_the_modes_of_the_sla_monitor_arm_and_settle(home: Home) -> None:
    opened(home)
    assert home.mode("schedule", DAY) == {"armed": []}  # opening has armed already
    done(home, NOW + timedelta(minutes=15))
    assert home.mode("cancel", DAY) == {"slaVerdict": "MET"}
    assert home.mode("calculate", DAY)["relativeBreachAt"] is None


def test_a_pipeline_without_a_deadline_calculates_nothing(home: Home) -> None:
    opened(home, "")
    assert set(home.mode("calculate", DAY).values()) == {None}


# --- what goes wrong ---


def test_a_publish_that_fails_is_made_up_for_by_the_repeat(home: Home) -> None:
    for scene in (lambda: home.adopt(PROMISED), lambda: home.admit(date="2026-03-01")):
        scene()
    at(home, BREACH_AT)
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        fire_deadline(DAY, B, home.ports)
    fire_deadline(DAY, B, home.ports)  # tells what waits, and nothing else
    assert len([e for e in home.events(EventType.SLA_BREACH) if e.date == "2026-03-02"]) == 1


@pytest.mark.parametrize("kind", [W, B])
def test_dying_at_any_line_changes_nothing(kind: DeadlineKind) -> None:
    moment = WARNING_AT if kind is W else BREACH_AT

    def with_run(home: Home) -> None:
        opened(home)
        at(home, moment)

    def without_run(home: Home) -> None:
        home.adopt(PROMISED)
        at(home, moment)

    for scene in (with_run, without_run):
        assert_a_crash_changes_nothing(scene, lambda home: fire_deadline(DAY, kind, home.ports))


def test_dying_while_arming_or_settling_changes_nothing() -> None:
    assert_a_crash_changes_nothing(lambda home: home.adopt(PROMISED), arm)

    def finished(home: Home) -> None:
        opened(home)
        done(home, NOW + timedelta(minutes=15))

    assert_a_crash_changes_nothing(finished, settle)


def test_the_usual_date_is_another_one(home: Home) -> None:
    opened(home)
    assert KEY not in home.store.runs.find([KEY])


# --- the job is asked first ---


def launched(home: Home, after: timedelta) -> None:
    """The run of the day has a job that succeeds after this long, and was not polled since."""
    opened(home)
    home.mode("evaluate", DAY)
    home.mode("trigger", DAY)
    launch = home.jobs.launches[-1]
    launch.script = launch.script.__class__(after=f"{after.total_seconds():.0f}s")


def test_a_job_that_ended_in_time_unseen_is_no_breach_however_late_it_is_asked(home: Home) -> None:
    launched(home, timedelta(hours=1))
    at(home, BREACH_AT + timedelta(hours=3))
    assert not fire_deadline(DAY, B, home.ports)
    assert [record.event for record in home.store.job_log.of_run(DAY)] == ["triggered", "success"]
    home.mode("check-job", DAY)
    home.mode("complete-trigger", DAY, event="success")
    assert settle(home) is SlaVerdict.MET
    assert home.events(EventType.SLA_BREACH) == []


def test_a_job_that_goes_on_breaches_at_the_very_moment(home: Home) -> None:
    launched(home, timedelta(hours=5))
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    event = home.event(EventType.SLA_BREACH)
    assert event.timestamp == BREACH_AT
    assert event.detail["blockedBy"] == ["job running for 2h"]


def test_a_job_that_ended_too_late_breaches_and_says_by_how_much(home: Home) -> None:
    launched(home, timedelta(hours=2, minutes=4))
    at(home, BREACH_AT + timedelta(hours=1))
    assert fire_deadline(DAY, B, home.ports)
    assert home.event(EventType.SLA_BREACH).detail["blockedBy"] == ["its job succeeded 4m later"]


class Undated:
    """A platform that says that a job has succeeded, and not when."""

    def __init__(self, home: Home) -> None:
        self._jobs = home.ports.jobs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    def poll(self, metadata: dict[str, Any]) -> Any:
        answer = self._jobs.poll(metadata)
        return Succeeded() if isinstance(answer, Succeeded) else answer


@pytest.mark.parametrize("late", [timedelta(), timedelta(seconds=40)])
def test_an_end_without_a_date_meets_the_deadline_at_which_it_is_found(
    home: Home, late: timedelta
) -> None:
    launched(home, timedelta(hours=1, minutes=59))
    at(home, BREACH_AT + late)
    ports = home.with_ports(jobs=Undated(home))
    assert not fire_deadline(DAY, B, ports)
    home.mode("check-job", DAY, ports=ports)
    home.mode("complete-trigger", DAY, event="success")
    assert settle(home) is SlaVerdict.MET
    assert home.events(EventType.SLA_BREACH) == []


def polled_to_its_end(home: Home, ports: Ports) -> None:
    home.mode("check-job", DAY, ports=ports)
    home.mode("complete-trigger", DAY, event="success")


def test_an_end_without_a_date_that_a_poll_finds_just_behind_the_deadline_meets_it(
    home: Home,
) -> None:
    """Due polls come before due deadlines: a controller that was away asks by a poll."""
    launched(home, timedelta(hours=1, minutes=59))
    at(home, BREACH_AT + timedelta(seconds=40))
    polled_to_its_end(home, home.with_ports(jobs=Undated(home)))
    assert settle(home) is SlaVerdict.MET
    assert home.run(DAY).completed_at == BREACH_AT - timedelta(microseconds=1)


def test_a_deadline_that_is_judged_behind_such_a_poll_is_met_too(home: Home) -> None:
    launched(home, timedelta(hours=1, minutes=59))
    at(home, BREACH_AT + timedelta(seconds=40))
    home.mode("check-job", DAY, ports=home.with_ports(jobs=Undated(home)))
    at(home, BREACH_AT + timedelta(hours=1))
    assert not fire_deadline(DAY, B, home.ports)
    home.mode("complete-trigger", DAY, event="success")
    assert settle(home) is SlaVerdict.MET


def test_a_job_that_was_seen_running_at_its_deadline_ends_when_a_poll_finds_it(home: Home) -> None:
    launched(home, timedelta(hours=2, seconds=10))
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    at(home, BREACH_AT + timedelta(seconds=40))
    polled_to_its_end(home, home.with_ports(jobs=Undated(home)))
    assert settle(home) is SlaVerdict.BREACHED
    assert home.event(EventType.JOB_COMPLETED).detail["lateBy"] == "40s"


def test_a_job_that_was_launched_behind_its_deadline_has_not_met_it(home: Home) -> None:
    opened(home)
    home.mode("evaluate", DAY)
    at(home, BREACH_AT + timedelta(seconds=20))
    home.mode("trigger", DAY)
    home.jobs.launches[-1].script = home.jobs.launches[-1].script.__class__(after="5s")
    home.pass_time(seconds=20)
    polled_to_its_end(home, home.with_ports(jobs=Undated(home)))
    assert settle(home) is SlaVerdict.BREACHED


def test_an_end_without_a_date_that_is_found_much_later_breaches_and_says_so(home: Home) -> None:
    launched(home, timedelta(hours=1))
    at(home, BREACH_AT + timedelta(minutes=4))
    assert fire_deadline(DAY, B, home.with_ports(jobs=Undated(home)))
    (cause,) = home.event(EventType.SLA_BREACH).detail["blockedBy"]
    assert cause == ("its job had succeeded when checked 4m later; its platform does not say when")


def test_a_platform_that_does_not_answer_is_asked_again_and_then_given_up(home: Home) -> None:
    launched(home, timedelta(hours=1))
    home.fails(Call.POLL, 1000)
    at(home, BREACH_AT)
    for _ in range(10):  # five minutes
        assert not fire_deadline(DAY, B, home.ports)
        (timer,) = (
            t for t in home.store.timers.due(BREACH_AT + timedelta(days=1), 99) if t.kind == B
        )
        assert timer.due_at == home.clock() + timedelta(seconds=30)
        at(home, timer.due_at)
    assert fire_deadline(DAY, B, home.ports)
    (cause,) = home.event(EventType.SLA_BREACH).detail["blockedBy"][1:]
    assert cause.startswith("the state of its job is unknown: poll fails")
    assert home.run(DAY).unasked_since is None


def test_a_platform_that_answers_again_has_the_last_word(home: Home) -> None:
    launched(home, timedelta(hours=1))
    home.fails(Call.POLL)
    at(home, BREACH_AT)
    assert not fire_deadline(DAY, B, home.ports)
    assert home.run(DAY).unasked_since == BREACH_AT
    home.pass_time(seconds=30)
    assert not fire_deadline(DAY, B, home.ports)
    assert home.events(EventType.SLA_BREACH) == []


def test_a_job_whose_end_is_not_recorded_yet_is_asked_again(home: Home) -> None:
    class Ending(Undated):
        """The command is over; a full disk keeps its supervisor from recording how."""

        def poll(self, metadata: Any) -> Any:
            return Running(ending=True)

    launched(home, timedelta(hours=1))
    at(home, BREACH_AT + timedelta(seconds=3))
    assert not fire_deadline(DAY, B, home.with_ports(jobs=Ending(home)))
    home.pass_time(seconds=30)
    assert not fire_deadline(DAY, B, home.ports)
    assert home.events(EventType.SLA_BREACH) == []


def test_a_launch_whose_answer_was_never_seen_is_looked_for(home: Home) -> None:
    opened(home)
    home.mode("evaluate", DAY)

    class Dying:
        def __getattr__(self, name: str) -> Any:
            return getattr(home.ports.jobs, name)

        def launch(self, *given: Any) -> Any:
            home.ports.jobs.launch(*given)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        home.mode("trigger", DAY, ports=home.with_ports(jobs=Dying()))
    assert home.run(DAY).status is Status.TRIGGERING
    at(home, BREACH_AT + timedelta(hours=1))
    assert not fire_deadline(DAY, B, home.ports)
    home.mode("trigger", DAY)
    home.mode("check-job", DAY)
    home.mode("complete-trigger", DAY, event="success")
    assert settle(home) is SlaVerdict.MET


class Forgetful:
    """Jobs of a platform that can't tell whether a job was started under a token."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def __getattr__(self, name: str) -> Any:
        return getattr(self._home.ports.jobs, name)

    def find(self, *given: Any) -> CannotTell:
        return CannotTell()

    def launch(self, *given: Any) -> Any:
        """A repeat under the same token starts no second job."""
        return self._home.ports.jobs.find(*given)


def with_a_launch_in_doubt(home: Home) -> Any:
    """The job was started a moment ago, and its platform's response was lost."""
    opened(home)
    home.mode("evaluate", DAY)

    class Hanging(Forgetful):
        def launch(self, *given: Any) -> Any:
            home.ports.jobs.launch(*given)
            raise TransientError("timed out")

    with pytest.raises(TransientError):
        home.mode("trigger", DAY, ports=home.with_ports(jobs=Hanging(home)))
    launch = home.jobs.launches[-1]
    launch.script = launch.script.__class__(after="10m")
    at(home, BREACH_AT)
    return home.with_ports(jobs=Forgetful(home))


def test_a_launch_in_doubt_is_no_breach_before_the_launch_is_repeated(home: Home) -> None:
    ports = with_a_launch_in_doubt(home)
    assert not fire_deadline(DAY, B, ports)
    home.pass_time(seconds=30)
    home.mode("trigger", DAY, ports=ports)
    assert not fire_deadline(DAY, B, ports)
    assert home.events(EventType.SLA_BREACH) == []


def test_a_launch_that_stays_in_doubt_breaches_in_the_end_and_says_so(home: Home) -> None:
    ports = with_a_launch_in_doubt(home)
    assert not fire_deadline(DAY, B, ports)
    home.pass_time(minutes=5)
    assert fire_deadline(DAY, B, ports)
    assert home.event(EventType.SLA_BREACH).detail["blockedBy"][-1] == (
        "the state of its job is unknown: its platform can't say whether the job was started"
    )


def test_a_run_that_was_never_launched_breaches_without_a_word_of_a_job(home: Home) -> None:
    opened(home)
    home.mode("evaluate", DAY)
    home.fails(Call.LAUNCH)
    with pytest.raises(TransientError):
        home.mode("trigger", DAY)
    at(home, BREACH_AT)
    assert fire_deadline(DAY, B, home.ports)
    assert home.event(EventType.SLA_BREACH).detail["status"] == "TRIGGERING"
