"""The watchdog's checks, each a pure function of a snapshot and now."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_key, a_run
from declared import declared
from interlock.domain.admission import Admission, Ignore, OpenRun
from interlock.domain.deadline import SlaVerdict
from interlock.domain.guards import (
    GUARDS,
    Admit,
    ArmDeadline,
    Close,
    EngineState,
    Expected,
    ExtendLease,
    Finding,
    Finish,
    FireLate,
    GiveUp,
    JudgeDeadline,
    LookAgain,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    Resume,
    RetryNow,
    Snapshot,
    Suspect,
    TimeOut,
    may_have_come,
    missed_at,
    missed_inclusion_schedules,
    missed_schedules,
    needs,
    post_run_sensors,
    relative_sla_breaches,
    sensor_trigger_reconciliation,
    sla_scheduling,
    stale_triggers,
    stand_ins,
    suspicion,
    trigger_deadlines,
    unsettled,
    wants_engine,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import (
    DeadlineKind,
    OpenedBy,
    PostRunState,
    Run,
    RunKey,
    Status,
    unreadable_run,
)
from interlock.domain.sensor import Reading
from interlock.domain.sla import SlaWatch
from interlock.domain.standing import standing_since

SECOND, MINUTE, HOUR, DAY = (
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
    timedelta(days=1),
)
W, B, RW, RB, READY = DeadlineKind


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


LONG_AGO = at("2026-01-01T00:00Z")


def snapshot(
    pipeline: Pipeline,
    now: datetime,
    *,
    since: datetime | None = None,
    active_since: datetime = LONG_AGO,
    **given: Any,
) -> Snapshot:
    """The first schedule of a pipeline, looked at as in a pass five minutes after the last."""
    (schedule,) = pipeline.schedules
    start = since or now - 20 * MINUTE
    wanted = needs(pipeline, schedule, start, standing_since(active_since), now)
    given.setdefault("last_ok_at", start + 15 * MINUTE)
    return Snapshot(pipeline=pipeline, schedule=schedule, since=start, needs=wanted, **given)


def by_date(*runs: Run) -> dict[str, Run]:
    return {run.key.date: run for run in runs}


def test_there_are_eight_checks_and_repairs_come_first() -> None:
    assert list(GUARDS) == [
        "stale-triggers",
        "sensor-trigger-reconciliation",
        "missed-schedules",
        "missed-inclusion-schedules",
        "trigger-deadlines",
        "sla-scheduling",
        "relative-sla-breaches",
        "post-run-sensors",
    ]


EVERYTHING = declared(
    """
schedule: {cron: "0 8 * * *", trigger: {key: orders, check: exists, deadline: "09:00"}}
sla: {deadline: "10:00", maxDuration: 2h}
postRun: {rules: [{key: audit, check: exists}]}
"""
)


@pytest.mark.parametrize("name", GUARDS)
def test_where_nothing_is_wrong_nothing_is_found(name: str) -> None:
    now = at("2026-03-03T12:00Z")
    key = RunKey("silver-orders", "cron", "2026-03-03")
    done = a_run(
        key,
        at("2026-03-03T08:00Z"),
        status=Status.COMPLETED,
        completed_at=now - HOUR,
        sla_verdict=SlaVerdict.MET,
        breach_at=at("2026-03-03T10:00Z"),
    )
    for given in ({"runs": by_date(done)}, {"runs": by_date(done), "due": (done,)}):
        seen = snapshot(EVERYTHING, now, since=now - 6 * HOUR, **given)
        assert list(GUARDS[name](seen, now)) == []


# --- 1 stale-triggers ---------------------------------------------------------------------------

OPENED = at("2026-03-03T08:00Z")
SENSORS = declared()


def pending(**changes: Any) -> Run:
    return a_run(a_key(), OPENED, **changes)


PENDING = pending()
LEASE = PENDING.lease_until
FAILED = pending(status=Status.FAILED, retry_at=OPENED + HOUR)
ABSENT, RUNNING, ENDED = EngineState.ABSENT, EngineState.RUNNING, EngineState.ENDED
STARTED = pending(started_at=OPENED)
TRIGGERING = pending(started_at=OPENED, status=Status.TRIGGERING)
WORKING = pending(started_at=OPENED, status=Status.RUNNING)


@pytest.mark.parametrize(
    ("run", "engine", "now", "expected"),
    [
        (PENDING, ABSENT, OPENED + 2 * MINUTE, [Restart(PENDING)]),
        (PENDING, RUNNING, OPENED + 2 * MINUTE, [NoteStarted(PENDING)]),
        (PENDING, ENDED, OPENED + 2 * MINUTE, [GiveUp(PENDING)]),  # no need to wait
        (STARTED, ENDED, OPENED + HOUR, [GiveUp(STARTED)]),
        (STARTED, ENDED, LEASE - 31 * MINUTE, [GiveUp(STARTED)]),
        (STARTED, ENDED, LEASE - 30 * MINUTE, [TimeOut(STARTED, ENDED)]),  # it had its four hours
        (STARTED, RUNNING, OPENED + HOUR, []),
        (TRIGGERING, ENDED, OPENED + HOUR, [Resume(TRIGGERING, ENDED)]),
        (WORKING, ENDED, LEASE, [Resume(WORKING, ENDED)]),
        (WORKING, ABSENT, OPENED + HOUR, [Resume(WORKING, ABSENT)]),  # a start that failed
        (PENDING, RUNNING, LEASE + SECOND, [ExtendLease(PENDING)]),
        (STARTED, RUNNING, LEASE + SECOND, [ExtendLease(STARTED)]),  # slow, not dead
        (STARTED, ENDED, LEASE + SECOND, [TimeOut(STARTED, ENDED)]),
        (STARTED, ABSENT, LEASE + SECOND, [TimeOut(STARTED, ABSENT)]),  # it was there once
        (TRIGGERING, ENDED, LEASE + SECOND, [TimeOut(TRIGGERING, ENDED)]),
        (WORKING, ENDED, LEASE + SECOND, [TimeOut(WORKING, ENDED)]),
        (WORKING, RUNNING, LEASE + SECOND, [ExtendLease(WORKING)]),
        (WORKING, RUNNING, LEASE, []),  # at the instant itself it may still be over
        (WORKING, None, LEASE + SECOND, []),  # the engine was not asked: nothing is declared
        (FAILED, None, OPENED + HOUR + 2 * MINUTE, [RetryNow(FAILED)]),
        (FAILED, None, OPENED + HOUR + 119 * SECOND, []),  # its timer may still come
        (pending(status=Status.FAILED), None, LEASE + DAY, []),
        (pending(status=Status.FAILED_FINAL), None, LEASE + DAY, []),
    ],
)
def test_an_attempt_without_progress_is_found(
    run: Run, engine: EngineState | None, now: datetime, expected: list[Finding]
) -> None:
    engines = {} if engine is None else {run.execution_name: engine}
    seen = snapshot(SENSORS, now, due=(run,), engine=engines)
    assert list(stale_triggers(seen, now)) == expected


@pytest.mark.parametrize("run", [STARTED, TRIGGERING, WORKING])
@pytest.mark.parametrize(
    ("down", "resumed"),
    [
        ((LEASE - HOUR, LEASE + DAY), True),
        ((LEASE, LEASE + SECOND), True),
        ((LEASE - HOUR, LEASE), False),  # it was back in time
        ((LEASE + SECOND, LEASE + DAY), False),  # it was over before
        (None, False),
    ],
)
def test_an_attempt_whose_time_ran_out_unwatched_goes_on(
    run: Run, down: tuple[datetime, datetime] | None, resumed: bool
) -> None:
    now = LEASE + DAY
    engines = {run.execution_name: ENDED}
    seen = snapshot(SENSORS, now, due=(run,), engine=engines, down=down)
    found = Resume(run, ENDED) if resumed else TimeOut(run, ENDED)
    assert list(stale_triggers(seen, now)) == [found]


@pytest.mark.parametrize("engine", [ENDED, ABSENT])
@pytest.mark.parametrize("now", [OPENED + HOUR, LEASE + SECOND])
def test_a_job_that_succeeded_is_finished_and_not_declared_dead(
    engine: EngineState, now: datetime
) -> None:
    seen = snapshot(
        SENSORS,
        now,
        due=(WORKING,),
        engine={WORKING.execution_name: engine},
        succeeded=frozenset({"2026-03-03"}),
    )
    assert list(stale_triggers(seen, now)) == [Finish(WORKING)]


def test_a_completion_that_was_left_half_done_is_finished() -> None:
    run = a_run(a_key(), OPENED, status=Status.COMPLETED, completed_at=OPENED, cascading=True)
    for seconds, found in ((119, []), (120, [Finish(run)])):
        now = OPENED + seconds * SECOND
        assert list(stale_triggers(snapshot(SENSORS, now, due=(run,)), now)) == found


def test_a_retry_waits_while_the_pipeline_is_paused() -> None:
    now = OPENED + 2 * HOUR
    assert list(stale_triggers(snapshot(SENSORS, now, due=(FAILED,), paused=True), now)) == []


@pytest.mark.parametrize(
    ("run", "attended", "now", "wanted"),
    [
        (PENDING, True, OPENED + 119 * SECOND, False),
        (PENDING, False, OPENED + 119 * SECOND, False),  # it may be started this very second
        (PENDING, True, OPENED + 2 * MINUTE, True),
        (STARTED, True, OPENED + HOUR, False),
        (STARTED, False, OPENED + HOUR, True),
        # a wait that was handed over has started over
        (pending(handed_over_at=OPENED + HOUR), True, OPENED + HOUR + MINUTE, False),
        (pending(handed_over_at=OPENED + HOUR), True, OPENED + HOUR + 2 * MINUTE, True),
        (STARTED, True, LEASE, False),
        (STARTED, True, LEASE + SECOND, True),
        (WORKING, False, OPENED + SECOND, True),
        (WORKING, True, LEASE + SECOND, True),
        (FAILED, False, LEASE + SECOND, False),  # it has no execution
        (pending(status=Status.COMPLETED), False, LEASE + SECOND, False),
    ],
)
def test_the_engine_is_asked_only_about_what_may_be_dead(
    run: Run, attended: bool, now: datetime, wanted: bool
) -> None:
    assert wants_engine(run, attended, now) is wanted


# --- 2 sensor-trigger-reconciliation ------------------------------------------------------------

NOON = at("2026-03-03T12:00Z")
READING = Reading("silver-orders", "orders", {"date": "2026-03-03"}, NOON - HOUR)
OPENS = OpenRun(a_key(), OpenedBy.SENSOR, READING)
NAME = suspicion(SENSORS.schedules[0], READING)


@pytest.mark.parametrize(
    ("admission", "first_seen", "expected"),
    [
        (OPENS, None, [Suspect(NAME)]),  # it may be on its way this very second
        (OPENS, NOON - 119 * SECOND, [Suspect(NAME)]),
        (OPENS, NOON - 2 * MINUTE, [Admit(READING, OPENS)]),
        (Ignore("stream", "does not pass"), NOON - HOUR, []),
    ],
)
def test_a_reading_without_its_effect_is_acted_on_after_a_doubt(
    admission: Admission, first_seen: datetime | None, expected: list[Finding]
) -> None:
    suspects = {} if first_seen is None else {NAME: first_seen}
    seen = snapshot(SENSORS, NOON, readings=((READING, (admission,)),), suspects=suspects)
    assert list(sensor_trigger_reconciliation(seen, NOON)) == expected
    assert list(sensor_trigger_reconciliation(_paused(seen), NOON)) == []


def test_other_content_is_another_doubt() -> None:
    schedule = SENSORS.schedules[0]
    other = Reading("silver-orders", "orders", {"date": "2026-03-03", "n": 2}, NOON)
    assert suspicion(schedule, READING) != suspicion(schedule, other)


# --- 3 missed-schedules -------------------------------------------------------------------------

CRON = declared('schedule: {cron: "0 8 * * *", grace: 10m, evaluation: {window: 1h}}')
CRON_KEY = RunKey("silver-orders", "cron", "2026-03-03")
DUE = at("2026-03-03T08:00Z")


@pytest.mark.parametrize("age", [91 * SECOND, 3 * HOUR, 20 * HOUR])
def test_a_date_whose_run_was_pruned_is_not_missed(age: timedelta) -> None:
    left = SlaWatch(key=CRON_KEY, attempts=1, pruned_at=DUE + MINUTE)
    seen = snapshot(CRON, DUE + age, since=DUE - HOUR, watches={CRON_KEY.date: left})
    assert list(missed_schedules(seen, DUE + age)) == []


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(0), []),
        (90 * SECOND, []),  # the timer may still come
        (91 * SECOND, [FireLate(CRON_KEY, DUE)]),
        (HOUR, [FireLate(CRON_KEY, DUE)]),  # as old as its window
        (HOUR + SECOND, [Missed(CRON_KEY, DUE, "not-fired")]),
    ],
)
def test_a_cron_moment_without_a_run_is_fired_late_or_reported(
    age: timedelta, expected: list[Finding]
) -> None:
    now = DUE + age
    seen = snapshot(CRON, now)
    assert list(missed_schedules(seen, now)) == expected
    assert list(missed_inclusion_schedules(seen, now)) == []
    assert list(missed_schedules(_paused(seen), now)) == []


@pytest.mark.parametrize("status", Status)
def test_a_row_of_that_date_is_a_run_whatever_became_of_it(status: Status) -> None:
    now = DUE + 3 * HOUR
    runs = by_date(a_run(CRON_KEY, DUE, status=status))
    assert list(missed_schedules(snapshot(CRON, now, since=DUE, runs=runs), now)) == []


@pytest.mark.parametrize(
    ("last_ok", "down", "cause"),
    [
        (DUE + HOUR, None, "not-fired"),
        (DUE - MINUTE, None, "controller-down"),
        (None, None, "controller-down"),  # there never was a pass
        # it is back, and reports only now because the file said not before a certain time
        (DUE + 9 * HOUR, (DUE - MINUTE, DUE + 8 * HOUR), "controller-down"),
        (DUE + 9 * HOUR, (DUE - MINUTE, DUE + 30 * MINUTE), "not-fired"),  # back within the window
        (DUE + 9 * HOUR, (DUE + MINUTE, DUE + 8 * HOUR), "not-fired"),  # it was up when due
    ],
)
def test_a_missed_moment_says_whether_anybody_was_there(
    last_ok: datetime | None, down: tuple[datetime, datetime] | None, cause: str
) -> None:
    now = DUE + 10 * HOUR
    seen = snapshot(CRON, now, since=DUE, last_ok_at=last_ok, down=down)
    assert list(missed_schedules(seen, now)) == [Missed(CRON_KEY, DUE, cause)]


def test_a_long_grace_delays_the_report() -> None:
    patient = declared('schedule: {cron: "0 8 * * *", grace: 3h, evaluation: {window: 5m}}')
    for age, count in ((10 * MINUTE, 0), (3 * HOUR - SECOND, 0), (3 * HOUR, 1)):
        now = DUE + age
        assert len(list(missed_schedules(snapshot(patient, now), now))) == count


@pytest.mark.parametrize(
    ("schedule", "date", "due", "expected"),
    [
        ('cron: "0 8 * * *"', "2026-03-03", "2026-03-03T08:00Z", "2026-03-03T08:10Z"),
        # never before its local time, of the date and its offset
        (
            'cron: "0 8 * * *", time: "12:00"',
            "2026-03-03",
            "2026-03-03T08:00Z",
            "2026-03-03T12:00Z",
        ),
        (
            'cron: "0 8 * * *", time: "12:00", dayOffset: 1, timezone: Asia/Tokyo',
            "2026-03-03",
            "2026-03-02T23:00Z",
            "2026-03-04T03:00Z",
        ),
        # a time before the moment changes nothing
        (
            'cron: "0 8 * * *", time: "05:00"',
            "2026-03-03",
            "2026-03-03T08:00Z",
            "2026-03-03T08:10Z",
        ),
        # in the gap of a clock change, the first instant after it
        (
            'cron: "0 0 * * *", time: "02:30", timezone: Europe/Berlin',
            "2026-03-29",
            "2026-03-28T23:00Z",
            "2026-03-29T01:00Z",
        ),
    ],
)
def test_a_date_is_missed_when_grace_and_time_are_over(
    schedule: str, date: str, due: str, expected: str
) -> None:
    (declared_schedule,) = declared(f"schedule: {{{schedule}}}").schedules
    wanted = needs(CRON, declared_schedule, at(due), standing_since(LONG_AGO), at(due) + MINUTE)
    assert Expected(date, at(due)) in wanted.expected
    assert missed_at(declared_schedule, Expected(date, at(due))) == at(expected)


def test_a_time_later_in_the_day_is_still_remembered_in_the_evening() -> None:
    pipeline = declared('schedule: {cron: "0 1 * * *", time: "22:00"}')
    key, due, now = CRON_KEY, at("2026-03-03T01:00Z"), at("2026-03-03T22:02Z")
    assert list(missed_schedules(snapshot(pipeline, now), now)) == [Missed(key, due, "not-fired")]


def test_a_weekly_cron_is_silent_on_other_days() -> None:
    weekly = declared('schedule: {cron: "0 8 * * 1"}')
    for day in range(3, 9):  # Tuesday to Sunday
        now = at(f"2026-03-{day:02}T12:00Z")
        assert list(missed_schedules(snapshot(weekly, now, since=now - DAY), now)) == []
    now = at("2026-03-09T12:00Z")
    assert len(list(missed_schedules(snapshot(weekly, now, since=now - DAY), now))) == 1


def test_an_excluded_day_is_not_missed() -> None:
    weekdays = declared('schedule: {cron: "0 8 * * *", exclude: {weekends: true}}')
    now = at("2026-03-09T07:00Z")
    found = missed_schedules(snapshot(weekdays, now, since=at("2026-03-06T07:00Z")), now)
    assert _dates(found) == ["2026-03-06"]


def test_three_missed_hours_are_three_findings() -> None:
    hourly = declared('schedule: {cron: "0 * * * *", evaluation: {window: 10m}}')
    now = at("2026-03-03T12:30Z")
    found = missed_schedules(snapshot(hourly, now, since=at("2026-03-03T10:00Z")), now)
    assert _dates(found) == ["2026-03-03T10", "2026-03-03T11", "2026-03-03T12"]


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-03-29", 23), ("2026-10-25", 24)],  # the repeated hour is one date
)
def test_every_hour_that_a_day_has_is_expected(day: str, hours: int) -> None:
    hourly = declared('schedule: {cron: "0 * * * *", timezone: Europe/Berlin}')
    now = at(f"{day}T00:00+01:00") + 3 * DAY
    found = _dates(missed_schedules(snapshot(hourly, now, since=now - 5 * DAY), now))
    assert len([date for date in found if date.startswith(day)]) == hours
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("outage", [10 * MINUTE, 3 * HOUR, 2 * DAY, 31 * DAY])
def test_after_an_outage_every_hour_is_fired_or_reported_once(outage: timedelta) -> None:
    hourly = declared('schedule: {cron: "0 * * * *"}')
    now = at("2026-03-03T12:02Z")
    since = now - outage
    found = list(missed_schedules(snapshot(hourly, now, since=since), now))
    dates = _dates(found)
    expected = []
    moment = at("2026-03-03T12:00Z")
    while moment >= since - HOUR:
        expected.append(f"{moment:%Y-%m-%dT%H}")
        moment -= HOUR
    assert dates == sorted(expected)
    fired = {f.key.date for f in found if isinstance(f, FireLate)}
    assert fired == {"2026-03-03T12"}  # those not older than the window


def test_nothing_is_expected_before_the_pipeline_was_there() -> None:
    now = DUE + 5 * HOUR
    new = snapshot(CRON, now, since=DUE - DAY, active_since=DUE + SECOND)
    assert list(missed_schedules(new, now)) == []
    just = snapshot(CRON, now, since=DUE - DAY, active_since=DUE)
    assert _dates(missed_schedules(just, now)) == ["2026-03-03"]


# --- 4 missed-inclusion-schedules ---------------------------------------------------------------

LISTED = declared(
    'schedule: {include: {dates: ["2026-03-03"]}, time: "09:00",'
    " trigger: {key: orders, check: exists}}"
)
LISTED_DUE = at("2026-03-03T09:00Z")


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (9 * MINUTE, []),
        (10 * MINUTE, [Missed(a_key(), LISTED_DUE, "not-fired")]),
        (2 * HOUR, [Missed(a_key(), LISTED_DUE, "not-fired")]),
    ],
)
def test_a_listed_date_that_no_reading_opened_is_reported_and_never_fired(
    age: timedelta, expected: list[Finding]
) -> None:
    now = LISTED_DUE + age
    seen = snapshot(LISTED, now)
    assert list(missed_inclusion_schedules(seen, now)) == expected
    assert list(missed_schedules(seen, now)) == []
    assert list(missed_inclusion_schedules(_paused(seen), now)) == []


def test_a_listed_date_with_a_run_is_not_missed() -> None:
    now = LISTED_DUE + HOUR
    seen = snapshot(LISTED, now, runs=by_date(a_run(a_key())))
    assert list(missed_inclusion_schedules(seen, now)) == []


def test_a_listed_date_whose_reading_is_there_is_about_to_be_opened() -> None:
    now = LISTED_DUE + HOUR
    doubted = snapshot(LISTED, now, readings=((READING, (OPENS,)),))
    assert list(missed_inclusion_schedules(doubted, now)) == []
    other = OpenRun(a_key(date="2026-03-01"), OpenedBy.SENSOR, READING)
    elsewhere = snapshot(LISTED, now, readings=((READING, (other, Ignore("stream", "x"))),))
    assert len(list(missed_inclusion_schedules(elsewhere, now))) == 1


def test_a_listed_date_without_a_trigger_is_fired_like_a_cron() -> None:
    alone = declared('schedule: {include: {dates: ["2026-03-03"]}, time: "09:00"}')
    for age, kind in ((MINUTE, None), (30 * MINUTE, FireLate), (2 * HOUR, Missed)):
        now = LISTED_DUE + age
        found = list(missed_inclusion_schedules(snapshot(alone, now), now))
        assert [type(finding) for finding in found] == ([] if kind is None else [kind])


# --- 5 trigger-deadlines ------------------------------------------------------------------------

CLOSING = declared("schedule: {trigger: {key: orders, check: exists, deadline: '06:30'}}")
CLOSES_AT = at("2026-03-04T06:30Z")  # the day after
PASS = CLOSES_AT + 5 * MINUTE


def test_a_date_without_a_run_is_closed_at_its_deadline() -> None:
    assert list(trigger_deadlines(snapshot(CLOSING, PASS), PASS)) == [Close(a_key(), CLOSES_AT)]
    early = CLOSES_AT - SECOND
    assert list(trigger_deadlines(snapshot(CLOSING, early), early)) == []
    assert list(trigger_deadlines(_paused(snapshot(CLOSING, PASS)), PASS)) == []


def test_a_date_with_a_run_is_not_closed() -> None:
    seen = snapshot(CLOSING, PASS, runs=by_date(a_run(a_key())))
    assert list(trigger_deadlines(seen, PASS)) == []


def test_a_day_with_runs_of_its_hours_is_not_closed() -> None:
    seen = snapshot(CLOSING, PASS, runs=by_date(a_run(a_key(date="2026-03-03T10"))))
    assert list(trigger_deadlines(seen, PASS)) == []


@pytest.mark.parametrize(
    ("received", "closed"),
    [(CLOSES_AT - SECOND, False), (CLOSES_AT, True)],  # the former is left to reconciliation
)
def test_a_reading_that_came_in_time_keeps_the_date_open(received: datetime, closed: bool) -> None:
    reading = Reading("silver-orders", "orders", {"date": "2026-03-03"}, received)
    admission = OpenRun(a_key(), OpenedBy.SENSOR, reading)
    other = OpenRun(a_key(date="2026-03-09"), OpenedBy.SENSOR, reading)  # of another date
    seen = snapshot(CLOSING, PASS, readings=((reading, (other, admission)),))
    assert bool(list(trigger_deadlines(seen, PASS))) is closed


@pytest.mark.parametrize(
    ("pipeline", "now", "expected"),
    [
        (CLOSING, PASS, True),
        (CLOSING, CLOSES_AT - SECOND, False),
        (LISTED, LISTED_DUE + 10 * MINUTE, True),
        (LISTED, LISTED_DUE + 9 * MINUTE, False),
    ],
)
def test_before_a_date_is_closed_or_reported_its_reading_must_be_looked_for(
    pipeline: Pipeline, now: datetime, expected: bool
) -> None:
    seen = snapshot(pipeline, now)
    assert may_have_come(seen.needs, seen.schedule, now) is expected


def test_all_dates_since_the_last_pass_are_looked_at() -> None:
    since = PASS - 3 * DAY
    found = trigger_deadlines(snapshot(CLOSING, PASS, since=since), PASS)
    assert _dates(found) == ["2026-03-01", "2026-03-02", "2026-03-03"]


def test_a_date_that_began_before_the_pipeline_is_not_closed() -> None:
    seen = snapshot(CLOSING, PASS, active_since=at("2026-03-03T00:00:01Z"))
    assert list(trigger_deadlines(seen, PASS)) == []


def test_an_hour_is_closed_by_its_own_deadline() -> None:
    hourly = declared("schedule: {trigger: {key: orders, check: exists, deadline: ':15'}}")
    now = at("2026-03-04T00:20Z")  # hour 23 closes on the next day
    assert _dates(trigger_deadlines(snapshot(hourly, now), now)) == ["2026-03-03T23"]


# --- 6 sla-scheduling ---------------------------------------------------------------------------

PROMISED = declared("sla: {deadline: '10:00', expectedDuration: 30m}")
BREACH_AT = at("2026-03-04T10:00Z")
WARNING_AT = BREACH_AT - 30 * MINUTE
MOMENTS = {W: WARNING_AT, B: BREACH_AT}


def watched(**changes: Any) -> dict[str, SlaWatch]:
    watch = SlaWatch(key=a_key(), warning_at=WARNING_AT, breach_at=BREACH_AT, **changes)
    return {"2026-03-03": watch}


def promised(**changes: Any) -> dict[str, Run]:
    return by_date(a_run(a_key(), warning_at=WARNING_AT, breach_at=BREACH_AT, **changes))


ARM = ArmDeadline(a_key())
WARN, BREAK = JudgeDeadline(a_key(), W), JudgeDeadline(a_key(), B)


@pytest.mark.parametrize(
    ("now", "given", "expected"),
    [
        (WARNING_AT - 80 * MINUTE, {}, []),  # too far ahead to arm
        (WARNING_AT - 75 * MINUTE, {}, [ARM]),
        (WARNING_AT - MINUTE, {"watches": watched(armed=MOMENTS)}, []),
        (WARNING_AT - MINUTE, {"watches": watched(armed=MOMENTS | {B: PASS})}, [ARM]),  # moved
        (WARNING_AT + MINUTE, {"watches": watched(armed=MOMENTS)}, [WARN]),
        (WARNING_AT + MINUTE, {}, [ARM, WARN]),
        (WARNING_AT + MINUTE, {"watches": watched(armed=MOMENTS, told=(W,))}, []),
        (BREACH_AT + MINUTE, {"watches": watched(armed=MOMENTS, told=(W,))}, [BREAK]),
        (BREACH_AT + MINUTE, {}, [BREAK, WARN]),  # the breach first: it makes the warning idle
        (BREACH_AT + MINUTE, {"watches": watched(verdict=SlaVerdict.BREACHED)}, []),
        (WARNING_AT - MINUTE, {"runs": promised(sla_armed=MOMENTS)}, []),
        (WARNING_AT - MINUTE, {"runs": promised()}, [ARM]),
        (BREACH_AT, {"runs": promised(sla_told=(W,), sla_armed=MOMENTS)}, [BREAK]),
        (BREACH_AT, {"runs": promised(sla_verdict=SlaVerdict.MET)}, []),
        # a run that failed for good gets no warning, but it does breach
        (WARNING_AT, {"runs": promised(sla_armed=MOMENTS, status=Status.FAILED_FINAL)}, []),
        (BREACH_AT, {"runs": promised(sla_armed=MOMENTS, status=Status.FAILED)}, [BREAK]),
        (BREACH_AT, {"runs": by_date(a_run(a_key()))}, []),  # a run without a deadline
        # hours of the day stand in for it, and have deadlines of their own
        (BREACH_AT, {"runs": by_date(a_run(a_key(date="2026-03-03T10")))}, []),
        (BREACH_AT + MINUTE, {"paused": True}, [BREAK, WARN]),  # deadlines count in a pause too
    ],
)
def test_a_deadline_holds_even_if_nothing_ever_starts(
    now: datetime, given: dict[str, Any], expected: list[Finding]
) -> None:
    assert list(sla_scheduling(snapshot(PROMISED, now, **given), now)) == expected


READINESS = declared("sla: {deadline: '10:00', expectedDuration: 30m, evaluationDeadline: '09:00'}")
READY_AT = at("2026-03-04T09:00Z")
ALL = MOMENTS | {READY: READY_AT}
JUDGE = JudgeDeadline(a_key(), READY)


def ready(**changes: Any) -> dict[str, Run]:
    return promised(readiness_at=READY_AT, **({"sla_armed": ALL} | changes))


@pytest.mark.parametrize(
    ("now", "given", "expected"),
    [
        (READY_AT - MINUTE, {}, [ARM]),
        (READY_AT - MINUTE, {"watches": watched(armed=ALL)}, []),
        (READY_AT - MINUTE, {"watches": watched(armed=MOMENTS)}, [ARM]),
        (READY_AT, {"watches": watched(armed=ALL)}, [JUDGE]),
        (READY_AT, {"watches": watched(armed=ALL, told=(READY,))}, []),
        (READY_AT, {"runs": ready()}, [JUDGE]),
        (READY_AT, {"runs": ready(ready_at=READY_AT)}, [JUDGE]),  # too late, and not told yet
        (READY_AT, {"runs": ready(ready_at=READY_AT - SECOND)}, []),
        (READY_AT, {"runs": ready(status=Status.FAILED_FINAL)}, [JUDGE]),  # and never was ready
        (READY_AT, {"runs": ready(sla_verdict=SlaVerdict.BREACHED)}, [JUDGE]),
        (READY_AT - MINUTE, {"runs": ready(sla_armed={}, ready_at=READY_AT - HOUR)}, [ARM]),
        # it passed before anybody looked: the file may have promised it only since
        (READY_AT + HOUR / 3, {"since": READY_AT, "watches": watched(armed=MOMENTS)}, []),
    ],
)
def test_by_when_rules_must_hold_is_watched_even_if_nothing_ever_starts(
    now: datetime, given: dict[str, Any], expected: list[Finding]
) -> None:
    assert list(sla_scheduling(snapshot(READINESS, now, **given), now)) == expected


def test_rules_may_have_to_hold_where_nothing_else_is_promised() -> None:
    alone = declared("sla: {evaluationDeadline: '09:00'}")
    found = list(sla_scheduling(snapshot(alone, READY_AT), READY_AT))
    assert found == [JUDGE]


def test_a_day_is_covered_by_its_hours_and_a_cron_by_nothing() -> None:
    (sensors,) = declared(
        "schedule: {trigger: {key: o, check: exists}, timezone: Europe/Berlin}"
    ).schedules
    assert stand_ins(sensors, "2026-03-03")[10] == "2026-03-03T10"
    assert len(stand_ins(sensors, "2026-03-29")) == 23
    assert stand_ins(sensors, "2026-03-03T10") == []
    assert stand_ins(CRON.schedules[0], "2026-03-03") == []
    assert stand_ins(LISTED.schedules[0], "2026-03-03") == []


@pytest.mark.parametrize(
    ("text", "active_since"),
    [
        ("", LONG_AGO),  # nothing is promised
        ("sla: {deadline: '10:00'}\ndryRun: true", LONG_AGO),
        (
            "sla: {deadline: '10:00'}",
            at("2026-03-03T00:00:01Z"),
        ),  # the date is older than the pipeline
        ("sla: {maxDuration: 1h}", LONG_AGO),
        (
            "sla: {deadline: '10:00'}\nschedule: {trigger: {key: o, check: exists},"
            " exclude: {days: [tuesday]}}",
            LONG_AGO,
        ),
    ],
)
def test_where_nothing_is_promised_nothing_is_watched(text: str, active_since: datetime) -> None:
    seen = snapshot(declared(text), BREACH_AT, active_since=active_since)
    assert list(sla_scheduling(seen, BREACH_AT)) == []


def test_hour_twenty_three_breaches_on_the_next_day() -> None:
    hourly = declared("sla: {deadline: ':30'}")
    now = at("2026-03-04T00:31Z")
    found = list(sla_scheduling(snapshot(hourly, now), now))
    assert JudgeDeadline(a_key(date="2026-03-03T23"), B) in found


def test_an_outage_of_days_is_looked_at_day_by_day() -> None:
    now = at("2026-03-04T12:00Z")
    found = sla_scheduling(snapshot(PROMISED, now, since=now - 3 * DAY), now)
    broken = [f.key.date for f in found if isinstance(f, JudgeDeadline) and f.kind is B]
    assert broken == ["2026-03-01", "2026-03-02", "2026-03-03"]


# --- 7 relative-sla-breaches --------------------------------------------------------------------

RELATIVE = {"relative_warning_at": NOON - MINUTE, "relative_breach_at": NOON}


@pytest.mark.parametrize(
    ("changes", "now", "expected"),
    [
        ({}, NOON, []),
        (RELATIVE, NOON - HOUR, []),
        (RELATIVE, NOON - MINUTE, [RW]),
        (RELATIVE, NOON, [RB, RW]),
        (RELATIVE | {"sla_told": (RW,)}, NOON, [RB]),
        (RELATIVE | {"sla_told": (RB, RW)}, NOON, []),
        (RELATIVE | {"sla_verdict": SlaVerdict.MET}, NOON, []),
        (RELATIVE | {"status": Status.FAILED_FINAL}, NOON, [RB]),  # failed is not met
        (RELATIVE | {"status": Status.FAILED_FINAL}, NOON - MINUTE, []),  # and not warned of
    ],
)
def test_a_relative_moment_that_passed_untold_is_found(
    changes: dict[str, Any], now: datetime, expected: list[DeadlineKind]
) -> None:
    run = a_run(a_key(), **changes)
    found = list(relative_sla_breaches(snapshot(SENSORS, now, due=(run,)), now))
    assert found == [JudgeDeadline(a_key(), kind) for kind in expected]


def test_a_dry_run_breaches_nothing() -> None:
    run = a_run(a_key(dry=True), **RELATIVE)
    assert list(relative_sla_breaches(snapshot(SENSORS, NOON, due=(run,)), NOON)) == []


# --- 8 post-run-sensors -------------------------------------------------------------------------

AUDITED = declared(
    "postRun: {rules: [{key: audit, check: exists}, {key: totals, check: exists},"
    " {key: audit, check: gt, field: n, value: 0}]}"
)


def completed(**changes: Any) -> Run:
    return a_run(a_key(), status=Status.COMPLETED, post_run_due_at=NOON, **changes)


@pytest.mark.parametrize(
    ("run", "now", "there", "missing"),
    [
        (completed(), NOON, frozenset(), ("audit", "totals")),  # each key once
        (completed(), NOON, frozenset({"audit"}), ("totals",)),
        (completed(), NOON, frozenset({"audit", "totals"}), ()),  # judged, and nothing to tell
        (completed(), NOON - SECOND, frozenset(), None),
        (completed(post_run=PostRunState(missing_judged=True)), NOON, frozenset(), None),
        (a_run(a_key(), status=Status.COMPLETED), NOON, frozenset(), None),
        (a_run(a_key(), status=Status.RUNNING, post_run_due_at=NOON), NOON, frozenset(), None),
    ],
)
def test_post_run_readings_that_never_came_are_named(
    run: Run, now: datetime, there: frozenset[str], missing: tuple[str, ...] | None
) -> None:
    seen = snapshot(AUDITED, now, due=(run,), seen_after={"2026-03-03": there})
    expected = [] if missing is None else [PostRunMissing(run, missing)]
    assert list(post_run_sensors(seen, now)) == expected


def test_an_input_is_never_missing_after_the_run() -> None:
    pipeline = declared(
        "validation: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}\n"
        "postRun: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}"
    )
    run = completed()
    (found,) = post_run_sensors(snapshot(pipeline, NOON, due=(run,)), NOON)
    assert found == PostRunMissing(run, ())


def test_a_look_whose_timer_never_came_is_made_up_for() -> None:
    run = a_run(a_key(), status=Status.COMPLETED, post_run_look_at=NOON)
    seen = snapshot(AUDITED, NOON, due=(run,))
    assert list(post_run_sensors(seen, NOON + MINUTE)) == []  # the timer may still come
    assert list(post_run_sensors(seen, NOON + 2 * MINUTE)) == [LookAgain(run)]


def test_without_post_run_rules_nothing_is_missing() -> None:
    assert list(post_run_sensors(snapshot(SENSORS, NOON, due=(completed(),)), NOON)) == []


# --- before an edit -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "given", "expected"),
    [
        (MINUTE, {}, FireLate(CRON_KEY, DUE)),  # no timer will come
        (HOUR, {}, FireLate(CRON_KEY, DUE)),
        (HOUR + MINUTE, {}, Missed(CRON_KEY, DUE, "not-fired")),  # no grace is waited for
        (MINUTE, {"paused": True}, Missed(CRON_KEY, DUE, "paused")),
        (MINUTE, {"runs": by_date(a_run(CRON_KEY, DUE))}, None),
    ],
)
def test_what_an_edit_leaves_behind_is_done_or_reported_at_once(
    after: timedelta, given: dict[str, Any], expected: Finding | None
) -> None:
    seen = snapshot(CRON, DUE + after, since=DUE - HOUR, last_ok_at=DUE + MINUTE, **given)
    assert list(unsettled(seen, (), DUE + after)) == ([] if expected is None else [expected])


def test_a_date_that_the_new_file_has_ahead_is_left_to_it() -> None:
    seen = snapshot(CRON, DUE + MINUTE, since=DUE - HOUR)
    assert list(unsettled(seen, ("2026-03-03",), DUE + MINUTE)) == []


# --- needs --------------------------------------------------------------------------------------


def test_what_must_be_read_is_named_by_date() -> None:
    now = at("2026-03-03T12:00Z")
    (schedule,) = EVERYTHING.schedules
    wanted = needs(EVERYTHING, schedule, now - 6 * HOUR, standing_since(LONG_AGO), now)
    assert wanted.dates == {"2026-03-03"}
    assert wanted.closing == {"2026-03-03": at("2026-03-03T09:00Z")}
    assert [(each.date, set(each.instants)) for each in wanted.deadlines] == [
        ("2026-03-03", {W, B})
    ]


def test_a_quiet_hour_needs_nothing() -> None:
    now = at("2026-03-03T20:00Z")
    (schedule,) = EVERYTHING.schedules
    long_ago = standing_since(LONG_AGO)
    assert needs(EVERYTHING, schedule, now - 20 * MINUTE, long_ago, now).dates == set()


def _dates(found: Iterable[Finding]) -> list[str]:
    return [finding.key.date for finding in found if isinstance(finding, FireLate | Missed | Close)]


def _paused(seen: Snapshot) -> Snapshot:
    return Snapshot(
        **{name: getattr(seen, name) for name in seen.__struct_fields__} | {"paused": True}
    )


@pytest.mark.parametrize(
    ("text", "now"),
    [
        (
            "schedule: {cron: '0 9 * * *'}\nsla: {deadline: '10:00', expectedDuration: 1h}",
            "2026-03-03T11:10Z",
        ),
        (
            "schedule: {trigger: {key: orders, check: exists, deadline: '09:00'}}",
            "2026-03-04T09:05Z",
        ),
        ("schedule: {include: {dates: ['2026-03-03']}}", "2026-03-03T12:00Z"),
    ],
)
def test_no_check_says_anything_of_a_date_whose_row_cannot_be_read(text: str, now: str) -> None:
    moment = at(now)
    seen = snapshot(declared(text), moment, since=moment - 12 * HOUR)
    (date,) = seen.needs.dates & {"2026-03-03"}
    assert any(found(seen, moment)), "without the row there is something to say"
    run = unreadable_run(seen.key(date), "status is missing")
    blocked = msgspec.structs.replace(seen, runs={date: run})
    assert not [each for each in found(blocked, moment) if date in str(each)]


def found(seen: Snapshot, now: datetime) -> list[Finding]:
    return [finding for guard in GUARDS.values() for finding in guard(seen, now)]
