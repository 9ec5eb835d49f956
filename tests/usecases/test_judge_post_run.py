"""Judging post-run readings: drift, and outcomes that change."""

from datetime import timedelta

import pytest

from interlock.domain.event import EventType
from interlock.domain.timestamp import spell
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.judge_post_run import judge_again
from usecases.home import KEY, Home, assert_a_crash_changes_nothing

WATCHED = """
validation: {rules: [{key: orders, check: exists}, {key: audit, check: exists}]}
postRun:
  rules: [{key: audit, check: gte, field: count, value: 100}, {key: totals, check: exists}]
  driftThreshold: 10
"""
PASSED, FAILED = EventType.POST_RUN_PASSED, EventType.POST_RUN_FAILED
DRIFT, INFLIGHT = EventType.POST_RUN_DRIFT, EventType.POST_RUN_DRIFT_INFLIGHT


def done(home: Home, text: str = WATCHED, count: object = 200) -> None:
    home.adopt(text)
    home.reading("audit", date="2026-03-03", count=count)
    home.completed()
    home.pass_time(minutes=5)


def test_the_baseline_is_what_the_job_saw(home: Home) -> None:
    done(home)
    baseline = home.store.runs.baseline(home.run().key)
    assert baseline is not None
    assert baseline.readings["audit"].fields["count"] == 200
    assert "totals" not in baseline.readings  # it was not there at completion
    event = home.event(EventType.POST_RUN_BASELINE_CAPTURED)
    assert event.detail["baseline"] == [{"key": "audit", "field": "count", "value": 200}]


def test_a_number_that_left_the_baseline_asks_for_a_rerun(home: Home) -> None:
    done(home)
    home.admit("audit", count=150)
    event = home.event(DRIFT)
    assert event.detail["baseline"] == 200
    assert (event.detail["current"], event.detail["delta"]) == (150, -50)
    assert event.detail["rerunRequested"] is True
    (request,) = home.store.reruns.unjudged()
    assert request.reason == "data-drift"
    assert home.events(FAILED) == home.events(PASSED) == []  # drift says it all


def test_a_number_within_the_threshold_is_judged_by_the_rules(home: Home) -> None:
    done(home)
    home.admit("audit", count=210)
    assert home.events(DRIFT) == home.events(PASSED) == []  # totals may still come
    home.admit("totals")
    assert len(home.events(PASSED)) == 1
    assert home.store.reruns.unjudged() == []


def test_a_rule_that_fails_is_reported_while_another_reading_is_still_to_come(home: Home) -> None:
    done(home, count=105)
    home.admit("audit", count=95)
    assert home.event(FAILED).message == "audit.count is 95, needs >= 100"


def test_one_content_drifts_once(home: Home) -> None:
    done(home)
    home.admit("audit", count=150)
    home.admit("audit", count=150)
    assert len(home.events(DRIFT)) == 1
    home.admit("audit", count=151)
    assert len(home.events(DRIFT)) == 2


@pytest.mark.parametrize(
    ("count", "drifts"), [(0, True), (None, False), ("many", False), ("150", True)]
)
def test_zero_is_a_number_and_absent_is_not(home: Home, count: object, drifts: bool) -> None:
    done(home)
    home.admit("audit", count=count)
    assert bool(home.events(DRIFT)) is drifts


def test_outcomes_are_reported_when_they_change_and_not_on_each_write(home: Home) -> None:
    done(home)
    for fields in ({"n": 1}, {"n": 2}):
        home.admit("totals", **fields)  # passes, twice
    for count in (195, 90 + 105):
        home.admit("audit", count=count)  # still passes
    home.store.sensors.remove("silver-orders", "totals", home.clock())
    home.admit("audit", count=196)  # fails: totals is gone
    home.admit("audit", count=197)
    home.admit("totals")
    assert home.told()[-3:] == ["POST_RUN_PASSED", "POST_RUN_FAILED", "POST_RUN_PASSED"]
    assert [e.event_id.rpartition("/")[2] for e in home.events(PASSED)] == ["1", "3"]
    assert [r["key"] for r in home.event(FAILED).detail["failing"]] == ["totals"]
    assert [r["key"] for r in home.event(FAILED).detail["passing"]] == ["audit"]


def test_a_post_run_reading_is_noted_as_seen(home: Home) -> None:
    done(home)
    home.admit("totals")
    assert home.run().post_run.seen == {"totals": home.clock()}


def test_drift_while_the_job_runs_is_reported_and_judged_again_at_completion(home: Home) -> None:
    home.adopt(WATCHED)
    home.reading("audit", date="2026-03-03", count=200)
    home.launched()
    home.pass_time(minutes=1)
    home.admit("audit", count=300)
    home.admit("audit", count=300)
    event = home.event(INFLIGHT)
    assert event.detail["rerunRequested"] is False
    assert home.store.reruns.unjudged() == []
    home.pass_time(minutes=5)
    home.finish()
    assert home.event(DRIFT).detail["current"] == 300
    assert len(home.store.reruns.unjudged()) == 1


def test_a_change_within_the_threshold_in_flight_is_no_news(home: Home) -> None:
    home.adopt(WATCHED)
    home.reading("audit", date="2026-03-03", count=200)
    home.launched()
    home.admit("audit", count=205)
    assert home.events(INFLIGHT) == []


def test_a_new_attempt_has_a_baseline_of_its_own(home: Home) -> None:
    done(home)
    home.admit("audit", count=500)
    home.settle()  # the rerun is granted, and its job starts
    home.pass_time(minutes=2)
    home.settle()
    assert home.run().attempt == 1
    home.admit("audit", count=505)
    assert len(home.events(DRIFT)) == 1  # 505 is near what the second attempt saw
    baseline = home.store.runs.baseline(home.run().key)
    assert baseline is not None and baseline.attempt == 1


def test_a_key_that_is_the_trigger_too_makes_one_request(home: Home) -> None:
    home.adopt("postRun: {rules: [{key: orders, check: gte, field: count, value: 1}]}")
    home.completed(count=100)
    home.admit(count=200)
    assert len(home.events(DRIFT)) == 1
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []
    assert len(home.store.reruns.unjudged()) == 1


def test_after_the_window_nothing_is_judged(home: Home) -> None:
    done(home, WATCHED.replace("driftThreshold: 10", "evaluation: {window: 1h}"))
    home.pass_time(hours=2)
    home.admit("audit", count=500)
    assert home.events(DRIFT) == []


def test_a_dry_run_tells_what_would_have_drifted(home: Home) -> None:
    home.adopt("dryRun: true\n" + WATCHED)
    home.reading("audit", date="2026-03-03", count=200)
    home.admit()
    home.settle()
    home.admit("audit", count=500)
    event = home.event(EventType.DRY_RUN_DRIFT)
    assert event.detail["current"] == 500
    home.settle()
    assert home.told()[-2:] == ["DRY_RUN_DRIFT", "DRY_RUN_WOULD_RERUN"]
    assert home.jobs.launches == []


def test_a_publish_that_fails_loses_nothing(home: Home) -> None:
    done(home)
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        home.admit("audit", count=500)
    home.admit("audit", count=500)
    assert len(home.events(DRIFT)) == 1
    assert len(home.store.reruns.unjudged()) == 1


@pytest.mark.parametrize("count", [500, 205])
def test_dying_at_any_line_changes_nothing(count: int) -> None:
    assert_a_crash_changes_nothing(done, lambda home: home.admit("audit", count=count))


def test_a_baseline_that_does_not_fit_is_reported_and_the_run_completes(home: Home) -> None:
    home.adopt(WATCHED)
    home.reading("audit", date="2026-03-03", count=200)
    home.launched()
    home.reading("totals", date="2026-03-03", text="x" * 500_000)  # more than a row can hold
    home.pass_time(minutes=5)
    home.finish()
    assert home.run().status == "COMPLETED"
    assert home.store.runs.baseline(home.run().key) is None
    event = home.event(EventType.BASELINE_CAPTURE_FAILED)
    assert "totals" in event.detail["error"]
    assert home.events(EventType.POST_RUN_BASELINE_CAPTURED) == []


OUTPUT = """
postRun:
  rules: [{key: output, check: gte, field: count, value: 100}]
  driftThreshold: 10
"""
CAPTURED = EventType.POST_RUN_BASELINE_CAPTURED


def test_a_reading_from_before_the_attempt_is_no_baseline(home: Home) -> None:
    home.adopt(OUTPUT)
    home.reading("output", count=5000)  # yesterday's, without a date
    home.pass_time(minutes=1)
    home.completed()
    assert home.store.runs.baseline(home.run().key) is None
    assert home.events(CAPTURED) == []
    home.admit("output", count=9000)
    assert home.events(DRIFT) == []
    assert home.event(CAPTURED).detail["baseline"] == [
        {"key": "output", "field": "count", "value": 9000}
    ]


def test_the_first_reading_after_completion_is_compared_with_the_next(home: Home) -> None:
    home.adopt(OUTPUT)
    home.completed()
    home.admit("output", count=5000)
    home.admit("output", count=5005)
    home.admit("output", count=9000)
    assert home.event(DRIFT).detail["baseline"] == 5000
    assert len(home.events(CAPTURED)) == 1


def test_each_key_without_a_baseline_gets_its_own(home: Home) -> None:
    home.adopt(OUTPUT.replace("}]", "}, {key: errors, check: lt, field: n, value: 5}]"))
    home.completed()
    home.admit("output", count=5000)
    home.admit("errors", n=0)
    assert [len(event.detail["baseline"]) for event in home.events(CAPTURED)] == [1, 2]
    baseline = home.store.runs.baseline(home.run().key)
    assert baseline is not None and set(baseline.readings) == {"output", "errors"}


def test_what_came_while_the_job_ran_is_judged_when_it_is_done(home: Home) -> None:
    home.adopt(OUTPUT)
    home.launched()
    home.pass_time(minutes=1)
    home.admit("output", count=50)
    assert home.events(FAILED) == []
    home.pass_time(minutes=5)
    home.finish()
    assert home.event(FAILED).message == "output.count is 50, needs >= 100"
    assert home.events(DRIFT) == []


def test_dying_while_a_baseline_is_captured_changes_nothing() -> None:
    def scene(home: Home) -> None:
        home.adopt(OUTPUT)
        home.completed()

    home = assert_a_crash_changes_nothing(scene, lambda home: home.admit("output", count=500))
    assert len(home.events(CAPTURED)) == 1


AGING = """
postRun:
  rules: [{key: feed, check: age_lt, field: updatedAt, value: 1h}]
  evaluation: {window: 3h, interval: 30m}
"""


def aged(home: Home) -> None:
    home.adopt(AGING)
    home.completed()
    home.admit("feed", updatedAt=spell(home.clock()))


def pass_the_window(home: Home) -> None:
    for _ in range(8):
        home.pass_time(minutes=30)
        home.settle()


def test_a_rule_that_ages_is_judged_again_and_its_failure_told_once(home: Home) -> None:
    aged(home)
    home.settle()
    pass_the_window(home)
    told = [kind for kind in home.told() if kind.startswith("POST_RUN_")]
    assert told[-3:] == ["POST_RUN_PASSED", "POST_RUN_FAILED", "POST_RUN_ENDED"]
    failed, ended = home.event(FAILED), home.event(EventType.POST_RUN_ENDED)
    done_at = home.run().completed_at
    assert done_at is not None
    assert failed.timestamp == done_at + timedelta(hours=1)
    assert ended.timestamp == done_at + timedelta(hours=3)
    assert ended.detail["outcome"] == "failed"
    assert set(ended.detail["seen"]) == {"feed"}
    assert "unseen" not in ended.detail
    assert home.run().post_run_look_at is None
    assert [name for name in home.armed() if name.startswith("post-run.")] == []


def test_the_end_names_what_never_came(home: Home) -> None:
    home.adopt(OUTPUT)
    home.completed()
    home.settle()
    home.pass_time(hours=24)
    home.settle()
    assert home.event(EventType.POST_RUN_ENDED).detail["unseen"] == ["output"]


def test_a_look_at_an_attempt_that_is_over_does_nothing(home: Home) -> None:
    aged(home)
    home.request(force=True)
    home.settle()
    assert home.run().attempt == 1
    before = home.told()
    home.pass_time(hours=2)
    judge_again(KEY, 0, home.ports)
    assert home.told() == before


def test_a_look_before_its_time_does_nothing(home: Home) -> None:
    aged(home)
    version = home.run().version
    judge_again(KEY, 0, home.ports)
    assert home.run().version == version


@pytest.mark.parametrize("change", ["", None])
def test_a_file_that_drops_its_post_run_rules_ends_the_looks(
    home: Home, change: str | None
) -> None:
    aged(home)
    home.take_away() if change is None else home.adopt(change)
    home.pass_time(minutes=30)
    judge_again(KEY, 0, home.ports)
    assert home.run().post_run_look_at is None
    assert home.events(EventType.POST_RUN_ENDED) == []


def test_a_look_of_a_run_that_is_not_there_is_no_error(home: Home) -> None:
    assert judge_again(KEY, 0, home.ports) is None
    home.adopt(AGING)
    assert judge_again(KEY, 0, home.ports) is None


def test_dying_while_looking_again_changes_nothing() -> None:
    def scene(home: Home) -> None:
        aged(home)
        home.pass_time(hours=1)

    home = assert_a_crash_changes_nothing(scene, lambda home: judge_again(KEY, 0, home.ports))
    assert len(home.events(FAILED)) == 1


def test_the_watchdog_makes_up_for_a_look_whose_timer_is_lost(home: Home) -> None:
    aged(home)
    home.settle()
    home.store.timers.cancel([name for name in home.armed() if name.startswith("post-run.")])
    home.pass_time(hours=1, minutes=5)
    home.settle()
    assert len(home.events(FAILED)) == 1


COMPARED = """
postRun:
  rules: [{key: totals, check: equals, field: n, value: {field: n, key: ledger}}]
  sensorTimeout: 1h
"""


def test_a_rule_waits_for_the_reading_that_it_is_compared_with(home: Home) -> None:
    home.adopt(COMPARED)
    home.completed()
    home.pass_time(minutes=5)
    home.admit("totals", n=5)
    assert home.events(PASSED) == home.events(FAILED) == []
    home.admit("ledger", n=6)
    assert home.event(FAILED).message == "totals.n is 5, needs ledger.n (6)"
    home.admit("ledger", n=5)
    assert home.run().post_run.outcome == "passed"


def test_the_key_that_a_rule_is_compared_with_is_missed_too(home: Home) -> None:
    home.adopt(COMPARED)
    home.completed()
    home.admit("totals", n=5)
    home.pass_time(hours=2)
    home.settle()
    assert home.event(EventType.POST_RUN_SENSOR_MISSING).detail["missing"] == ["ledger"]
