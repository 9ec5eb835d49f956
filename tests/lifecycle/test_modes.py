"""The orchestrator's modes: each called as the state machine would, twice, late, and out of turn."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.budgets import Category, Spending
from interlock.domain.canonical import as_json
from interlock.domain.event import EventType
from interlock.domain.job import Absent, CannotTell, Failed, Launched, Running, Succeeded
from interlock.domain.run import DeadlineKind, RunKey, Status
from interlock.errors import (
    ConfigError,
    LaunchError,
    NotFoundError,
    TransientError,
    TransitionError,
)
from interlock.lifecycle.modes import ORCHESTRATOR, SLA_MONITOR, call
from interlock.simulation.scenario import Call, JobScript, LaunchOutcome
from interlock.usecases.retry_job import retry_job
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

EVAL = {"current", "passed", "exhausted", "waitSeconds", "elapsedSeconds", "failing"}
JOB = {
    "current", "launched", "runId", "event", "exhausted", "waitSeconds", "pollWindowSeconds", "armSla",
    "watched", "ending",
}  # fmt: skip
FINISH = {"current", "outcome", "running", "settleSla"}

COUNTED = "validation: {rules: [{key: orders, check: gte, field: count, value: 100}]}"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def home() -> Home:
    return Home()


def opened(home: Home, text: str = "", **fields: Any) -> None:
    home.adopt(text)
    home.admit(**fields)


def ready(home: Home, text: str = "", **fields: Any) -> None:
    opened(home, text, **fields)
    home.mode("evaluate")


def launched(home: Home, text: str = "", **fields: Any) -> None:
    ready(home, text, **fields)
    home.mode("trigger")


def triggering(home: Home, text: str = "") -> None:
    """A run whose launch was begun, with an unknown outcome."""
    ready(home, text)
    run = home.run()
    assert home.store.runs.save(run.to(Status.TRIGGERING, home.clock()))


def failed_once(home: Home) -> None:
    """The first attempt failed and the second is open."""
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 5}")
    home.finish("fail", category=Category.TRANSIENT)
    retry_job(KEY, 0, home.ports)


def succeeded(home: Home) -> None:
    """The job says that it succeeded, and the run is not completed yet."""
    launched(home)
    home.job_says("success", 0)


class Jobs:
    """A platform that answers as it is told, and counts what it is asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def answer(*given: Any) -> Any:
            self.calls.append(name)
            told = self.answers[name]
            if isinstance(told, Exception):
                raise told
            return told

        return answer


A_JOB = Launched("run-7", {"token": "t"})


# --- what holds for every mode ---

#: A scene in which each mode has something to do, and what else it is given.
TURNS: dict[str, tuple[Callable[[Home], object], dict[str, Any], set[str]]] = {
    "evaluate": (opened, {}, EVAL),
    "trigger": (ready, {}, JOB),
    "check-job": (launched, {}, JOB),
    "validation-exhausted": (opened, {}, FINISH),
    "trigger-exhausted": (triggering, {"errors": {"Trigger": {"Error": "LaunchError"}}}, FINISH),
    "job-poll-exhausted": (launched, {}, FINISH),
    "complete-trigger": (
        succeeded,
        {"event": "success"},
        FINISH,
    ),
    "infra-failure": (opened, {"errors": {"Evaluate": {"Error": "Boom"}}}, FINISH),
}


@pytest.mark.parametrize("mode", TURNS)
def test_an_answer_always_has_all_its_fields(home: Home, mode: str) -> None:
    scene, also, fields = TURNS[mode]
    scene(home)
    assert set(home.mode(mode, **also)) == fields
    assert set(home.mode(mode, **also)) == fields  # also where there is nothing left to do
    assert set(home.mode(mode, attempt=7, **also)) == fields


@pytest.mark.parametrize("mode", TURNS)
def test_called_twice_it_answers_the_same_and_tells_nothing_new(home: Home, mode: str) -> None:
    scene, also, _ = TURNS[mode]
    scene(home)
    first = home.mode(mode, **also)
    before = home.state()
    assert home.mode(mode, **also) == first
    assert home.state() == before


@pytest.mark.parametrize("mode", TURNS)
def test_for_an_older_attempt_nothing_is_current_and_nothing_changes(home: Home, mode: str) -> None:
    failed_once(home)
    home.mode("evaluate")
    before, version = home.state(), home.run().version
    _, also, _ = TURNS[mode]
    answer = home.mode(mode, attempt=0, **also)
    assert answer["current"] is False
    if "outcome" in answer:
        assert answer["outcome"] in ("superseded", "infra-failure")
    assert home.state() == before
    assert home.run().version == version


@pytest.mark.parametrize("mode", TURNS)
def test_dying_at_any_line_changes_nothing(mode: str) -> None:
    scene, also, _ = TURNS[mode]
    assert_a_crash_changes_nothing(scene, lambda home: home.mode(mode, **also))


@pytest.mark.parametrize("mode", [mode for mode in TURNS if mode != "check-job"])
def test_a_publish_that_fails_changes_no_answer_and_the_next_step_tells_the_event(
    home: Home, mode: str
) -> None:
    scene, also, _ = TURNS[mode]
    sound = Home()
    for each in (home, sound):
        scene(each)
    before = home.told()
    home.fails(Call.PUBLISH)
    assert home.mode(mode, **also) == sound.mode(mode, **also)
    assert home.told() == before
    assert home.run() == sound.run()
    home.mode(mode, **also)
    assert home.state() == sound.state()
    assert home.store.outbox.leftovers(home.clock() + MINUTE) == []


def test_a_failed_job_is_recorded_though_the_bus_is_down(home: Home) -> None:
    launched(home)
    ports = home.with_ports(jobs=Jobs(poll=Failed(Category.PERMANENT, "a bug")))
    home.fails(Call.PUBLISH)
    assert home.mode("check-job", ports=ports)["event"] == "fail"
    assert EventType.JOB_FAILED not in home.told()
    home.mode("complete-trigger", event="fail")
    assert home.told()[-1] == EventType.JOB_FAILED


def test_a_bus_that_fails_is_asked_once_a_step(home: Home) -> None:
    ready(home)
    home.fails(Call.PUBLISH, 2)  # of the launch, and of the next step
    home.mode("trigger")
    home.mode("trigger")
    assert EventType.JOB_TRIGGERED not in home.told()
    home.mode("trigger")
    assert EventType.JOB_TRIGGERED in home.told()


def test_what_else_goes_wrong_with_a_publish_is_raised(home: Home) -> None:
    class Broken:
        of_run = newest = None

        def publish(self, events: object) -> None:
            raise KeyError("a defect")

    opened(home)
    with pytest.raises(KeyError):
        home.mode("evaluate", ports=home.with_ports(events=Broken()))


@pytest.mark.parametrize("mode", SLA_MONITOR)
def test_a_deadline_is_armed_and_settled_though_the_bus_is_down(home: Home, mode: str) -> None:
    home.adopt("sla: {deadline: '10:00'}")
    home.completed()
    sound = home.store.outbox.leftovers(home.clock() + MINUTE)
    home.fails(Call.PUBLISH)
    home.mode(mode)
    waiting = home.store.outbox.leftovers(home.clock() + MINUTE)
    assert [event.type for event in waiting[len(sound) :]] == (
        [EventType.SLA_MET] if mode == "cancel" else []
    )


@pytest.mark.parametrize("mode", TURNS)
def test_a_date_without_a_run_is_an_error(home: Home, mode: str) -> None:
    scene, also, _ = TURNS[mode]
    scene(home)
    given = home.payload(mode) | also | {"watched": ""}  # a poll that carries it does not look
    home.database.write(lambda connection: connection.execute("DELETE FROM runs"))
    with pytest.raises(NotFoundError):
        call(ORCHESTRATOR, given, home.ports)


def test_an_unknown_mode_is_an_error(home: Home) -> None:
    opened(home)
    with pytest.raises(ConfigError, match="unknown mode 'dance'; known modes: evaluate, trigger"):
        home.mode("dance")


# --- evaluate ---


def test_rules_that_hold_keep_their_evidence(home: Home) -> None:
    opened(home, COUNTED, count=200)
    answer = home.mode("evaluate")
    assert (answer["passed"], answer["exhausted"], answer["failing"]) == (True, False, [])
    run = home.run()
    assert run.evidence["orders"].fields["count"] == 200
    assert run.verdict is not None and run.verdict.ready
    assert run.started_at == NOW
    event = home.event(EventType.VALIDATION_PASSED)
    assert (event.detail["evaluations"], event.detail["waitedSeconds"]) == (1, 0)


def test_when_the_rules_of_a_date_first_held_is_kept_through_its_attempts(home: Home) -> None:
    failed_once(home)
    assert home.run().ready_at == NOW
    home.pass_time(minutes=5)
    home.mode("evaluate")
    assert (home.run().attempt, home.run().ready_at) == (1, NOW)


def test_rules_that_do_not_hold_say_why_and_when_to_look_again(home: Home) -> None:
    opened(home, COUNTED, count=5)
    answer = home.mode("evaluate")
    assert answer["passed"] is False
    assert answer["failing"] == ["orders.count is 5, needs >= 100"]
    assert answer["waitSeconds"] == 300
    run = home.run()
    assert run.evidence == {}
    assert run.verdict is not None and run.verdict.results[0].kind == "not_greater_or_equal"
    assert home.events(EventType.VALIDATION_PASSED) == []


def test_a_rule_is_judged_on_the_reading_as_it_is_now(home: Home) -> None:
    opened(home, COUNTED, count=5)
    home.mode("evaluate")
    since = home.run().verdict
    home.pass_time(minutes=5)
    home.mode("evaluate")
    again = home.run().verdict
    assert since is not None and again is not None
    assert again.results[0].since == since.at  # it has failed so since then
    assert again.evaluations == 2
    home.reading(date="2026-03-03", count=100)
    assert home.mode("evaluate")["passed"] is True
    assert home.event(EventType.VALIDATION_PASSED).detail["evaluations"] == 3


def test_after_passing_the_evidence_is_what_it_is(home: Home) -> None:
    ready(home, COUNTED, count=200)
    home.reading(date="2026-03-03", count=1)
    answer = home.mode("evaluate")
    assert answer["passed"] is True
    assert home.run().evidence["orders"].fields["count"] == 200


@pytest.mark.parametrize(
    ("minutes", "wait", "exhausted"),
    [
        (0, 300, False),
        (57, 180, False),  # the rest of the window
        (59.995, 1, False),  # whole seconds, rounded up
        (60, 0, True),  # at the end instant itself it is over
        (90, 0, True),
    ],
)
def test_no_run_waits_beyond_the_window(
    home: Home, minutes: float, wait: int, exhausted: bool
) -> None:
    opened(home, COUNTED, count=5)
    home.mode("evaluate")
    home.pass_time(minutes=minutes)
    answer = home.mode("evaluate")
    assert (answer["waitSeconds"], answer["exhausted"]) == (wait, exhausted)
    assert answer["elapsedSeconds"] == int(minutes * 60)


def test_the_first_evaluation_counts_however_late_it_is(home: Home) -> None:
    opened(home, COUNTED, count=200)
    home.pass_time(hours=5)
    answer = home.mode("evaluate")
    assert (answer["passed"], answer["exhausted"]) == (True, True)


def test_a_later_evaluation_beyond_the_window_does_not_count(home: Home) -> None:
    opened(home, COUNTED, count=5)
    home.mode("evaluate")
    home.reading(date="2026-03-03", count=200)
    home.pass_time(hours=1)
    answer = home.mode("evaluate")
    assert (answer["passed"], answer["exhausted"]) == (False, True)
    assert home.run().evidence == {}
    assert home.events(EventType.VALIDATION_PASSED) == []


def test_an_evaluation_remembers_the_trigger_reading_it_saw(home: Home) -> None:
    opened(home, COUNTED, count=5)
    before = home.run().trigger_version
    newer = home.reading(date="2026-03-03", count=6)
    home.mode("evaluate")
    assert home.run().trigger_version == newer.version != before
    home.store.sensors.remove("silver-orders", "orders", home.clock())
    home.mode("evaluate")
    assert home.run().trigger_version == newer.version  # what is gone was seen


def test_any_rule_may_be_enough(home: Home) -> None:
    opened(
        home,
        "validation: {trigger: ANY, rules: [{key: a, check: exists}, {key: orders, check: exists}]}",
    )
    assert home.mode("evaluate")["passed"] is True


def test_a_run_that_is_under_way_has_passed(home: Home) -> None:
    launched(home)
    assert home.mode("evaluate")["passed"] is True


def test_an_instant_that_can_not_be_read_is_an_error(home: Home) -> None:
    opened(home)
    with pytest.raises(ConfigError, match="windowEnd is not an instant"):
        home.mode("evaluate", windowEnd="soon")


# --- trigger ---


def test_a_job_is_launched_once_and_told(home: Home) -> None:
    ready(home)
    answer = home.mode("trigger")
    run = home.run()
    assert (answer["launched"], answer["runId"]) == (True, run.run_id)
    assert (answer["waitSeconds"], answer["pollWindowSeconds"]) == (10, 3600)
    assert (run.status, run.launched_at, run.job_type) == (Status.RUNNING, NOW, "command")
    (record,) = home.store.job_log.of_run(KEY)
    assert (record.event, record.attempt, record.run_id) == ("triggered", 0, run.run_id)
    event = home.event(EventType.JOB_TRIGGERED)
    assert event.message == "triggered command job"
    assert event.detail["evidence"] == {"orders": run.evidence["orders"].version}
    assert len(home.jobs.launches) == 1


def test_without_a_passing_verdict_nothing_is_launched(home: Home) -> None:
    opened(home, COUNTED, count=5)
    for _ in range(2):
        with pytest.raises(TransitionError, match="no passing verdict, no launch"):
            home.mode("trigger")
        home.mode("evaluate")
    assert home.jobs.launches == []
    assert home.run().status is Status.PENDING


def test_called_again_while_triggering_it_looks_before_it_launches(home: Home) -> None:
    triggering(home)
    jobs = Jobs(find=A_JOB)
    home.mode("trigger", ports=home.with_ports(jobs=jobs))
    assert jobs.calls == ["find"]
    assert home.run().run_id == "run-7"
    assert len(home.events(EventType.JOB_TRIGGERED)) == 1


@pytest.mark.parametrize("found", [Absent(), CannotTell()])
def test_a_job_that_is_not_found_is_launched(home: Home, found: object) -> None:
    triggering(home)
    jobs = Jobs(find=found, launch=A_JOB)
    home.mode("trigger", ports=home.with_ports(jobs=jobs))
    assert jobs.calls == ["find", "launch"]


def test_the_first_launch_looks_nothing_up(home: Home) -> None:
    ready(home)
    jobs = Jobs(launch=A_JOB)
    home.mode("trigger", ports=home.with_ports(jobs=jobs))
    assert jobs.calls == ["launch"]


@pytest.mark.parametrize(("found", "launches"), [(CannotTell(), 0), (Absent(), 1)])
def test_a_job_that_must_not_run_twice_is_not_launched_in_doubt(
    home: Home, found: object, launches: int
) -> None:
    triggering(home, "job: {type: http, config: {url: 'https://x.example/run', atMostOnce: true}}")
    jobs = Jobs(find=found, launch=A_JOB)
    ports = home.with_ports(jobs=jobs)
    if launches:
        home.mode("trigger", ports=ports)
    else:
        with pytest.raises(LaunchError, match="outcome unknown, not repeated") as raised:
            home.mode("trigger", ports=ports)
        assert raised.value.maybe_started
        assert raised.value.category == "PERMANENT"
    assert jobs.calls.count("launch") == launches


@pytest.mark.parametrize(
    ("category", "raised"), [("TRANSIENT", TransientError), ("PERMANENT", LaunchError)]
)
def test_a_launch_error_is_raised_by_what_may_help(
    home: Home, category: str, raised: type[Exception]
) -> None:
    ready(home)
    home.scripts["silver-orders"] = (
        JobScript(launch="error", category=Category(category), error="no\x00such job"),  # type: ignore[arg-type]
    )
    with pytest.raises(raised, match="no"):
        home.mode("trigger")
    assert home.run().status is Status.TRIGGERING
    assert home.events(EventType.JOB_TRIGGERED) == []
    (record,) = home.store.job_log.of_run(KEY)
    assert (record.event, record.attempt, record.at) == ("launch-failed", 0, NOW)
    assert (record.category, record.error) == (category, "no such job")


def test_each_failed_launch_leaves_a_line_in_the_job_log(home: Home) -> None:
    ready(home)
    trouble = JobScript(launch=LaunchOutcome.ERROR, category=Category.TRANSIENT, error="busy")
    home.scripts["silver-orders"] = (trouble, trouble, trouble, JobScript())
    for _ in range(3):
        with pytest.raises(TransientError):
            home.mode("trigger")
        home.pass_time(seconds=30)
    home.mode("trigger")
    lines = [(each.event, each.attempt, each.error) for each in home.store.job_log.of_run(KEY)]
    assert lines == [
        ("launch-failed", 0, "busy"),
        ("launch-failed-2", 0, "busy"),
        ("launch-failed-3", 0, "busy"),
        ("triggered", 0, None),
    ]


@pytest.mark.parametrize("error", [ConfigError("no such secret"), TransientError("away")])
def test_whatever_stops_a_launch_is_in_the_job_log(home: Home, error: Exception) -> None:
    ready(home)
    with pytest.raises(type(error)):
        home.mode("trigger", ports=home.with_ports(jobs=Jobs(launch=error)))
    (record,) = home.store.job_log.of_run(KEY)
    assert (record.event, record.error, record.category) == ("launch-failed", str(error), None)


def test_what_a_launch_fails_of_is_kept_until_it_works(home: Home) -> None:
    ready(home)
    trouble = JobScript(
        launch=LaunchOutcome.ERROR, category=Category.TRANSIENT, error="it answers 500"
    )
    home.scripts["silver-orders"] = (trouble, trouble, JobScript())
    for _ in range(2):
        with pytest.raises(TransientError):
            home.mode("trigger")
        home.pass_time(seconds=30)
    assert (home.run().status, home.run().job_message) == (Status.TRIGGERING, "it answers 500")
    home.mode("trigger")
    assert (home.run().status, home.run().job_message) == (Status.RUNNING, None)


def test_a_run_that_is_running_is_not_launched_again(home: Home) -> None:
    launched(home)
    home.mode("trigger")
    assert len(home.jobs.launches) == 1


def test_timers_that_opening_did_not_arm_are_asked_for(home: Home) -> None:
    ready(home, "sla: {deadline: '10:00'}")
    run = home.run()
    home.store.runs.save(run.changed(NOW, sla_armed={}))
    assert home.mode("trigger")["armSla"] is True
    home.mode("schedule")
    assert home.run().sla_armed.keys() == {DeadlineKind.WARNING, DeadlineKind.BREACH}
    assert home.mode("trigger")["armSla"] is False


def test_a_dry_run_says_what_it_would_launch(home: Home) -> None:
    dry = RunKey("silver-orders", "stream", "2026-03-03", dry=True)
    home.adopt(
        "dryRun: true\nsla: {deadline: '10:00', expectedDuration: 30m}\n"
        "schedule: {trigger: {key: orders, check: exists}, dayOffset: 0}"
    )
    home.admit()
    home.mode("evaluate", dry)
    answer = home.mode("trigger", dry)
    assert (answer["launched"], answer["armSla"], answer["waitSeconds"]) == (True, False, 0)
    assert home.told() == ["DRY_RUN_WOULD_TRIGGER", "DRY_RUN_SLA_PROJECTION"]
    would = home.event(EventType.DRY_RUN_WOULD_TRIGGER).detail["wouldLaunch"]
    assert would["type"] == "command"
    projection = home.event(EventType.DRY_RUN_SLA_PROJECTION).detail
    assert projection["estimatedCompletion"] == "2026-03-03T08:30:00Z"
    assert (projection["status"], projection["marginSeconds"]) == ("met", 5400)
    home.mode("check-job", dry)
    finish = home.mode("complete-trigger", dry, event="success")
    assert (finish["outcome"], finish["settleSla"]) == ("completed", False)
    closed = home.event(EventType.DRY_RUN_COMPLETED).detail
    assert closed["triggeredAt"] == "2026-03-03T08:00:00Z"
    assert closed["slaStatus"] == "met"
    assert home.jobs.launches == []


@pytest.mark.parametrize(
    ("sla", "status"),
    [
        ("{deadline: '08:10', expectedDuration: 30m}", "breach"),
        ("{deadline: '10:00'}", "unknown"),  # no expectedDuration
    ],
)
def test_a_projection_may_be_bad_or_unknown(home: Home, sla: str, status: str) -> None:
    dry = RunKey("silver-orders", "stream", "2026-03-03", dry=True)
    home.adopt(
        f"dryRun: true\nsla: {sla}\nschedule: {{trigger: {{key: orders, check: exists}}, dayOffset: 0}}"
    )
    home.admit()
    home.mode("evaluate", dry)
    home.mode("trigger", dry)
    assert home.event(EventType.DRY_RUN_SLA_PROJECTION).detail["status"] == status


# --- check-job ---


def watched_for(home: Home, seconds: int) -> Any:
    """The answer of the last of the looks that are made at their time, until the window is over."""
    end = home.clock() + timedelta(seconds=seconds)
    answer = home.mode("check-job")
    while home.clock() < end and not answer["exhausted"]:
        home.clock.now = min(end, home.clock() + timedelta(seconds=answer["waitSeconds"]))
        answer = home.mode("check-job")
    return answer


def script(home: Home, **given: Any) -> None:
    """What the job that was launched last does."""
    home.jobs.launches[-1].script = JobScript(**given)


@pytest.mark.parametrize(
    ("running_for", "wait"),
    [
        (0, 10),  # never sooner than ten seconds
        (30, 15),  # half the time it has run
        (100, 50),
        (1000, 60),  # never later than a minute
        (3570, 30),  # the rest of the window
    ],
)
def test_a_job_is_polled_ever_more_seldom(home: Home, running_for: int, wait: int) -> None:
    launched(home)
    script(home, hang=True)
    answer = watched_for(home, running_for)
    assert (answer["event"], answer["exhausted"], answer["waitSeconds"]) == ("", False, wait)


@pytest.mark.parametrize(("running_for", "wait"), [(0, 120), (1000, 120), (3570, 30)])
def test_a_job_is_polled_as_often_as_its_owner_says(
    home: Home, running_for: int, wait: int
) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, pollInterval: 2m}")
    script(home, hang=True)
    assert watched_for(home, running_for)["waitSeconds"] == wait


def test_a_job_that_ended_inside_its_launch_is_polled_at_once(home: Home) -> None:
    ready(home)
    jobs = Jobs(launch=Launched("run-7", {"token": "t"}, finished=True))
    assert home.mode("trigger", ports=home.with_ports(jobs=jobs))["waitSeconds"] == 0


@pytest.mark.parametrize(("seconds", "exhausted"), [(3599, False), (3600, True)])
def test_the_poll_window_ends_at_an_instant(home: Home, seconds: int, exhausted: bool) -> None:
    launched(home)
    script(home, hang=True)
    assert watched_for(home, seconds)["exhausted"] is exhausted


@pytest.mark.parametrize("gap", [timedelta(hours=2), timedelta(days=20)])
def test_a_gap_without_polls_does_not_count_for_the_poll_window(home: Home, gap: timedelta) -> None:
    launched(home)
    script(home, hang=True)
    assert not watched_for(home, 1800)["exhausted"]
    home.clock.now += gap
    assert not watched_for(home, 1700)["exhausted"]
    assert watched_for(home, 100)["exhausted"]


def test_a_gap_is_remembered_when_the_platform_has_news(home: Home) -> None:
    launched(home)
    script(home, hang=True)
    watched_for(home, 3500)
    ports = home.with_ports(jobs=Jobs(poll=Running("step 2 of 5")))
    home.clock.now += timedelta(seconds=60)
    assert home.mode("check-job", ports=ports)["waitSeconds"] == 40


def test_a_clock_that_is_set_back_takes_nothing_from_what_counts(home: Home) -> None:
    launched(home)
    script(home, hang=True)
    watched_for(home, 3500)
    home.clock.now -= timedelta(hours=1)
    assert home.mode("check-job")["waitSeconds"] == 10
    assert watched_for(home, 100)["exhausted"]


def test_the_jobs_own_record_wins_over_what_the_platform_says(home: Home) -> None:
    launched(home)
    script(home, hang=True)
    home.pass_time(minutes=3)
    home.job_says("success")
    jobs = Jobs(poll=Running())
    answer = home.mode("check-job", ports=home.with_ports(jobs=jobs))
    assert answer["event"] == "success"
    assert jobs.calls == []


def test_the_first_of_two_records_counts(home: Home) -> None:
    launched(home)
    home.pass_time(minutes=1)
    home.job_says("fail", error="boom")
    home.pass_time(minutes=1)
    home.job_says("success")
    assert home.mode("check-job")["event"] == "fail"


@pytest.mark.parametrize("record", [{"attempt": 0}, {"attempt": None}])
def test_a_record_of_an_older_attempt_is_never_trusted(
    home: Home, record: Mapping[str, Any]
) -> None:
    failed_once(home)
    home.pass_time(seconds=-1)
    home.job_says("success", **record)  # late news of the first attempt
    home.pass_time(seconds=1)
    home.mode("evaluate")
    home.mode("trigger")
    script(home, hang=True)
    assert home.mode("check-job")["event"] == ""
    assert home.run().status is Status.RUNNING


@pytest.mark.parametrize(
    ("answer", "event", "category"),
    [
        (Succeeded(), "success", None),
        (Failed(Category.TRANSIENT, "oom"), "fail", "TRANSIENT"),
        (Failed(Category.PERMANENT, "bug"), "fail", "PERMANENT"),
        (Failed(Category.TIMEOUT, "too long"), "timeout", "TIMEOUT"),
        (Failed(None, "who knows"), "fail", None),
        (Failed(None, "stopped", stopped=True), "fail", None),
    ],
)
def test_the_end_of_a_job_is_kept_in_the_job_log(
    home: Home, answer: object, event: str, category: str | None
) -> None:
    launched(home)
    home.pass_time(minutes=2)
    ports = home.with_ports(jobs=Jobs(poll=answer))
    assert home.mode("check-job", ports=ports)["event"] == event
    record = home.store.job_log.of_run(KEY)[-1]
    assert (record.event, record.category, record.attempt) == (event, category, 0)
    assert record.duration == 120
    # a repeat finds it there, and polls nothing
    assert home.mode("check-job", ports=home.with_ports(jobs=Jobs()))["event"] == event


@pytest.mark.parametrize(
    ("ended", "counts"),
    [
        (NOW + MINUTE, NOW + MINUTE),
        (NOW - MINUTE, NOW),  # never before its launch
        (NOW + 9 * MINUTE, NOW + 5 * MINUTE),  # nor after now
        (None, NOW + 5 * MINUTE),  # when it was seen
    ],
)
def test_a_job_ended_when_its_platform_says(home: Home, ended: Any, counts: Any) -> None:
    launched(home)
    home.pass_time(minutes=5)
    ports = home.with_ports(jobs=Jobs(poll=Succeeded(ended_at=ended)))
    home.mode("check-job", ports=ports)
    home.mode("complete-trigger", event="success")
    assert home.run().completed_at == counts


def test_a_failure_is_published_with_what_follows(home: Home) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 2}")
    script(home, after="1m", result="fail", category=Category.TRANSIENT, error="out of memory")
    home.pass_time(minutes=1)
    home.mode("check-job")
    event = home.event(EventType.JOB_FAILED)
    assert event.severity == "warning"
    assert event.detail["willRetry"] is True
    assert event.detail["retryAt"] == "2026-03-03T08:01:30Z"
    assert (event.detail["spent"], event.detail["max"]) == (0, 2)
    assert event.detail["error"] == "out of memory"


def test_a_failure_without_a_retry_is_an_error(home: Home) -> None:
    launched(home)
    script(home, after="1m", result="fail", category=Category.TRANSIENT, error="oom")
    home.pass_time(minutes=1)
    home.mode("check-job")
    event = home.event(EventType.JOB_FAILED)
    assert (event.severity, event.detail["willRetry"]) == ("error", False)


def test_a_job_that_can_not_be_seen_is_reported_once_and_goes_on(home: Home) -> None:
    launched(home)
    for message in ("403 forbidden", "404 not found"):
        ports = home.with_ports(jobs=Jobs(poll=Running(message, unseen=True)))
        assert home.mode("check-job", ports=ports)["event"] == ""
    event = home.event(EventType.INFRA_FAILURE)
    assert (event.detail["state"], event.detail["source"]) == ("CheckJob", "check-job")
    assert home.run().status is Status.RUNNING
    assert home.run().job_message == "404 not found"


def test_what_the_platform_says_is_kept_for_those_who_ask(home: Home) -> None:
    launched(home)
    ports = home.with_ports(jobs=Jobs(poll=Running("step 2 of 5")))
    home.mode("check-job", ports=ports)
    version = home.run().version
    home.mode("check-job", ports=ports)
    assert (home.run().job_message, home.run().version) == ("step 2 of 5", version)


def test_a_poll_that_fails_fails_the_step_and_changes_nothing(home: Home) -> None:
    launched(home)
    before = home.run()
    home.fails(Call.POLL)
    with pytest.raises(TransientError):
        home.mode("check-job")
    assert home.run() == before


class Untouched:
    """A port that must not be called."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


def test_a_poll_that_finds_nothing_new_does_not_read_the_run(home: Home) -> None:
    launched(home)
    ports = home.with_ports(jobs=Jobs(poll=Running("step 2 of 5")))
    home.mode("check-job", ports=ports)
    home.pass_time(minutes=1)
    blind = home.with_ports(jobs=Jobs(poll=Running("step 2 of 5")), runs=Untouched())
    answer = home.mode("check-job", ports=blind)
    assert (answer["current"], answer["launched"], answer["waitSeconds"]) == (True, True, 30)
    assert answer["watched"] == home.carried["watched"]
    jobs = Jobs(poll=Running("step 3 of 5"))
    home.mode("check-job", ports=home.with_ports(jobs=jobs))
    assert home.run().job_message == "step 3 of 5"


def test_an_execution_that_carries_nothing_is_answered_from_the_run(home: Home) -> None:
    """One that an older version has started."""
    launched(home)
    script(home, hang=True)
    home.pass_time(minutes=1)
    answer = home.mode("check-job", watched="")
    assert home.mode("check-job") == answer
    home.job_says("success")
    assert home.mode("check-job", watched="")["event"] == "success"


@pytest.mark.parametrize("event", ["success", "fail"])
def test_news_of_a_job_whose_run_has_moved_on_changes_nothing(home: Home, event: str) -> None:
    failed_once(home)
    old = home.carried["watched"]
    home.mode("evaluate")
    home.mode("trigger")
    home.job_says(event)  # of the second attempt; the first one could take it for its own
    before, version = home.state(), home.run().version
    answer = home.mode("check-job", attempt=0, watched=old)
    if event == "success":  # true of its attempt or not, the next step decides
        answer = home.mode("complete-trigger", attempt=0, event=event, ending=answer["ending"])
    assert answer["current"] is False
    assert (home.state(), home.run().version) == (before, version)


def test_once_unseen_a_job_that_is_seen_again_is_not_written_down_at_every_poll(home: Home) -> None:
    launched(home)
    for answer in (Running("403", unseen=True), Running("running"), Running("running")):
        home.mode("check-job", ports=home.with_ports(jobs=Jobs(poll=answer)))
    version = home.run().version
    home.mode("check-job", ports=home.with_ports(jobs=Jobs(poll=Running("running"))))
    assert home.run().version == version


# --- complete-trigger ---


@pytest.mark.parametrize(("text", "settles"), [("", False), ("sla: {deadline: '10:00'}", True)])
def test_a_success_completes_the_run(home: Home, text: str, settles: bool) -> None:
    launched(home, text)
    home.pass_time(minutes=10)
    home.job_says("success", 0)
    answer = home.mode("complete-trigger", event="success")
    assert answer == {
        "current": True,
        "outcome": "completed",
        "running": False,
        "settleSla": settles,
    }
    event = home.event(EventType.JOB_COMPLETED)
    assert (event.detail["durationSeconds"], event.detail["attempts"]) == (600, 1)
    assert "lateBy" not in event.detail


@pytest.mark.parametrize("event", ["success", "fail"])
def test_what_the_last_poll_read_in_the_job_log_is_not_read_again(home: Home, event: str) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.pass_time(minutes=10)
    home.job_says(event, 0, category=Category.TRANSIENT, duration=600.5)
    home.mode("check-job")
    blind = home.with_ports(job_log=Untouched())
    answer = home.mode("complete-trigger", event=event, ports=blind)
    assert answer["outcome"] == {"success": "completed", "fail": "retrying"}[event]
    assert home.run().changed_at == home.clock()


def test_a_failure_with_a_retry_left_waits_for_it(home: Home) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.job_says("fail", 0, category=Category.TRANSIENT)
    home.mode("check-job")
    answer = home.mode("complete-trigger", event="fail")
    assert answer["outcome"] == "retrying"
    assert home.run().awaits_retry
    assert home.events(EventType.RETRY_EXHAUSTED) == []


def test_a_failure_without_one_is_final(home: Home) -> None:
    launched(home)
    home.job_says("fail", 0, category=Category.TRANSIENT, error="oom")
    home.mode("check-job")
    answer = home.mode("complete-trigger", event="fail")
    assert answer["outcome"] == "failed"
    assert home.run().status is Status.FAILED_FINAL
    event = home.event(EventType.RETRY_EXHAUSTED)
    assert (event.detail["kind"], event.detail["lastError"]) == ("job", "oom")
    assert (event.detail["spent"], event.detail["max"]) == (0, 0)
    assert event.detail["follows"] == "JOB_FAILED"
    assert home.event(EventType.JOB_FAILED).message == "the job failed: oom"


def test_the_event_of_the_last_failure_says_that_no_retry_is_left(home: Home) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    run = home.run()
    assert home.ports.runs.save(run.changed(home.clock(), spending=Spending(retries=1)))
    home.job_says("fail", 0, category=Category.TRANSIENT, error="oom")
    home.mode("check-job")
    message = "the job failed, no retries left (1 of 1 spent): oom"
    assert home.event(EventType.JOB_FAILED).message == message


def test_a_final_failure_that_no_event_told_of_is_told_by_its_end(home: Home) -> None:
    launched(home)
    home.job_says("fail", 0, category=Category.TRANSIENT, error="oom")
    home.mode("complete-trigger", event="fail")
    assert home.events(EventType.JOB_FAILED) == []
    assert "follows" not in home.event(EventType.RETRY_EXHAUSTED).detail


def test_a_stopped_job_is_not_retried_and_not_exhausted(home: Home) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 5}")
    home.pass_time(minutes=1)
    stopped = home.with_ports(jobs=Jobs(poll=Failed(None, "stopped by ada", stopped=True)))
    home.mode("check-job", ports=stopped)
    home.mode("complete-trigger", event="fail")
    run = home.run()
    assert (run.status, run.failure and run.failure.reason) == (Status.FAILED_FINAL, "stopped")
    assert home.events(EventType.RETRY_EXHAUSTED) == []
    assert home.event(EventType.JOB_FAILED).detail["willRetry"] is False


def test_without_an_end_in_the_job_log_nothing_is_completed(home: Home) -> None:
    launched(home)
    answer = home.mode("complete-trigger", event="success")
    assert home.run().status is Status.RUNNING
    assert answer["current"] is True


# --- validation-exhausted ---


def test_a_window_that_closed_fails_the_run_and_names_the_rules(home: Home) -> None:
    opened(home, COUNTED + "\nsla: {deadline: '10:00'}", count=5)
    home.mode("evaluate")
    home.pass_time(hours=1)
    answer = home.mode("validation-exhausted")
    assert (answer["outcome"], answer["settleSla"]) == ("validation-exhausted", False)
    run = home.run()
    assert (run.status, run.retry_at) == (Status.FAILED, None)
    event = home.event(EventType.VALIDATION_EXHAUSTED)
    assert event.message == "validation window closed: orders.count is 5, needs >= 100"
    assert [each["key"] for each in event.detail["failing"]] == ["orders"]
    assert event.detail["windowEnd"] == "2026-03-03T09:00:00Z"
    assert home.store.job_log.of_run(KEY)[-1].event == "validation-exhausted"
    assert len(home.armed()) == 2  # its deadline still counts


def test_a_window_without_polls_says_so(home: Home) -> None:
    opened(home, COUNTED, count=5)
    home.mode("validation-exhausted")
    event = home.event(EventType.VALIDATION_EXHAUSTED)
    assert event.message == "validation window closed: the rules did not hold in time"
    assert event.detail["evaluations"] == 0


def test_a_run_that_has_moved_on_is_not_exhausted(home: Home) -> None:
    launched(home)
    home.mode("validation-exhausted")
    assert home.run().status is Status.RUNNING
    assert home.events(EventType.VALIDATION_EXHAUSTED) == []


def test_a_call_that_died_after_its_launch_had_failed_is_repeated_without_a_launch(
    home: Home,
) -> None:
    ready(home)
    home.scripts["silver-orders"] = (
        JobScript(launch=LaunchOutcome.ERROR, error="busy"),
        JobScript(),
    )
    for _ in range(2):  # the failure is stored; that the try is spent is not
        with pytest.raises(TransientError, match="busy"):
            home.mode("trigger")
    home.pass_time(seconds=30)
    assert home.mode("trigger")["launched"] is True


def test_a_launch_that_can_not_work_is_not_repeated_by_a_call_that_died_after_it(
    home: Home,
) -> None:
    ready(home)
    home.scripts["silver-orders"] = (
        JobScript(launch=LaunchOutcome.ERROR, category=Category.PERMANENT, error="no such job"),
        JobScript(),
    )
    for _ in range(2):
        with pytest.raises(LaunchError, match="no such job"):
            home.mode("trigger")
        home.pass_time(minutes=5)  # however late it is repeated
    assert home.jobs.launches == []


# --- trigger-exhausted ---

LAUNCH_ERROR = {"Trigger": {"Error": "LaunchError", "Cause": '{"errorMessage": "no such job"}'}}


def test_a_launch_that_was_given_up_fails_the_run(home: Home) -> None:
    triggering(home)
    answer = home.mode("trigger-exhausted", errors=LAUNCH_ERROR)
    assert answer["outcome"] == "launch-failed"
    run = home.run()
    assert (run.status, run.retry_at) == (Status.FAILED, None)
    event = home.event(EventType.RETRY_EXHAUSTED)
    assert (event.detail["kind"], event.detail["lastError"]) == ("launch", "no such job")
    assert home.store.job_log.of_run(KEY)[-1].event == "infra-trigger-exhausted"


def test_a_job_that_did_start_is_asked_to_stop_and_named(home: Home) -> None:
    triggering(home)
    jobs = Jobs(find=A_JOB, cancel=True)
    home.mode("trigger-exhausted", errors=LAUNCH_ERROR, ports=home.with_ports(jobs=jobs))
    event = home.event(EventType.RETRY_EXHAUSTED)
    assert (event.detail["runId"], event.detail["cancelled"]) == ("run-7", True)


def test_a_launch_that_never_began_looks_for_nothing(home: Home) -> None:
    ready(home)
    jobs = Jobs()
    home.mode("trigger-exhausted", errors=LAUNCH_ERROR, ports=home.with_ports(jobs=jobs))
    assert jobs.calls == []
    assert home.run().status is Status.FAILED


def test_an_attempt_that_was_launched_is_not_given_up(home: Home) -> None:
    launched(home)
    before = home.run()
    answer = home.mode("trigger-exhausted", errors={"Trigger": {"Error": "TransientError"}})
    assert (answer["current"], answer["running"]) == (True, True)
    assert home.run() == before
    assert home.events(EventType.RETRY_EXHAUSTED) == []
    assert home.mode("trigger")["launched"] is True  # and launches nothing
    assert len(home.jobs.launches) == 1


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        (None, "unknown error"),
        ({}, "unknown error"),
        ({"Trigger": {"Error": "Boom"}}, "Boom"),
        ({"Trigger": {"Error": "Boom", "Cause": "plain words"}}, "plain words"),
        ({"Trigger": {"Cause": "[1, 2]"}}, "[1, 2]"),  # JSON, but no function's error
    ],
)
def test_the_last_error_is_read_from_what_was_caught(home: Home, errors: Any, text: str) -> None:
    triggering(home)
    home.mode("trigger-exhausted", errors=errors)
    assert home.event(EventType.RETRY_EXHAUSTED).detail["lastError"] == text


# --- job-poll-exhausted ---


def test_a_job_that_never_ends_is_given_up_for_good(home: Home) -> None:
    launched(home, "job: {type: command, config: {command: [etl]}, maxRetries: 5}")
    script(home, hang=True)
    home.pass_time(hours=1)
    answer = home.mode("job-poll-exhausted")
    assert answer["outcome"] == "poll-exhausted"
    assert home.run().status is Status.FAILED_FINAL
    assert home.jobs.launches[-1].cancelled
    event = home.event(EventType.JOB_POLL_EXHAUSTED)
    assert (event.detail["runningForSeconds"], event.detail["pollWindowSeconds"]) == (3600, 3600)
    record = home.store.job_log.of_run(KEY)[-1]
    assert (record.event, record.final) == ("timeout", True)
    # what follows names it, and retries nothing: two jobs must not run
    assert home.mode("complete-trigger", event="timeout")["outcome"] == "poll-exhausted"
    assert home.events(EventType.RETRY_EXHAUSTED) == []
    assert home.run().spending == Spending()


# --- infra-failure ---


BOOM = {"Evaluate": {"Error": "UnavailableError", "Cause": "the store is away"}}


def test_a_run_that_has_not_started_is_tried_again_in_five_minutes(home: Home) -> None:
    opened(home)
    answer = home.mode("infra-failure", errors=BOOM)
    assert answer["outcome"] == "infra-failure"
    run = home.run()
    assert (run.status, run.retry_at, run.infra_retries) == (Status.FAILED, NOW + 5 * MINUTE, 1)
    event = home.event(EventType.INFRA_FAILURE)
    assert (event.detail["state"], event.detail["error"]) == ("Evaluate", "the store is away")
    assert event.detail["cause"] == "UnavailableError"
    assert event.severity == "critical"


def test_a_date_is_tried_again_three_times_and_no_more(home: Home) -> None:
    opened(home)
    for attempt in range(4):
        home.mode("infra-failure", errors=BOOM)
        retry_job(KEY, attempt, home.ports)
    run = home.run()
    assert (run.status, run.attempt, run.infra_retries) == (Status.FAILED, 3, 3)
    assert run.retry_at is None
    assert run.spending == Spending()  # no budget is spent
    assert len(home.events(EventType.INFRA_FAILURE)) == 4


@pytest.mark.parametrize("found", [A_JOB, Absent(), CannotTell()])
def test_a_launch_in_doubt_is_looked_for_first(home: Home, found: object) -> None:
    triggering(home)
    ports = home.with_ports(jobs=Jobs(find=found))
    for _ in range(2):
        home.mode("infra-failure", errors={"Trigger": {"Error": "Boom"}}, ports=ports)
    run = home.run()
    if isinstance(found, Launched):
        assert (run.status, run.run_id, run.launched_at) == (Status.RUNNING, "run-7", NOW)
        assert home.told()[-2:] == [EventType.JOB_TRIGGERED, EventType.INFRA_FAILURE]
    else:
        assert (run.status, run.retry_at) == (Status.FAILED, NOW + 5 * MINUTE)


def test_a_launch_in_doubt_is_not_repeated_where_the_owner_wants_at_most_one_job(
    home: Home,
) -> None:
    job = "job: {type: lambda, config: {functionName: etl, atMostOnce: true}}"
    triggering(home, job)
    ports = home.with_ports(jobs=Jobs(find=CannotTell()))
    home.mode("infra-failure", errors={"Trigger": {"Error": "Boom"}}, ports=ports)
    run = home.run()
    assert (run.status, run.retry_at, run.infra_retries) == (Status.FAILED, None, 0)


def test_an_attempt_that_fails_repeatedly_is_reported_once(home: Home) -> None:
    launched(home)
    home.mode("infra-failure", errors={"CompleteTrigger": {"Error": "Boom"}})
    assert home.store.runs.save(home.run().resumed(home.clock(), home.ports.lease))
    home.pass_time(minutes=5)
    home.mode("infra-failure", errors={"CompleteTrigger": {"Error": "Bang"}})
    assert home.run().job_message == "Bang"
    assert len(home.events(EventType.INFRA_FAILURE)) == 1


def test_a_running_job_keeps_running_and_its_attempt_keeps_its_lease(home: Home) -> None:
    launched(home)
    before = home.run()
    home.pass_time(minutes=10)
    for _ in range(2):
        home.mode("infra-failure", errors={"CompleteTrigger": {"Error": "Boom"}})
    run = home.run()
    assert (run.status, run.lease_until) == (Status.RUNNING, before.lease_until)
    assert (run.version, run.job_message) == (before.version + 1, "Boom")
    assert len(home.events(EventType.INFRA_FAILURE)) == 1


@pytest.mark.parametrize("end", ["completed", "failed"])
def test_a_run_that_is_final_is_left_alone(home: Home, end: str) -> None:
    launched(home)
    home.finish("success" if end == "completed" else "fail")
    before = home.run()
    home.mode("infra-failure", errors=BOOM)
    assert home.run() == before
    assert home.events(EventType.INFRA_FAILURE) == []


@pytest.mark.parametrize(
    ("errors", "state"),
    [
        ({"Trigger": {}, "TriggerRetryExhausted": {}}, "TriggerRetryExhausted"),
        ({"TriggerRetryExhausted": {}, "Trigger": {}}, "TriggerRetryExhausted"),
        ({"CheckJob": {}, "CompleteTrigger": {}}, "CompleteTrigger"),
        ({"Trigger": {}}, "Trigger"),
        ({}, "unknown"),
        (None, "unknown"),
    ],
)
def test_the_state_that_broke_is_named_and_not_one_that_was_passed_over(
    home: Home, errors: Any, state: str
) -> None:
    opened(home)
    home.mode("infra-failure", errors=errors)
    assert home.event(EventType.INFRA_FAILURE).detail["state"] == state


def test_a_change_of_the_file_does_not_touch_the_attempt(home: Home) -> None:
    opened(home, COUNTED, count=200)
    snapshot = home.store.pipelines.find("silver-orders")
    assert snapshot is not None
    config = as_json(snapshot.pipeline)
    home.adopt("validation: {rules: [{key: orders, check: gte, field: count, value: 9999}]}")
    assert home.mode("evaluate", config=config)["passed"] is True


def test_a_pipeline_that_is_gone_still_completes_its_attempt(home: Home) -> None:
    launched(home, "sla: {deadline: '10:00'}")
    home.job_says("success", 0)
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    home.mode("check-job")
    home.take_away()
    assert home.mode("complete-trigger", event="success")["outcome"] == "completed"
