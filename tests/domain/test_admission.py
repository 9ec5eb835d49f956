"""What a reading means for a pipeline, and when that is nothing, why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_key, a_run
from declared import declared
from interlock.domain.admission import (
    BARE,
    BEFORE,
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    NoteLate,
    NoteRepeat,
    OpenRun,
    PostRunReading,
    Reject,
    Reopen,
    ReopenWhenReady,
    StartAgain,
    admit,
    has_changed,
    passes,
    rejection,
    reopens_since,
    rule_keys,
    run_keys,
    used_keys,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import (
    Evidence,
    Failure,
    OpenedBy,
    Run,
    RunKey,
    Status,
    finished_run,
    unreadable_run,
)
from interlock.domain.sensor import Reading
from interlock.domain.standing import Standing

NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
DAY = a_key()

DAILY = declared("schedule: {trigger: {key: orders, check: gte, field: count, value: 100}}")
WATCHED = declared(
    """
postRun: {rules: [{key: audit, check: gte, field: count, value: 1}], evaluation: {window: 2h}}
"""
)
WATCHED_FOR_A_DAY = declared("postRun: {rules: [{key: audit, check: exists}]}")
#: The trigger key is the one that a post-run rule watches.
BOTH = declared("postRun: {rules: [{key: orders, check: gte, field: count, value: 1}]}")


def reading(key: str = "orders", at: datetime = NOW, **fields: Any) -> Reading:
    return Reading("silver-orders", key, {"date": "2026-03-03", "count": 500} | fields, at)


def run_of(status: Status, **changes: Any) -> Run:
    return a_run(a_key(), NOW, status=status, **changes)


def admitted(
    pipeline: Pipeline, given: Reading, run: Run | None = None, now: datetime = NOW
) -> list[Admission]:
    return admit(pipeline, given, {} if run is None else {run.key: run}, now)


def why_ignored(
    pipeline: Pipeline, given: Reading, run: Run | None = None, now: datetime = NOW
) -> str:
    (found,) = admitted(pipeline, given, run, now)
    assert isinstance(found, Ignore)
    return found.reason


def seen(given: Reading, key: str = "orders") -> dict[str, Evidence]:
    return {key: Evidence(given.key, given.version, given.fields)}


def test_a_passing_reading_opens_the_run_of_its_date() -> None:
    given = reading()
    assert admitted(DAILY, given) == [OpenRun(DAY, OpenedBy.SENSOR, given)]


@pytest.mark.parametrize(
    ("key", "fields", "date"),
    [
        ("orders", {"date": "2026-03-01"}, "2026-03-01"),
        ("orders", {"date": None}, "2026-03-03"),  # the day it was received
        ("orders", {"hour": 7}, "2026-03-03T07"),
        ("orders#2026-03-02", {"date": None}, "2026-03-02"),
        ("orders#20260302T10", {"date": None}, "2026-03-02T10"),
    ],
)
def test_the_date_is_the_one_the_reading_names(key: str, fields: dict[str, Any], date: str) -> None:
    given = reading(key, **fields)
    assert admitted(DAILY, given) == [OpenRun(a_key(date=date), OpenedBy.SENSOR, given)]
    assert run_keys(DAILY, given) == {a_key(date=date)}


def test_the_day_received_is_a_day_in_the_zone_of_the_schedule() -> None:
    tokyo = declared("schedule: {trigger: {key: orders, check: exists}, timezone: Asia/Tokyo}")
    late = reading(at=datetime(2026, 3, 3, 16, 0, tzinfo=UTC), date=None)
    assert run_keys(tokyo, late) == {a_key(date="2026-03-04")}


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("orders-eu", "no rule uses orders-eu; rules use orders"),
        ("orders-eu#2026-03-03", "no rule uses orders-eu; rules use orders"),
        ("orders#eu", "no rule uses orders#eu; rules use orders"),  # never a mere prefix
    ],
)
def test_a_key_that_nothing_uses_means_nothing(key: str, reason: str) -> None:
    assert why_ignored(DAILY, reading(key)) == reason
    assert run_keys(DAILY, reading(key)) == set()


_EARLIER = "the trigger deadline has passed; only a rerun opens it"
_NEW = reading(count=600)


@pytest.mark.parametrize(
    ("given", "run", "reason"),
    [
        (reading(count=5), None, "the trigger does not pass"),
        (reading(count=None), None, "the trigger does not pass"),
        (
            reading(),
            run_of(Status.PENDING, first_sensor_at=NOW),
            "judged by the run that waits for its rules",
        ),
        (reading(), run_of(Status.TRIGGERING, first_sensor_at=NOW), "a run is in progress"),
        (reading(), run_of(Status.RUNNING, first_sensor_at=NOW), "a run is in progress"),
        # a run in progress is not woken by a reading that does not pass
        (reading(count=5), run_of(Status.PENDING), "the trigger does not pass"),
        (_NEW, run_of(Status.FAILED_FINAL), "the date is closed; only a rerun opens it"),
        (_NEW, run_of(Status.FAILED, retry_at=NOW), "a retry is due"),
        (
            reading(),
            run_of(Status.FAILED, trigger_version=reading().version),
            "the reading has not changed since the attempt failed",
        ),
        (
            reading(),
            run_of(Status.COMPLETED, evidence=seen(reading())),
            "the job has already seen this reading",
        ),
    ],
)
def test_a_reading_may_mean_nothing_today(given: Reading, run: Run | None, reason: str) -> None:
    assert why_ignored(DAILY, given, run) == reason


def test_changed_data_opens_a_date_whose_attempt_failed() -> None:
    run = run_of(Status.FAILED, trigger_version=reading().version)
    assert admitted(DAILY, _NEW, run) == [Reopen(run, OpenedBy.SENSOR, _NEW)]


def test_a_failed_attempt_that_saw_no_reading_is_opened_by_the_first() -> None:
    run = run_of(Status.FAILED, trigger_version=None)
    assert admitted(DAILY, reading(), run) == [Reopen(run, OpenedBy.SENSOR, reading())]


def test_the_reading_that_opened_a_run_starts_it_if_nothing_else_did() -> None:
    run = run_of(Status.PENDING, first_sensor_at=NOW, trigger_version=reading().version)
    assert admitted(DAILY, reading(), run) == [StartAgain(run)]
    started = run_of(
        Status.PENDING, first_sensor_at=NOW, trigger_version=reading().version, started_at=NOW
    )
    why = "it repeats the reading that opened the run in progress"
    assert why_ignored(DAILY, reading(), started) == why


@pytest.mark.parametrize("status", [Status.PENDING, Status.TRIGGERING, Status.RUNNING])
def test_the_first_reading_of_a_run_that_something_else_opened_is_noted(status: Status) -> None:
    run = run_of(status)
    assert admitted(DAILY, reading(), run) == [NoteFirst(run, reading())]


def test_a_trigger_reading_that_changed_after_completion_is_late_data() -> None:
    run = run_of(Status.COMPLETED, evidence=seen(reading()))
    assert admitted(DAILY, _NEW, run) == [NoteLate(run, _NEW)]


def test_late_data_need_not_pass_the_trigger() -> None:
    worse = reading(count=0)
    run = run_of(Status.COMPLETED, evidence=seen(reading()))
    assert admitted(DAILY, worse, run) == [NoteLate(run, worse)]


def test_a_run_without_evidence_of_the_trigger_has_not_seen_it() -> None:
    run = run_of(Status.COMPLETED, evidence=seen(reading("stock"), "stock"))
    assert admitted(DAILY, reading(), run) == [NoteLate(run, reading())]
    assert has_changed(run, reading(), "orders")


def test_a_date_that_is_done_without_evidence_stays_done() -> None:
    assert why_ignored(DAILY, reading(), run_of(Status.COMPLETED)) == BARE


@pytest.mark.parametrize(
    ("exclude", "day", "by"),
    [
        ("exclude: {weekends: true}", "2026-03-01", "weekends"),
        ("exclude: {days: [tuesday]}", "2026-03-03", "days"),
        ("exclude: {dates: [2026-03-05]}", "2026-03-05", "dates"),
        ("include: {dates: [2026-03-31]}", "2026-03-03", "include"),  # not one of the listed
    ],
)
def test_an_excluded_date_is_judged_by_the_date_not_by_today(
    exclude: str, day: str, by: str
) -> None:
    pipeline = declared(f"schedule: {{trigger: {{key: orders, check: exists}}, {exclude}}}")
    for today in ("2026-03-03T08:00Z", "2026-03-07T08:00Z"):  # a Tuesday, a Saturday
        given = reading(at=datetime.fromisoformat(today), date=day)
        (found,) = admit(pipeline, given, {}, given.received_at)
        assert isinstance(found, Exclude)
        assert (found.key, found.excluded.by) == (a_key(date=day), by)


def test_a_run_day_whose_data_comes_on_a_weekend_runs() -> None:
    pipeline = declared(
        "schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}"
    )
    saturday = datetime(2026, 3, 7, 2, 0, tzinfo=UTC)
    (found,) = admitted(pipeline, reading(at=saturday, date="2026-03-06"))
    assert isinstance(found, OpenRun)


def test_a_reading_that_does_not_pass_is_not_worth_saying_that_the_date_is_excluded() -> None:
    pipeline = declared(
        "schedule: {trigger: {key: orders, check: gt, field: count, value: 9},"
        " exclude: {days: [tuesday]}}"
    )
    assert why_ignored(pipeline, reading(count=1)) == "the trigger does not pass"


_CLOSING = declared("schedule: {trigger: {key: orders, check: exists, deadline: '06:30'}}")


@pytest.mark.parametrize(
    ("received", "opens"),
    [
        ("2026-03-04T06:29:59Z", True),  # the day after: a sensor-driven schedule
        ("2026-03-04T06:30:00Z", False),  # at the instant itself it is over
        ("2026-03-05T00:00:00Z", False),
    ],
)
def test_a_reading_counts_until_the_trigger_deadline(received: str, opens: bool) -> None:
    given = reading(at=datetime.fromisoformat(received))
    # judged much later: what counts is when it came
    found = admitted(_CLOSING, given, now=given.received_at + timedelta(days=2))
    expected = OpenRun(DAY, OpenedBy.SENSOR, given) if opens else Ignore("stream", _EARLIER)
    assert found == [expected]


@pytest.mark.parametrize(
    ("key", "fields", "problem"),
    [
        ("orders", {"date": "soon"}, "date_malformed"),
        ("orders", {"hour": 24}, "hour_malformed"),
        ("orders#2026-13-01", {}, "period_malformed"),
        ("orders#2026-03-04", {}, "date_disagrees"),
    ],
)
def test_a_reading_without_a_usable_date_is_rejected(
    key: str, fields: dict[str, Any], problem: str
) -> None:
    given = reading(key, **fields)
    (found,) = admitted(DAILY, given)
    assert isinstance(found, Reject)
    assert (found.schedule_id, found.rejection.problem) == ("stream", problem)
    assert run_keys(DAILY, given) == set()


def test_an_hour_that_the_clocks_skip_is_rejected() -> None:
    berlin = declared("schedule: {trigger: {key: orders, check: exists}, timezone: Europe/Berlin}")
    (found,) = admitted(berlin, reading(date="2026-03-29", hour=2))
    assert isinstance(found, Reject)
    assert found.rejection.problem == "hour_skipped"


def test_every_schedule_of_a_pipeline_decides_for_itself() -> None:
    pipeline = declared(
        """
schedules:
  - {id: eu, trigger: {key: orders, check: exists}, timezone: Europe/Berlin}
  - {id: jp, trigger: {key: orders, check: exists}, timezone: Asia/Tokyo}
  - {id: other, trigger: {key: stock, check: exists}}
  - {id: clock, cron: "0 6 * * *"}
"""
    )
    evening = reading(at=datetime(2026, 3, 3, 20, 0, tzinfo=UTC), date=None)
    assert [found.key for found in admitted(pipeline, evening) if isinstance(found, OpenRun)] == [
        RunKey("silver-orders", "eu", "2026-03-03"),
        RunKey("silver-orders", "jp", "2026-03-04"),
    ]


CASCADE = declared("schedule: {trigger: {pipeline: bronze}}")


def completion() -> Reading:
    """As the controller writes it."""
    return Reading("silver-orders", "pipeline:bronze#2026-03-03", {"attempt": 0}, NOW, own=True)


def test_a_completion_that_the_controller_did_not_write_is_rejected() -> None:
    (found,) = admitted(CASCADE, msgspec.structs.replace(completion(), own=False))
    assert isinstance(found, Reject)
    assert found.rejection.problem == "key_reserved"


def test_a_completion_upstream_is_a_reading_like_any_other() -> None:
    given = completion()
    assert admitted(CASCADE, given) == [OpenRun(DAY, OpenedBy.CASCADE, given)]


def test_a_whole_day_upstream_opens_the_day() -> None:
    pipeline = declared("schedule: {trigger: {pipeline: bronze, hours: all}}")
    assert run_keys(pipeline, completion()) == {DAY}


def test_a_dry_run_is_another_run() -> None:
    pipeline = declared("dryRun: true")
    assert run_keys(pipeline, reading()) == {a_key(dry=True)}
    (found,) = admitted(pipeline, reading())
    assert isinstance(found, OpenRun) and found.key.dry


AUDIT = reading("audit")
DONE_AT = NOW - timedelta(hours=1)


@pytest.mark.parametrize("status", [Status.RUNNING, Status.COMPLETED])
def test_a_post_run_reading_is_judged_while_the_job_runs_and_when_it_is_done(
    status: Status,
) -> None:
    run = run_of(status, completed_at=DONE_AT if status is Status.COMPLETED else None)
    assert admitted(WATCHED, AUDIT, run) == [PostRunReading(run, AUDIT, "audit")]


@pytest.mark.parametrize(
    "run", [None, *(run_of(s) for s in (Status.PENDING, Status.FAILED, Status.FAILED_FINAL))]
)
def test_a_post_run_reading_needs_a_job_to_speak_of(run: Run | None) -> None:
    assert why_ignored(WATCHED, AUDIT, run) == "no job of that date is running or done"


@pytest.mark.parametrize(("pipeline", "given"), [(DAILY, reading()), (WATCHED, AUDIT)])
def test_a_reading_means_nothing_for_a_date_whose_row_cannot_be_read(
    pipeline: Pipeline, given: Reading
) -> None:
    run = unreadable_run(DAY, "JSON is truncated")
    assert "can't be read" in why_ignored(pipeline, given, run)


@pytest.mark.parametrize(
    ("pipeline", "given", "status"),
    [
        (DAILY, reading(), Status.COMPLETED),
        (DAILY, reading(), Status.FAILED_FINAL),
        (WATCHED, AUDIT, Status.COMPLETED),
    ],
)
def test_only_a_rerun_opens_a_date_whose_row_says_no_more_than_that_it_is_over(
    pipeline: Pipeline, given: Reading, status: Status
) -> None:
    run = finished_run(DAY, status, 0, 0)
    assert why_ignored(pipeline, given, run).endswith("only a rerun opens it")


@pytest.mark.parametrize(("hours", "judged"), [(2, True), (3, False)])
def test_post_run_readings_are_judged_for_as_long_as_the_file_says(
    hours: int, judged: bool
) -> None:
    run = run_of(Status.COMPLETED, completed_at=DONE_AT)
    audit = reading("audit", DONE_AT + timedelta(hours=hours))
    (found,) = admitted(WATCHED, audit, run)
    expected = PostRunReading(run, audit, "audit") if judged else "the post-run window is over"
    assert (found.reason if isinstance(found, Ignore) else found) == expected


def test_a_post_run_reading_without_a_usable_date_is_rejected_once() -> None:
    (alone,) = admitted(WATCHED, reading("audit", date="soon"))
    assert isinstance(alone, Reject)
    (both,) = admitted(BOTH, reading(date="soon"))  # not by the trigger and by the rule
    assert isinstance(both, Reject)


def test_a_reading_that_only_a_rule_uses_is_rejected_if_it_can_not_be_used() -> None:
    pipeline = declared(
        """
validation: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}
schedules: [{id: a, trigger: {key: orders, check: exists}}, {id: b, cron: "0 6 * * *"}]
"""
    )
    said = "stock opens nothing: rules use it when a run is judged"
    assert why_ignored(pipeline, reading("stock")) == said
    found = admitted(pipeline, reading("stock", date="soon"))
    assert [type(each) for each in found] == [Reject, Reject]
    # by the trigger of one schedule, and by the rules of the other
    assert [type(each) for each in admitted(pipeline, reading(date="soon"))] == [Reject, Reject]


def test_a_trigger_that_a_post_run_rule_watches_opens_runs_too() -> None:
    assert admitted(BOTH, reading()) == [
        OpenRun(DAY, OpenedBy.SENSOR, reading()),
        Ignore("stream", "no job of that date is running or done"),
    ]


def test_for_a_key_that_a_post_run_rule_watches_drift_alone_decides() -> None:
    run = run_of(Status.COMPLETED, completed_at=DONE_AT, evidence=seen(reading()))
    assert admitted(BOTH, _NEW, run) == [
        Ignore("stream", "a post-run rule watches this key; drift decides"),
        PostRunReading(run, _NEW, "orders"),
    ]


def test_a_date_uses_the_keys_of_trigger_rules_and_post_run_rules() -> None:
    pipeline = declared(
        """
validation: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}
postRun: {rules: [{key: audit, check: exists}]}
"""
    )
    assert rule_keys(pipeline) == {"orders", "stock"}
    assert used_keys(pipeline, pipeline.schedules[0]) == {"orders", "stock", "audit"}
    plain = declared("schedule: {cron: '0 6 * * *'}")
    assert used_keys(plain, plain.schedules[0]) == {"orders"}


def test_a_schedule_without_a_trigger_is_passed_by_nothing() -> None:
    (schedule,) = declared("schedule: {cron: '0 6 * * *'}").schedules
    assert not passes(schedule, reading(), NOW)


# --- a cron and a trigger -----------------------------------------------------------------------

GATED = declared(
    "schedule: {cron: '0 6 * * *', trigger: {key: orders, check: gte, field: count, value: 100}}"
)
GATED_KEY = a_key(schedule_id="cron")


def test_a_date_with_a_cron_is_opened_by_its_moment_and_not_by_its_trigger() -> None:
    assert why_ignored(GATED, reading()) == (
        "the cron opens the date; the trigger must hold by then"
    )


def test_a_run_that_its_cron_opened_notes_its_first_reading() -> None:
    run = a_run(GATED_KEY, NOW)
    assert admitted(GATED, reading(), run) == [NoteFirst(run, reading())]


def test_a_changed_trigger_reading_opens_a_cron_date_again() -> None:
    run = a_run(GATED_KEY, NOW, status=Status.FAILED, failure=CLOSED)
    assert admitted(GATED, reading(), run) == [Reopen(run, OpenedBy.SENSOR, reading())]


# --- the reading that was missing -----------------------------------------------------------------

CLOSED = Failure("window", "validation window closed")
NEEDY = declared("validation: {rules: [{key: orders, check: exists}, {key: rates, check: exists}]}")


def midnight(day: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=UTC)


def closed_run(key: RunKey = DAY, **changes: Any) -> Run:
    return a_run(key, NOW, **{"status": Status.FAILED, "failure": CLOSED} | changes)


def test_a_reading_that_a_rule_uses_may_open_a_closed_date_again() -> None:
    run, rates = closed_run(), reading("rates")
    assert run_keys(NEEDY, rates) == {DAY}
    assert admitted(NEEDY, rates, run) == [ReopenWhenReady(run, rates, midnight(5))]
    other = closed_run(a_key(date="2026-03-02"))
    assert isinstance(admitted(NEEDY, rates, other)[0], Ignore)  # it names another date


def test_one_without_a_date_serves_every_date_whose_sla_day_it_is() -> None:
    rates = reading("rates", date=None)
    assert reopens_since(NEEDY, NEEDY.schedules[0], rates) == "2026-03-02"
    runs = {
        key: closed_run(key)
        for key in (a_key(date=date) for date in ("2026-03-01", "2026-03-02", "2026-03-03T05"))
    }
    found = admit(NEEDY, rates, runs, NOW)
    _, yesterday, hour = runs.values()
    assert found == [
        ReopenWhenReady(yesterday, rates, midnight(4)),
        ReopenWhenReady(hour, rates, midnight(5)),
    ]


@pytest.mark.parametrize(
    "run",
    [
        closed_run(failure=Failure("launch", "no cluster")),
        closed_run(failure=None),
        closed_run(status=Status.FAILED_FINAL),
        closed_run(status=Status.PENDING),
    ],
)
def test_only_a_closed_window_waits_for_the_missing_reading(run: Run) -> None:
    assert isinstance(admitted(NEEDY, reading("rates"), run)[0], Ignore)


def test_another_schedules_run_is_not_opened_again() -> None:
    other = closed_run(a_key(schedule_id="other"))
    assert isinstance(admitted(NEEDY, reading("rates", date=None), other)[0], Ignore)


@pytest.mark.parametrize(
    ("key", "fields"),
    [("orders", {"date": None}), ("rates", {}), ("nothing", {"date": None})],
)
def test_closed_runs_are_looked_for_where_a_reading_may_be_theirs(
    key: str, fields: dict[str, Any]
) -> None:
    """A trigger's belongs to its own day, a dated one to its date, and one that no rule uses to none."""
    assert reopens_since(NEEDY, NEEDY.schedules[0], reading(key, **fields)) is None


def test_the_trigger_of_a_cron_date_may_be_the_missing_reading() -> None:
    hourly = declared("schedule: {cron: '0 * * * *', trigger: {key: orders, check: exists}}")
    run = closed_run(a_key(schedule_id="cron", date="2026-03-03T07"))
    undated = reading(date=None)
    assert reopens_since(hourly, hourly.schedules[0], undated) == "2026-03-03"
    assert ReopenWhenReady(run, undated, midnight(4)) in admitted(hourly, undated, run)


# --- dates beyond the horizon -----------------------------------------------------------------------


@pytest.mark.parametrize("key", ["orders", "audit", "rates"])
def test_a_date_beyond_the_horizon_is_rejected_whatever_uses_the_key(key: str) -> None:
    pipeline = declared(
        "validation: {rules: [{key: rates, check: exists}]}\n"
        "postRun: {rules: [{key: audit, check: exists}]}"
    )
    (found,) = admitted(pipeline, reading(key, date="2027-03-03"))
    assert isinstance(found, Reject)
    assert found.rejection.problem == "date_beyond_horizon"
    assert found.rejection.allowed.startswith("a date up to 2026-03-05; ")
    assert rejection(pipeline, pipeline.schedules[0], reading(key, date="2026-03-05")) is None


# --- late data and drift --------------------------------------------------------------------------

FLAGGED = declared("postRun: {rules: [{key: orders, check: equals, field: complete, value: true}]}")


def done_run(**fields: Any) -> Run:
    before = reading(**fields)
    return run_of(Status.COMPLETED, completed_at=DONE_AT, evidence=seen(before))


def test_where_drift_can_not_be_measured_changed_content_is_late_data() -> None:
    run = done_run(count=100, complete=True)
    changed = reading(count=900, complete=True)
    assert admitted(FLAGGED, changed, run) == [NoteLate(run, changed)]


def test_where_a_number_can_be_compared_drift_decides() -> None:
    run, changed = done_run(count=100), reading(count=900)
    ignored, judged = admitted(BOTH, changed, run)
    assert isinstance(ignored, Ignore) and "drift decides" in ignored.reason
    assert judged == PostRunReading(run, changed, "orders")


def test_after_the_post_run_window_changed_content_is_late_data() -> None:
    run = done_run(count=100)
    changed = reading(at=DONE_AT + timedelta(hours=25), count=900)
    assert admitted(BOTH, changed, run) == [NoteLate(run, changed)]


def test_a_post_run_reading_older_than_its_attempt_speaks_of_another_run() -> None:
    run = run_of(Status.COMPLETED, completed_at=NOW)
    old = reading("audit", NOW - timedelta(seconds=1))
    assert why_ignored(WATCHED, old, run) == "it arrived before the attempt was opened"


@pytest.mark.parametrize(
    ("launched_at", "completed_at", "judged"),
    [
        (NOW - timedelta(hours=1), None, True),
        (NOW - timedelta(days=1), None, True),  # it runs to this day
        (NOW - timedelta(days=1), NOW - timedelta(hours=7), True),  # over midnight
        (NOW - timedelta(days=1), NOW - timedelta(hours=9), False),  # its job ran the day before
        (NOW + timedelta(hours=1), None, False),  # its job had not begun
        (None, None, False),
    ],
)
def test_one_without_a_date_speaks_of_the_job_that_ran_that_day(
    launched_at: datetime | None, completed_at: datetime | None, judged: bool
) -> None:
    yesterday = a_key(date="2026-03-02")
    audit = reading("audit", date=None)
    assert run_keys(WATCHED_FOR_A_DAY, audit) == {DAY, yesterday}
    status = Status.RUNNING if completed_at is None else Status.COMPLETED
    opened_at = launched_at or NOW
    run = a_run(
        yesterday, opened_at, status=status, launched_at=launched_at, completed_at=completed_at
    )
    (found,) = admitted(WATCHED_FOR_A_DAY, audit, run)
    assert isinstance(found, PostRunReading) is judged


# --- a schedule that was edited since

EDITED_AT = NOW - timedelta(hours=1)
OLD, FRESH = EDITED_AT - timedelta(hours=1), EDITED_AT + timedelta(minutes=1)
STANDINGS = {
    "stream": Standing(since=EDITED_AT, deadlines_since=EDITED_AT, readings_since=EDITED_AT)
}


def after_the_edit(given: Reading, run: Run | None = None) -> Admission:
    runs = {} if run is None else {run.key: run}
    (found,) = admit(DAILY, given, runs, NOW, STANDINGS)
    return found


def done(opened_at: datetime, *keys: str) -> Run:
    seen = {key: Evidence(key, "v", {}) for key in keys}
    return a_run(a_key(), opened_at, status=Status.COMPLETED, evidence=seen)


def test_a_reading_from_before_an_edit_opens_nothing_and_a_later_one_does() -> None:
    assert after_the_edit(reading(at=OLD)) == Ignore("stream", BEFORE)
    assert isinstance(after_the_edit(reading(at=FRESH)), OpenRun)


def test_a_date_that_ran_before_the_edit_on_another_key_is_not_late() -> None:
    assert isinstance(after_the_edit(reading(at=FRESH), done(OLD, "other")), NoteRepeat)
    assert after_the_edit(reading(at=OLD), done(OLD, "other")) == Ignore("stream", BEFORE)


def test_a_reading_without_a_date_may_be_of_another_day_since_the_edit() -> None:
    undated = Reading("silver-orders", "orders", {"count": 500}, FRESH)
    assert isinstance(after_the_edit(undated, done(OLD, "orders")), NoteRepeat)


def test_a_correction_of_what_the_job_saw_is_late_data_whatever_was_edited() -> None:
    assert isinstance(after_the_edit(reading(at=FRESH), done(OLD, "orders")), NoteLate)
    assert isinstance(after_the_edit(reading(at=NOW), done(FRESH, "other")), NoteLate)
