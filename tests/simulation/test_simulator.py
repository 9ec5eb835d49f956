"""The simulator itself: what it refuses to read, what it finds wrong, and that it can."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.samples import a_delivery, a_run, an_event
from interlock.domain.budgets import Spending
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.run import Evidence, Judgement, Run, RunKey, Status
from interlock.errors import ConfigError, TransientError
from interlock.ports.stores import Outbox
from interlock.simulation.invariants import Invariants
from interlock.simulation.play import FaultOptions, play, play_with_faults, played_scenario
from interlock.simulation.scenario import JobScript, load_scenario, parse_scenario
from interlock.simulation.scripted_jobs import SimulatedJob
from interlock.simulation.shrinking import shrunk
from interlock.simulation.world import World
from interlock.usecases.pause import pause
from interlock.usecases.ports import Ports
from usecases.home import CADENCE, KEY, NOW, Home
from usecases.test_watch import end_execution

_SCENARIOS = Path(__file__).parents[2] / "scenarios"

STORY = """
name: a reading runs a job
start: 2026-03-03T00:00:00Z
until: 2026-03-03T12:00:00Z
pipelines:
  - pipeline: {id: silver-orders}
    schedule: {trigger: {key: orders, check: exists}}
    validation: {rules: [{key: orders, check: exists}]}
    job: {type: command, config: {command: [etl]}}
jobs:
  silver-orders: [{after: 20m, result: success}]
timeline:
  - {at: 2026-03-03T08:00:00Z, sensor: {pipeline: silver-orders, key: orders, data: {date: "2026-03-03"}}}
"""


def told(*expectations: str, story: str = STORY) -> list[str]:
    """What is wrong with a story that expects this."""
    lines = "".join(f"  - {each}\n" for each in expectations)
    return play(parse_scenario(f"{story}expect:\n{lines}")).failed


# --- reading ---


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (STORY + "moral: none\n", "story.yaml:14:1: moral: "),
        (STORY.replace("after: 20m", "before: 20m"), "story.yaml:11:20: jobs.silver-orders[0].before: "),
        (STORY.replace("data:", "date:"), "timeline[0].sensor.date: "),
        (STORY + "expect: [{evnet: SLA_MET}]\n", "story.yaml:14:11: expect[0].evnet: "),
        (STORY.replace("2026-03-03T12:00:00Z", "noon"), "story.yaml:4:8: until: "),
        (STORY.replace("after: 20m", "after: soon"), "jobs.silver-orders[0].after: "),
        (STORY + "expect: [{event: PARTY}]\n", "PARTY is not a type of event"),
        (STORY + "expect: [{order: [JOB_TRIGGERED, PARTY]}]\n", "PARTY is not a type of event"),
        (STORY + "expect: [{count: 1}]\n", "needs exactly one of event, no, run"),
        (STORY + "expect: [{event: SLA_MET, no: SLA_MET}]\n", "needs exactly one of event, no, run"),
        (STORY.replace("sensor:", "crash: true, sensor:"), "needs exactly one of sensor, rerun"),
        (STORY.replace("sensor:", "file: {}, sensor:"), "file: needs exactly one of remove, restore"),
        (STORY + "  - {at: +1m, file: {remove: nosuch}}\n", "story.yaml:14:30: timeline[1].file.remove: "),
        (STORY + "  - {at: +1m, file: {restore: nosuch}}\n", "[1].file.restore: there is no pipeline nosuch"),
        (STORY + "  - {at: +1m, pause: silver-order}\n", "silver-order; did you mean silver-orders?"),
        (STORY + "  - {at: +1m, resume: nosuch}\n", "[1].resume: there is no pipeline nosuch"),
        (STORY + "  - {at: +1m, retire: nosuch}\n", "[1].retire: there is no pipeline nosuch"),
        ("name: [", "story.yaml:2:1: not YAML"),
        ("[]", "story.yaml:1:1"),
        ("name: x\n", "start"),
        (STORY + "calendars: [{days: [someday]}]\n", "someday"),
        (STORY + "calendars: [no/such/file.yaml]\n", "no/such/file.yaml: No such file"),
        (STORY.replace("pipelines:\n", "pipelines:\n  - nowhere.yaml\n"), "nowhere.yaml: No such file"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_an_error_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_scenario(text, "story.yaml")
    assert problem in str(raised.value)


@pytest.mark.parametrize("brought", ["config: {}", "file: {{writing: {}}}"])
def test_a_pipeline_that_comes_in_the_story_may_go_in_it(brought: str) -> None:
    comes = brought.format("{pipeline: {id: late-comer}}")
    story = f"{STORY}  - {{at: +1m, {comes}}}\n  - {{at: +1m, file: {{remove: late-comer}}}}\n"
    assert len(parse_scenario(story).timeline) == 3


def test_a_smaller_world_without_a_pipeline_says_nothing_of_its_file() -> None:
    pipelines = [{"pipeline": {"id": name}} for name in ("one", "two")]
    timeline = [{"at": "+1m", "file": {how: "two"}} for how in ("remove", "restore")]
    world = {"pipelines": pipelines, "jobs": {}, "timeline": timeline}
    assert shrunk(world, lambda less: "two" not in str(less))["pipelines"] == pipelines[:1]


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_scenario(STORY.replace("after", "before") + "moral: x\nteller: y\n", "story.yaml")
    assert len(str(raised.value).splitlines()) == 3


def test_a_file_that_is_not_there_is_an_error(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_scenario(tmp_path / "story.yaml")


def test_a_pipeline_may_stand_in_a_file_of_its_own(tmp_path: Any) -> None:
    document = """
pipeline: {id: silver-orders}
schedule: {trigger: {key: orders, check: exists}, calendar: closed}
validation: {rules: [{key: orders, check: exists}]}
job: {type: command, config: {command: [etl]}}
"""
    (tmp_path / "silver-orders.yaml").write_text(document)
    (tmp_path / "closed.yaml").write_text("name: closed\ndates: [2026-03-03]\n")
    head, _, rest = STORY.partition("pipelines:")
    _, _, rest = rest.partition("jobs:")
    story = tmp_path / "story.yaml"
    story.write_text(
        f"{head}pipelines: [silver-orders.yaml]\ncalendars: [closed.yaml]\njobs:{rest}"
        "expect: [{event: PIPELINE_EXCLUDED, count: 1}]\n"
    )
    assert play(load_scenario(story)).failed == []


def test_a_moment_may_count_from_the_one_before() -> None:
    story = STORY + "  - {at: +90m, crash: true}\n"
    moments = parse_scenario(story).timeline
    assert [moment.at.hour * 60 + moment.at.minute for moment in moments] == [480, 570]


# --- expectations ---

RIGHT = [
    "{event: JOB_TRIGGERED}",
    "{event: JOB_STARTED, count: 1}",  # the older name
    "{event: JOB_COMPLETED, at: 2026-03-03T08:20:00Z, count: 1}",
    "{event: JOB_COMPLETED, at: 2026-03-03T08:19:00Z, within: 1m}",
    "{event: JOB_TRIGGERED, detail: {jobType: command}}",
    "{event: JOB_TRIGGERED, schedule: stream, pipeline: silver-orders}",
    "{event: SLA_MET, count: 0}",
    "{no: JOB_FAILED}",
    "{no: JOB_TRIGGERED, date: '2026-03-04'}",
    "{run: {pipeline: silver-orders, date: '2026-03-03'}, status: COMPLETED, attempt: 0}",
    "{launches: silver-orders, count: 1}",
    "{launches: silver-orders}",
    "{order: [TRIGGER_STARTED, JOB_TRIGGERED, JOB_COMPLETED]}",
    "{alerts: silver-orders, threads: 0, count: 0}",
]
WRONG = [
    ("{event: JOB_FAILED}", "wanted at least 1, found 0"),
    (
        "{event: JOB_TRIGGERED, count: 2}",
        "wanted 2, found 1 (there are: silver-orders 2026-03-03 at",
    ),
    ("{event: JOB_COMPLETED, at: 2026-03-03T08:21:00Z}", "wanted at least 1, found 0"),
    ("{event: JOB_TRIGGERED, detail: {jobType: glue}}", "wanted at least 1, found 0"),
    ("{event: JOB_TRIGGERED, detail: {colour: red}}", "wanted at least 1, found 0"),
    ("{event: JOB_TRIGGERED, pipeline: gold}", "wanted at least 1, found 0"),
    ("{event: JOB_TRIGGERED, schedule: cron}", "wanted at least 1, found 0"),
    ("{no: JOB_TRIGGERED}", "found 1, first at 2026-03-03T08:00:00Z"),
    ("{run: {pipeline: gold, date: '2026-03-03'}}", "there is no such run"),
    (
        "{run: {pipeline: silver-orders, date: '2026-03-03', schedule: cron}}",
        "there is no such run",
    ),
    (
        "{run: {pipeline: silver-orders, date: '2026-03-03'}, status: FAILED, attempt: 1, slaVerdict: MET}",
        "status is COMPLETED, attempt is 0, slaVerdict is None",
    ),
    ("{launches: silver-orders, count: 2}", "wanted 2, found 1"),
    ("{launches: gold}", "wanted at least 1, found 0"),
    ("{launches: silver-orders, date: '2026-03-04'}", "wanted at least 1, found 0"),
    ("{order: [JOB_COMPLETED, JOB_TRIGGERED]}", "JOB_TRIGGERED does not follow"),
    ("{order: [JOB_TRIGGERED, JOB_TRIGGERED]}", "JOB_TRIGGERED does not follow"),
    ("{alerts: silver-orders, threads: 1}", "wanted 1 threads, found 0"),
    ("{alerts: silver-orders, count: 1}", "wanted 1 alerts, found 0"),
]


def test_what_holds_is_not_told() -> None:
    assert told(*RIGHT) == []


@pytest.mark.parametrize(("expectation", "problem"), WRONG)
def test_a_wrong_expectation_fails_and_says_what_there_is(expectation: str, problem: str) -> None:
    (line,) = told(expectation)
    assert problem in line


def test_alerts_of_one_date_share_a_thread() -> None:
    story = STORY.replace("result: success", "result: fail").replace(
        "[etl]}}", "[etl]}, maxRetries: 1}"
    )
    assert told("{alerts: silver-orders, threads: 1, count: 2}", story=story) == []


def test_a_played_scenario_can_be_printed_as_json() -> None:
    document = played_scenario(play(parse_scenario(STORY)))
    assert document.ok is True
    assert document.events[-1].detail_type == "JOB_COMPLETED"
    assert document.runs[0].status == "COMPLETED"
    assert document.launches[0].pipeline == "silver-orders"


# --- the world ---


def test_a_job_that_the_last_try_launched_is_watched_though_telling_of_it_failed() -> None:
    scenario = load_scenario(_SCENARIOS / "launched-at-the-last-try.yaml")
    events = {event.type: event for event in play(scenario).outcome.events}
    at = datetime(2026, 3, 3, 8, 3, 30, tzinfo=UTC)
    assert events[EventType.JOB_TRIGGERED].timestamp == at
    assert events[EventType.JOB_COMPLETED].timestamp == at + timedelta(minutes=10)


def test_a_month_is_played_in_one_go() -> None:
    story = STORY.replace("until: 2026-03-03", "until: 2026-04-03").replace(
        "name:", "watchdog: 1h\nname:"
    )
    assert told("{launches: silver-orders, count: 1}", story=story) == []


def test_what_happens_after_the_end_does_not_happen() -> None:
    story = STORY.replace("until: 2026-03-03T12", "until: 2026-03-03T07")
    assert told("{launches: silver-orders, count: 0}", story=story) == []


# --- invariants ---


@pytest.fixture
def home() -> Home:
    return Home()


def invariants(home: Home, every: timedelta | None = None) -> Invariants:
    return Invariants(home.store, home.jobs, home.clock, every)


def a_launch(token: str = "t", date: str = "2026-03-03", attempt: int = 0) -> SimulatedJob:
    return SimulatedJob("silver-orders", "stream", date, attempt, token, NOW, JobScript())


def stored(home: Home, **changes: Any) -> Run:
    run = a_run(KEY, NOW, **changes)
    assert home.store.runs.open(run)
    return run


READY = Judgement(NOW, True, ())
SEEN = {"orders": Evidence("orders", "v", {})}


def a_sound_world(home: Home) -> None:
    home.adopt()
    home.completed()


def launch_without_run(home: Home) -> None:
    home.adopt()
    home.jobs.launches.append(a_launch())


def launch_without_a_run(home: Home) -> None:
    home.jobs.launches.append(a_launch())


def launch_without_verdict(home: Home) -> None:
    home.adopt()
    stored(home, verdict=Judgement(NOW, False, ()))
    home.jobs.launches.append(a_launch())


def launch_on_bad_evidence(home: Home) -> None:
    config = home.adopt()
    stored(home, verdict=READY, evidence={}, config_hash=config.config_hash)
    home.jobs.launches.append(a_launch())


def two_jobs(home: Home) -> None:
    a_sound_world(home)
    home.jobs.launches.append(home.jobs.launches[-1])


def timer_that_ends_twice(home: Home) -> None:
    home.adopt("schedule: {cron: '30 8 * * *'}")
    (name,) = home.armed()
    home.pass_time(minutes=30)
    home.store.timers.fire(name, home.clock())
    home.database.write(
        lambda connection: connection.execute(
            "INSERT INTO timer_log (name, due_at, state, at)"
            " SELECT name, due_at, 'cancelled', at FROM timer_log WHERE state = 'fired'"
        )
    )
    home.store.runs.open(a_run(RunKey("silver-orders", "cron", "2026-03-03")))


def timer_that_never_ends(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00'}")
    home.admit(date="2026-03-02")
    home.pass_time(hours=3)


def occurrence_that_vanishes(home: Home) -> None:
    home.adopt("schedule: {cron: '30 8 * * *'}")
    home.store.timers.cancel(list(home.armed()))
    home.pass_time(hours=3)
    state = home.store.watch.load()
    assert home.store.watch.save(
        msgspec.structs.replace(state, version=state.version + 1, last_ok_at=home.clock())
    )


def listed_date_that_vanishes(home: Home) -> None:
    home.adopt("schedule: {include: {dates: [2026-03-03]}, trigger: {key: orders, check: exists}}")
    home.pass_time(days=2)
    state = home.store.watch.load()
    assert home.store.watch.save(
        msgspec.structs.replace(state, version=state.version + 1, last_ok_at=home.clock())
    )


def tell(home: Home, kind: EventType, **detail: Any) -> None:
    home.store.events.publish(
        [happened(kind, subject(None, KEY), home.clock(), "so it is", **detail)]
    )


def warned_too_early(home: Home) -> None:
    home.adopt()
    stored(home)
    tell(home, EventType.SLA_WARNING, warningAt="2026-03-03T08:00:01Z")


def breached_though_done_in_time(home: Home) -> None:
    a_sound_world(home)
    home.pass_time(hours=1)
    tell(home, EventType.SLA_BREACH, breachAt="2026-03-03T08:59:59Z")


def met_at_the_very_instant(home: Home) -> None:
    home.adopt()
    stored(home)
    at = "2026-03-03T08:00:00Z"
    tell(home, EventType.SLA_MET, completedAt=at, breachAt=at)


def budget_exceeded(home: Home) -> None:
    config = home.adopt()
    stored(home, spending=Spending(manual_reruns=2), config_hash=config.config_hash)
    home.store.events.publish([an_event()])


def budget_negative(home: Home) -> None:
    config = home.adopt()
    stored(home, spending=Spending(retries=-1), config_hash=config.config_hash)
    home.store.events.publish([an_event()])


def refusal_that_cost_something(home: Home) -> None:
    config = home.adopt()
    stored(home, spending=Spending(manual_reruns=1), config_hash=config.config_hash)
    home.store.events.publish([an_event(kind=EventType.RERUN_REJECTED)])


def dry_run_launched(home: Home) -> None:
    home.adopt("dryRun: true")
    home.jobs.launches.append(a_launch())


def dry_run_with_a_job(home: Home) -> None:
    config = home.adopt("dryRun: true")
    dry = msgspec.structs.replace(KEY, dry=True)
    run = a_run(dry, NOW, status=Status.RUNNING, run_id="job-1", config_hash=config.config_hash)
    home.store.runs.open(run)
    home.store.events.publish([an_event(key=dry, kind=EventType.DRY_RUN_WOULD_TRIGGER)])


def event_never_told(home: Home) -> None:
    home.store.claims.claim(an_event(0))
    home.pass_time(minutes=1)


def event_told_under_two_ids(home: Home) -> None:
    for number in (0, 1):
        home.store.events.publish([an_event(number)])


BREAKS: list[tuple[Callable[[Home], None], list[str]]] = [
    (a_sound_world, []),
    (launch_without_run, ["I1"]),
    (launch_without_a_run, ["I1"]),
    (launch_without_verdict, ["I1"]),
    (launch_on_bad_evidence, ["I1"]),
    (two_jobs, ["I2"]),
    (timer_that_ends_twice, ["I3"]),
    (timer_that_never_ends, ["I3", "I3"]),  # the warning and the breach
    (occurrence_that_vanishes, ["I4"]),
    (listed_date_that_vanishes, ["I4"]),
    (warned_too_early, ["I3"]),
    (breached_though_done_in_time, ["I3"]),
    (met_at_the_very_instant, ["I3"]),
    (budget_exceeded, ["I5", "I5"]),  # too much, and never granted
    (budget_negative, ["I5"]),
    (refusal_that_cost_something, ["I5"]),
    (dry_run_launched, ["I6"]),
    (dry_run_with_a_job, ["I6"]),
    (event_never_told, ["I7"]),
    (event_told_under_two_ids, ["I7"]),
]


@pytest.mark.parametrize(("scene", "expected"), BREAKS, ids=[s.__name__ for s, _ in BREAKS])
def test_an_invariant_can_be_broken_and_is_seen_to_be(
    home: Home, scene: Callable[[Home], None], expected: list[str]
) -> None:
    watcher = invariants(home)
    scene(home)
    watcher.check_step()
    watcher.check_end()
    assert [line.split(":")[0] for line in watcher.broken] == expected


# --- promptness: what was left undone, though nothing has failed since ---


def ended_unseen(home: Home) -> None:
    home.adopt()
    home.scripts["silver-orders"] = (JobScript(after="10m"),)
    home.launched()


def logged_unseen(home: Home) -> None:
    home.adopt()
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.launched()
    home.job_says("success")


def left_unattended(home: Home) -> None:
    home.adopt()
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.launched()
    end_execution(home, home.run().execution_name)


def retry_that_never_came(home: Home) -> None:
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    home.launched()
    home.finish("fail")
    assert home.run().awaits_retry


def unpublished_breach(home: Home) -> None:
    home.adopt("sla: {deadline: '08:00'}\nvalidation: {rules: [{key: stock, check: exists}]}")
    home.admit(date="2026-03-02")
    home.store.timers.cancel(list(home.armed()))


def completion_without_its_verdict(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00'}")
    home.completed()


def unjudged_request(home: Home) -> None:
    home.adopt()
    home.completed()
    home.request()


def unfired_timer(home: Home) -> None:
    home.adopt("schedule: {cron: '5 8 * * *'}")


def unpublished_event(home: Home) -> None:
    home.store.claims.claim(an_event(0))


def unsent_alert(home: Home) -> None:
    delivery = a_delivery()
    home.store.deliveries.save(msgspec.structs.replace(delivery, due_at=home.clock()))


def unadopted_file(home: Home) -> None:
    home.want("")


def unadmitted_reading(home: Home) -> None:
    home.adopt()
    home.reading(date="2026-03-03")


def unreopened_failed_date(home: Home) -> None:
    home.adopt("validation: {rules: [{key: stock, check: exists}]}")
    home.admit()
    home.mode("evaluate")
    home.reading(date="2026-03-03", count=2)
    home.mode("validation-exhausted")


def watchdog_that_stands_still(home: Home) -> None:
    state = home.store.watch.load()
    assert home.store.watch.save(
        msgspec.structs.replace(state, version=state.version + 1, last_pass_at=home.clock())
    )


LATE: dict[Callable[[Home], None], str] = {
    ended_unseen: "the end of the job of silver-orders/stream/2026-03-03",
    logged_unseen: "the end that the job of silver-orders/stream/2026-03-03 has logged",
    left_unattended: "an execution of silver-orders/stream/2026-03-03, attempt 0,",
    retry_that_never_came: "the retry of silver-orders/stream/2026-03-03, attempt 0,",
    unpublished_breach: "the breach of silver-orders/stream/2026-03-02",
    completion_without_its_verdict: "what follows from the completion of silver-orders",
    unjudged_request: "the rerun of silver-orders/stream/2026-03-03",
    unfired_timer: "the timer cron.silver-orders",
    unpublished_event: "publishing silver-orders/stream/2026-03-03/TRIGGER_STARTED/0",
    unsent_alert: "the alert of silver-orders",
    unadopted_file: "the new file of silver-orders",
    unadmitted_reading: "the reading orders of silver-orders",
    unreopened_failed_date: "the reading orders of silver-orders",
    watchdog_that_stands_still: "the next pass of the watchdog",
}


def late(home: Home, watcher: Invariants, minutes: int) -> set[str]:
    """What is not done after so long, looked at each minute."""
    for _ in range(minutes):
        home.pass_time(minutes=1)
        watcher.check_rest()
    return {line.split(" was due at ")[0].removeprefix("I9: ") for line in watcher.broken}


def routed(home: Home) -> None:
    """What is not looked at here: the changes of the scene have been handled."""
    changes = home.store.changes.next("router", 1000)
    if changes:
        home.store.changes.done("router", changes[-1])
    home.database.write(
        lambda connection: connection.execute("UPDATE executions SET wake_at = wake_at + 1e11")
    )


@pytest.mark.parametrize("scene", LATE, ids=[scene.__name__ for scene in LATE])
def test_what_is_not_done_within_two_passes_is_seen_to_be_late(
    home: Home, scene: Callable[[Home], None]
) -> None:
    watcher = invariants(home, CADENCE)
    scene(home)
    routed(home)
    assert late(home, watcher, 10) == set()
    assert any(what.startswith(LATE[scene]) for what in late(home, watcher, 25))


@pytest.mark.parametrize("scene", LATE, ids=[scene.__name__ for scene in LATE])
def test_while_something_fails_nothing_is_late(home: Home, scene: Callable[[Home], None]) -> None:
    watcher = invariants(home, CADENCE)
    scene(home)
    for _ in range(60):
        watcher.calm_since = home.clock()
        assert late(home, watcher, 1) == set()


def test_what_is_late_is_reported_once(home: Home) -> None:
    watcher = invariants(home, CADENCE)
    unpublished_event(home)
    late(home, watcher, 90)
    assert len(watcher.broken) == 1


def test_while_a_pipeline_is_paused_it_is_owed_nothing(home: Home) -> None:
    watcher = invariants(home, CADENCE)
    retry_that_never_came(home)
    home.reading(date="2026-03-02")
    home.request()
    routed(home)
    pause("silver-orders", home.ports)
    assert late(home, watcher, 60) == set()


def test_an_untaken_change_and_step_are_late(home: Home) -> None:
    watcher = invariants(home, CADENCE)
    home.adopt()
    home.admit()
    assert late(home, watcher, 30) >= {
        "the next step of an execution",
        "the change 1 of silver-orders",
    }


@pytest.mark.parametrize("scene", [unadmitted_reading, unjudged_request, left_unattended])
def test_a_controller_that_sees_to_everything_is_never_late(
    home: Home, scene: Callable[[Home], None]
) -> None:
    watcher = invariants(home, CADENCE)
    scene(home)
    for _ in range(60):
        home.settle()
        assert late(home, watcher, 1) == set()


class Blind:
    """A defect: an engine that says of every execution that it is under way."""

    def __init__(self, ports: Ports) -> None:
        self._workflows, self._runs = ports.workflows, ports.runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workflows, name)

    def running(self) -> set[str]:
        return set(self._runs.open_executions())


def test_an_attempt_that_is_left_alone_breaks_a_world() -> None:
    scenario = load_scenario(_SCENARIOS / "platform-away.yaml")
    assert play(scenario).failed == []
    blind = World(scenario, around=lambda ports: replace(ports, workflows=Blind(ports)))
    lines = blind.play().broken
    assert [line.split(" was due at ")[0] for line in lines] == [
        "I9: an execution of silver-orders/stream/2026-03-03, attempt 0,"
    ]


def test_an_attempt_that_moved_on_is_not_judged_by_what_is_gone(home: Home) -> None:
    home.adopt()
    stored(home, attempt=1)
    home.jobs.launches.append(a_launch(attempt=0))
    watcher = invariants(home)
    watcher.check_step()
    assert watcher.broken == []


def test_a_broken_invariant_fails_the_scenario() -> None:
    class TwiceStarted:
        """Jobs of a platform that starts everything twice."""

        def __init__(self, ports: Ports) -> None:
            self._jobs = ports.jobs

        def __getattr__(self, name: str) -> Any:
            return getattr(self._jobs, name)

        def launch(self, *given: Any) -> Any:
            self._jobs.launch(*given)
            return self._jobs.launch(*given)

    world = World(
        parse_scenario(STORY), around=lambda ports: replace(ports, jobs=TwiceStarted(ports))
    )
    assert any(
        line.startswith("I2: more than one job was launched") for line in world.play().broken
    )


# --- faults ---


class ClearsFirst:
    """A defect: the outbox is cleared before it is published."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.clear = outbox.clear
        self.leftovers = outbox.leftovers

    def pending(self, owner: str) -> list[Event]:
        events = self._outbox.pending(owner)
        self._outbox.clear(events)
        return events


def defective(ports: Ports) -> Ports:
    return replace(ports, outbox=ClearsFirst(ports.outbox))


EXPECTING = (
    STORY + "expect: [{event: JOB_COMPLETED, count: 1}, {event: TRIGGER_STARTED, count: 1}]\n"
)


def test_a_defect_that_no_plain_story_shows_is_found_by_faults() -> None:
    scenario = parse_scenario(EXPECTING)
    assert World(scenario, around=defective).play().broken == []
    played = play_with_faults(scenario, FaultOptions(around=defective))
    assert not played.ok
    assert any("crash after write" in line for line in played.failed)
    assert any("publish" in line and "fails" in line for line in played.failed)


def test_a_sound_controller_survives_every_fault_and_a_sample_takes_fewer() -> None:
    whole = play_with_faults(parse_scenario(EXPECTING))
    assert whole.failed == []
    assert whole.branches > 20
    sample = play_with_faults(parse_scenario(EXPECTING), FaultOptions(every=10))
    assert 0 < sample.branches <= whole.branches // 10 + 1


class ForgetfulTwice:
    """A defect that takes two faults to show: after a crash, a publish that fails loses its events."""

    def __init__(self, ports: Ports) -> None:
        self._events, self._outbox = ports.events, ports.outbox
        self._is_new = ports.clock() == BRIEF.start
        self.of_run, self.newest = ports.events.of_run, ports.events.newest

    def publish(self, events: Any) -> None:
        try:
            self._events.publish(events)
        except TransientError:
            if not self._is_new:
                self._outbox.clear(events)
            raise


BRIEF = parse_scenario(
    EXPECTING.replace("start: 2026-03-03T00", "start: 2026-03-03T07").replace("T12:", "T09:")
)


def test_a_defect_that_no_single_fault_shows_is_found_by_pairs() -> None:
    def around(ports: Ports) -> Ports:
        return replace(ports, events=ForgetfulTwice(ports))

    single = play_with_faults(BRIEF, FaultOptions(every=2, around=around))
    assert (single.failed, single.pairs) == ([], 0)
    pairs = play_with_faults(BRIEF, FaultOptions(every=2, depth=2, pairs=60, around=around))
    assert pairs.branches == single.branches > 0
    assert pairs.pairs > 60
    assert any(
        line.startswith("crash after write") and ": publish" in line for line in pairs.failed
    )


def test_the_pairs_of_one_step_are_played_whatever_the_sample() -> None:
    few, more = (
        play_with_faults(BRIEF, FaultOptions(every=7, depth=2, pairs=number)) for number in (1, 11)
    )
    assert few.failed == more.failed == []
    assert more.pairs - few.pairs == 10
    assert few.pairs > few.branches // 2  # those of one step


def test_an_expectation_that_hangs_on_seconds_is_not_held_against_faults() -> None:
    file = Path(__file__).parents[2] / "scenarios" / "sla-during-a-slow-poll.yaml"
    marked = file.read_text()
    held, spared = (
        play_with_faults(parse_scenario(text), FaultOptions(every=35))
        for text in (marked.replace(", undisturbed: true", ""), marked)
    )
    assert any("fault 35" in problem for problem in held.failed)
    assert spared.failed == []


def test_how_far_it_is_can_be_heard() -> None:
    heard: list[tuple[int, int]] = []
    how = FaultOptions(
        every=9, depth=2, pairs=5, told=lambda done, total: heard.append((done, total))
    )
    played = play_with_faults(BRIEF, how)
    assert len(heard) > played.branches > 0
    assert all(done <= total for done, total in heard)


def test_the_clock_of_a_world_is_its_own() -> None:
    world = World(parse_scenario(STORY))
    assert world.now == datetime(2026, 3, 3, tzinfo=UTC)
    world.play()
    assert world.now == datetime(2026, 3, 3, tzinfo=UTC) + timedelta(hours=12)


# --- calls that take time ---

SLOW = (
    STORY.replace("after: 20m", "after: 5m, launchTakes: 20s, pollTakes: 8s")
    .replace("T00:00", "T07:50")
    .replace("T12:00", "T08:30")
)


def test_a_call_that_takes_time_is_answered_later_while_readings_come() -> None:
    reading = "sensor: {pipeline: silver-orders, key: orders, data: {date: '2026-03-03', n: 2}}"
    story = f"{SLOW}  - {{at: 2026-03-03T08:00:15Z, {reading}}}\n"
    expected = (
        "{event: JOB_TRIGGERED, at: 2026-03-03T08:00:20Z, count: 1}",
        "{event: LATE_DATA_ARRIVAL, count: 1}",
        "{launches: silver-orders, count: 2}",
    )
    assert told(*expected[1:], story=story) == []
    assert told(expected[0], story=SLOW) == []


def test_a_play_with_slow_calls_is_the_same_every_time() -> None:
    first, again = (played_scenario(play(parse_scenario(SLOW))) for _ in range(2))
    assert first == again


def test_faults_strike_while_calls_are_under_way() -> None:
    played = play_with_faults(parse_scenario(SLOW), FaultOptions(every=3, depth=2, pairs=3))
    assert played.failed == []
    assert played.branches > 10 and played.pairs > 0


def test_a_controller_that_dies_in_a_launch_has_launched_once_it_is_halfway() -> None:
    for second, launches in ((5, 0), (15, 1)):
        story = SLOW.replace("T08:30:00", f"T08:00:{second:02}")
        outcome = World(parse_scenario(story)).play()
        assert len(outcome.launches) == launches
        assert [run.status for run in outcome.runs] == [Status.TRIGGERING]


def test_a_breach_of_a_job_that_ended_in_time_is_found(home: Home) -> None:
    home.adopt("sla: {deadline: '10:00', expectedDuration: 30m}")
    key = RunKey("silver-orders", "stream", "2026-03-02")
    ended = SimulatedJob(*_place(key), 0, "il-1", NOW, JobScript(after="30m"))
    home.jobs.launches.append(ended)
    invariants = Invariants(home.store, home.jobs, home.clock)
    run = a_run(key, status=Status.RUNNING)
    home.store.events.publish([_breach(run, blockedBy=["job running for 2h"])])
    invariants.check_step()
    assert [line for line in invariants.broken if "its job had succeeded" in line]


def _place(key: RunKey) -> tuple[str, str, str]:
    return key.pipeline_id, key.schedule_id, key.date


def _breach(run: Run, **detail: Any) -> Event:
    at = NOW + timedelta(hours=2)
    return msgspec.structs.replace(
        an_event(),
        type=EventType.SLA_BREACH,
        pipeline_id=run.key.pipeline_id,
        schedule_id=run.key.schedule_id,
        date=run.key.date,
        attempt=0,
        timestamp=at,
        detail={"status": "RUNNING", "breachAt": "2026-03-03T10:00:00Z", **detail},
    )
