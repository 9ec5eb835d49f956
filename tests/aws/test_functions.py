"""Functions: called as the platform calls them; repeated, late, in part, and with nonsense."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from aws.functions import ENVIRONMENT, function_home
from aws.homes import Services, failing
from aws.recorded import payload
from contracts.samples import NOW, ManualClock, a_config, a_pipeline, a_run, wanted
from declared import declared
from interlock.domain.event import EventType
from interlock.domain.pipeline import Evaluation, Pipeline, Schedule, Sla
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey, Status
from interlock.errors import ConfigError, TransientError
from interlock.lambdas import (
    event_sink,
    orchestrator,
    sla_monitor,
    stream_router,
    watchdog,
)
from interlock.ports.jobs import Jobs
from interlock.usecases.start_run import start_run
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function, read_aws_settings

KEY = RunKey("silver-orders", "stream", "2026-03-03")


class Context:
    """What Lambda says about an invocation."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds * 1000)


def told(home: AwsBackend, services: Services) -> list[str]:
    sink = function_home(Function.EVENT_SINK, services, home.ports.clock)
    return [event.type for event in reversed(sink.store.event_log.newest())]


# --- stream router --------------------------------------------------------------------------------


def test_a_reading_opens_its_run_and_starts_it_once_however_often_it_comes(
    router: AwsBackend, services: Services
) -> None:
    router.store.pipelines.save(a_config())
    for _ in range(3):
        answer = stream_router.handle(payload("stream_sensor_map"), None, router)
        assert answer == {"batchItemFailures": []}
    assert router.store.runs.get(KEY).status is Status.PENDING
    assert list(services.engine.given) == ["silver-orders-stream-2026-03-03"]
    assert told(router, services) == ["TRIGGER_STARTED"]


@pytest.fixture
def warm(services: Services, clock: ManualClock) -> tuple[AwsBackend, list[str]]:
    """A router that has seen a reading of the pipeline two minutes ago, and what it asks for."""
    calls: list[str] = []
    home = function_home(
        Function.STREAM_ROUTER,
        services,
        clock,
        configs_kept=timedelta(seconds=60),
        wrap=lambda service, client: _Counted(client, calls) if service == "dynamodb" else client,
    )
    home.store.pipelines.save(a_config())
    stream_router.handle(payload("stream_sensor_map"), None, home)
    run = home.store.runs.get(KEY)
    assert home.store.runs.save(run.changed(clock(), started_at=clock()))
    clock.advance(minutes=2)
    calls.clear()
    return home, calls


def test_a_reading_of_a_pipeline_that_is_known_is_one_read(
    warm: tuple[AwsBackend, list[str]],
) -> None:
    home, calls = warm
    stream_router.handle(payload("stream_sensor_map"), None, home)
    assert calls == ["batch_get_item"]


@pytest.mark.parametrize("change", ["paused", "renamed", "retired", "unreadable"])
def test_what_was_known_of_a_pipeline_is_believed_of_nothing(
    warm: tuple[AwsBackend, list[str]], change: str, services: Services, clock: ManualClock
) -> None:
    """It only says what to read; the config that is read with it decides."""
    home, _ = warm
    other = function_home(Function.WATCHDOG, services, clock).store.pipelines
    config = other.find(KEY.pipeline_id)
    assert config is not None
    if change == "unreadable":
        services.tables.update_item(
            TableName=ENVIRONMENT["CONTROL_TABLE"],
            Key={"PK": {"S": "PIPELINE#silver-orders"}, "SK": {"S": "CONFIG#ACTIVE"}},
            UpdateExpression="SET #config = :broken, #version = :next",
            ExpressionAttributeNames={"#config": "config", "#version": "version"},
            ExpressionAttributeValues={":broken": {"S": "{}"}, ":next": {"N": "2"}},
        )
    else:
        schedule = msgspec.structs.replace(config.pipeline.schedules[0], id="hourly")
        renamed = msgspec.structs.replace(config.pipeline, schedules=(schedule,))
        changes: dict[str, tuple[str, Any]] = {
            "paused": ("paused_since", clock()),
            "retired": ("retired_at", clock()),
            "renamed": ("pipeline", renamed),
        }
        name, value = changes[change]
        assert other.save(msgspec.structs.replace(config, version=2, **{name: value}))
    batch = payload("stream_sensor_map")
    for record in batch["Records"]:
        record["dynamodb"]["NewImage"]["data"]["M"]["date"] = {"S": "2026-03-04"}
    answer = stream_router.handle(batch, None, home)
    opened = {run.key.schedule_id for run in home.store.runs.active() if run.key.date > KEY.date}
    assert opened == ({"hourly"} if change == "renamed" else set())
    assert answer == {"batchItemFailures": []}  # what can't be read is reported, and no dead letter
    assert ("ROW_UNREADABLE" in told(home, services)) is (change == "unreadable")


def test_a_batch_stops_at_the_first_record_that_fails(
    services: Services, clock: ManualClock
) -> None:
    batch = {
        "Records": [
            *payload("stream_unknown")["Records"],
            *payload("stream_sensor_steps")["Records"],
        ]
    }
    broken = function_home(Function.STREAM_ROUTER, failing(services, 1), clock)
    answer = stream_router.handle(batch, None, broken)
    number = batch["Records"][1]["dynamodb"]["SequenceNumber"]
    assert answer == {"batchItemFailures": [{"itemIdentifier": number}]}


@pytest.mark.parametrize("broken_at", range(1, 13))
def test_a_batch_whose_handling_died_anywhere_is_finished_by_its_repeat(
    services: Services, clock: ManualClock, broken_at: int
) -> None:
    sound = function_home(Function.STREAM_ROUTER, services, clock)
    sound.store.pipelines.save(a_config())
    broken = function_home(Function.STREAM_ROUTER, failing(services, broken_at), clock)
    stream_router.handle(payload("stream_sensor_map"), None, broken)
    stream_router.handle(payload("stream_sensor_map"), None, sound)
    assert list(services.engine.given) == ["silver-orders-stream-2026-03-03"]
    assert told(sound, services) == ["TRIGGER_STARTED"]
    assert sound.store.outbox.pending(str(KEY)) == []


def test_a_config_that_was_taken_away_is_retired(router: AwsBackend, services: Services) -> None:
    router.store.pipelines.save(a_config())
    stream_router.handle(payload("stream_removals"), None, router)
    found = router.store.pipelines.find(KEY.pipeline_id)
    assert found is not None and found.is_retired
    assert router.store.pipelines.in_force() == []
    assert told(router, services) == ["CONFIG_ADOPTED"]


def test_a_wanted_config_is_adopted_from_the_stream(router: AwsBackend, services: Services) -> None:
    router.store.pipelines.want(wanted(declared()))
    stream_router.handle({"Records": services.records(ENVIRONMENT["CONTROL_TABLE"])}, None, router)
    assert [config.pipeline.id for config in router.store.pipelines.in_force()] == [KEY.pipeline_id]


def test_a_cron_timer_opens_its_date_and_arms_the_next(
    router: AwsBackend, services: Services, clock: ManualClock
) -> None:
    nightly = a_pipeline("nightly", schedules=(Schedule(id="cron", cron="0 10 * * *"),))
    since = NOW - timedelta(days=1)
    router.store.pipelines.save(a_config(nightly, active_since=since, adopted_at=since))
    stream_router.handle(payload("scheduler_cron"), None, router)
    assert list(services.engine.given) == ["nightly-cron-2026-03-03"]
    assert [entry["Name"] for entry in services.entries()] == ["cron.nightly.cron.2026-03-04"]


def test_a_retry_that_is_due_already_begins_within_the_same_call(
    router: AwsBackend, services: Services, clock: ManualClock
) -> None:
    """An entry of Scheduler can't be set for the past."""
    router.store.pipelines.save(a_config())
    run = a_run(KEY)
    versions = [run, run.to(Status.TRIGGERING, NOW)]
    versions.append(versions[-1].to(Status.RUNNING, NOW, launched_at=NOW))
    versions.append(versions[-1].to(Status.FAILED, NOW, retry_at=NOW + timedelta(seconds=30)))
    assert router.store.runs.open(versions[0])
    assert all(router.store.runs.save(version) for version in versions[1:])
    clock.advance(hours=1)
    stream_router.handle(payload("stream_joblog"), None, router)
    assert router.store.runs.get(KEY).attempt == 1
    assert list(services.engine.given) == ["silver-orders-stream-2026-03-03-rerun-1"]


# --- orchestrator and SLA monitor -----------------------------------------------------------------


def given(services: Services, home: AwsBackend, mode: str, **also: Any) -> dict[str, Any]:
    """What the state machine hands to a task of the run's execution."""
    run = home.store.runs.get(KEY)
    start_run(run, a_pipeline(), home.ports)
    found: dict[str, Any] = json.loads(services.engine.given[run.execution_name])
    return {**found, "mode": mode, **also}


@pytest.fixture
def opened(router: AwsBackend) -> AwsBackend:
    router.store.pipelines.save(a_config())
    assert router.store.runs.open(a_run(KEY))
    return router


def test_an_evaluation_is_two_requests(
    opened: AwsBackend, services: Services, clock: ManualClock, jobs: Jobs
) -> None:
    calls: list[str] = []
    home = function_home(
        Function.ORCHESTRATOR, services, clock, jobs, wrap=lambda _, client: _Counted(client, calls)
    )
    answer = orchestrator.handle(given(services, opened, "evaluate"), None, home)
    assert answer["current"] and not answer["passed"]
    assert calls == ["batch_get_item", "put_item"]


def test_a_whole_run_from_evaluation_to_completion(
    opened: AwsBackend, services: Services, clock: ManualClock, jobs: Jobs
) -> None:
    reading = payload("stream_sensor_map")["Records"][0]["dynamodb"]["NewImage"]
    reading["SK"] = {"S": "SENSOR#orders-count"}
    services.tables.put_item(TableName=ENVIRONMENT["CONTROL_TABLE"], Item=reading)
    home = function_home(Function.ORCHESTRATOR, services, clock, jobs)
    assert orchestrator.handle(given(services, opened, "evaluate"), None, home)["passed"]
    assert orchestrator.handle(given(services, opened, "trigger"), Context(300), home)["launched"]
    clock.advance(minutes=10)
    assert (
        orchestrator.handle(given(services, opened, "check-job"), None, home)["event"] == "success"
    )
    answer = orchestrator.handle(given(services, opened, "complete-trigger"), None, home)
    assert answer["outcome"] == "completed"
    assert home.store.runs.get(KEY).status is Status.COMPLETED
    assert set(told(home, services)) == {
        "VALIDATION_PASSED",
        "JOB_TRIGGERED",
        "JOB_COMPLETED",
    }


def test_what_goes_wrong_in_a_mode_is_raised_by_the_name_the_machine_knows(
    opened: AwsBackend, services: Services, clock: ManualClock, jobs: Jobs
) -> None:
    broken = function_home(Function.ORCHESTRATOR, failing(services, 1), clock, jobs)
    with pytest.raises(TransientError) as caught:
        orchestrator.handle(given(services, opened, "evaluate"), None, broken)
    assert type(caught.value).__name__ == "TransientError"
    with pytest.raises(ConfigError, match="unknown mode"):
        orchestrator.handle(given(services, opened, "dance"), None, broken)


def test_a_function_without_a_port_says_so(
    services: Services, clock: ManualClock, jobs: Jobs
) -> None:
    home = function_home(Function.ORCHESTRATOR, services, clock, jobs)
    with pytest.raises(ConfigError, match="orchestrator has no timers"):
        home.ports.timers.cancel(["any"])


def with_deadline() -> Any:
    daily = Schedule(
        id="stream", trigger=a_pipeline().schedules[0].trigger, evaluation=Evaluation(window="1h")
    )
    return a_config(
        a_pipeline(sla=Sla(deadline="11:00", expected_duration="30m"), schedules=(daily,)),
        active_since=NOW - timedelta(days=1),
    )


def test_a_deadline_that_fires_late_is_reported_once(
    services: Services, clock: ManualClock, router: AwsBackend
) -> None:
    router.store.pipelines.save(with_deadline())
    home = function_home(Function.SLA_MONITOR, services, clock)
    assert sla_monitor.handle(payload("scheduler_deadline"), None, home) == {"told": False}
    clock.now = NOW.replace(day=4, hour=11, minute=0, second=40)
    assert sla_monitor.handle(payload("scheduler_deadline"), None, home) == {"told": True}
    assert sla_monitor.handle(payload("scheduler_deadline"), None, home) == {"told": False}
    assert told(home, services) == ["SLA_BREACH"]


def test_reconciling_a_date_arms_what_is_ahead_and_judges_what_has_passed(
    services: Services, clock: ManualClock, router: AwsBackend
) -> None:
    router.store.pipelines.save(with_deadline())
    home = function_home(Function.SLA_MONITOR, services, clock)
    event = {**payload("scheduler_deadline"), "mode": "reconcile"}
    clock.now = NOW.replace(day=4, hour=10, minute=45)
    answer = sla_monitor.handle(event, None, home)
    assert answer["told"] == ["warning"]
    assert [entry["Description"] for entry in services.entries()] == [
        "breach.silver-orders.stream.2026-03-03"
    ]


# --- watchdog -------------------------------------------------------------------------------------


@pytest.fixture
def dog(services: Services, clock: ManualClock, jobs: Jobs) -> AwsBackend:
    return function_home(Function.WATCHDOG, services, clock, jobs)


def put_in_force(home: AwsBackend, pipeline: Pipeline) -> None:
    """Wanted and adopted: an unwanted pipeline would be retired."""
    home.store.pipelines.want(wanted(pipeline))
    assert home.store.pipelines.save(a_config(pipeline, config_hash=wanted(pipeline).config_hash))


def launched(home: AwsBackend, services: Services, clock: ManualClock) -> None:
    """The job of the usual run runs, and its execution is over."""
    put_in_force(home, a_pipeline())
    run = a_run(KEY, clock(), started_at=clock())
    assert home.store.runs.open(run)
    start_run(run, a_pipeline(), home.ports)
    run = run.to(Status.TRIGGERING, clock())
    assert home.store.runs.save(run)
    facts = {"run_id": "job-1", "launched_at": clock(), "job": {"token": "t"}}
    assert home.store.runs.save(run.to(Status.RUNNING, clock(), **facts))
    services.end(run.execution_name)
    clock.advance(minutes=5)


def test_a_run_whose_execution_ended_badly_is_attended_at_once_and_once(
    dog: AwsBackend, services: Services, clock: ManualClock, capsys: pytest.CaptureFixture[str]
) -> None:
    launched(dog, services, clock)
    assert watchdog.handle(payload("states_failed"), Context(240), dog) == {"findings": 1}
    assert watchdog.handle(payload("states_failed"), Context(240), dog) == {"findings": 0}
    again = "silver-orders-stream-2026-03-03-again-2"
    assert list(services.engine.given) == ["silver-orders-stream-2026-03-03", again]
    assert dog.store.runs.get(KEY).execution_name == again
    given = json.loads(services.engine.given[again])
    assert given["config"]["job"]["config"] == {"run": "true"}  # as the one before it was given
    assert given["executionName"] == again
    assert told(dog, services) == ["TRIGGER_RECOVERED"]
    assert "WatchdogPass" not in capsys.readouterr().out  # it was no pass


def test_an_execution_that_breaks_off_again_waits_for_the_next_pass(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    launched(dog, services, clock)
    watchdog.handle(payload("states_failed"), Context(240), dog)
    second = payload("states_failed")
    second["detail"]["name"] = "silver-orders-stream-2026-03-03-again-2"
    services.end(second["detail"]["name"])
    assert watchdog.handle(second, Context(240), dog) == {"findings": 0}
    watchdog.handle({}, Context(240), dog)
    assert dog.store.runs.get(KEY).executions == 3


def test_an_execution_that_ended_before_its_launch_has_failed(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    put_in_force(dog, a_pipeline())
    run = a_run(KEY, clock(), started_at=clock())
    assert dog.store.runs.open(run)
    assert watchdog.handle(payload("states_failed"), Context(240), dog) == {"findings": 1}
    run = dog.store.runs.get(KEY)
    assert (run.status, run.retry_at) == (Status.FAILED, clock() + timedelta(minutes=5))
    assert told(dog, services) == ["INFRA_FAILURE"]


def test_a_completion_that_was_left_half_done_is_finished_at_once(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    put_in_force(dog, a_pipeline())
    breach = clock() + timedelta(hours=12)
    run = a_run(KEY, status=Status.COMPLETED, completed_at=clock(), breach_at=breach)
    assert dog.store.runs.open(run)
    event = payload("states_failed")
    given = json.loads(event["detail"]["input"])
    given["config"]["sla"] = {"deadline": "23:00"}  # which the file in force no longer has
    event["detail"]["input"] = json.dumps(given)
    assert watchdog.handle(event, Context(240), dog) == {"findings": 1}
    assert dog.store.runs.get(KEY).sla_verdict == "MET"


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED, Status.FAILED_FINAL])
def test_a_run_that_has_its_end_is_left_alone(dog: AwsBackend, status: Status) -> None:
    put_in_force(dog, a_pipeline())
    assert dog.store.runs.open(a_run(KEY, status=status))
    assert watchdog.handle(payload("states_failed"), Context(240), dog) == {"findings": 0}


def test_an_execution_of_a_date_without_a_run_is_ignored(dog: AwsBackend) -> None:
    assert watchdog.handle(payload("states_failed"), Context(240), dog) == {"findings": 0}


@pytest.mark.parametrize("detail", [{"input": None}, {"input": ""}])
def test_an_input_too_long_for_the_event_is_left_to_the_next_pass(
    dog: AwsBackend, services: Services, clock: ManualClock, detail: dict[str, Any]
) -> None:
    launched(dog, services, clock)
    event = payload("states_failed")
    event["detail"] |= detail | {"inputDetails": {"included": False}}
    assert watchdog.handle(event, Context(240), dog) == {"findings": 0}
    watchdog.handle({}, Context(240), dog)
    assert dog.store.runs.get(KEY).executions == 2


def test_a_complete_pass_is_counted(dog: AwsBackend, capsys: pytest.CaptureFixture[str]) -> None:
    answer = watchdog.handle(payload("watchdog_schedule"), Context(240), dog)
    assert answer == {"findings": 0, "leftOut": 0}
    metric = json.loads(capsys.readouterr().out)
    assert metric["WatchdogPass"] == 1 and metric["environment"] == "t"
    (declared,) = metric["_aws"]["CloudWatchMetrics"]
    assert declared["Namespace"] == "Interlock"
    assert declared["Dimensions"] == [["environment"]]


def test_a_pass_without_time_leaves_pipelines_out_and_the_next_one_begins_with_them(
    dog: AwsBackend, clock: ManualClock
) -> None:
    names = ("a", "b")
    for name in names:
        put_in_force(dog, a_pipeline(name))
    assert watchdog.handle({}, Context(19), dog)["leftOut"] == 2
    state = dog.ports.watch.load()
    assert set(state.lagging) == set(names) and state.last_pass_at == NOW
    clock.advance(minutes=5)
    assert watchdog.handle({}, Context(240), dog)["leftOut"] == 0
    assert dog.ports.watch.load().lagging == {}


def test_pipelines_for_which_no_pass_has_time_are_reported(
    dog: AwsBackend, clock: ManualClock, services: Services
) -> None:
    put_in_force(dog, a_pipeline("a"))
    for _ in range(3):
        watchdog.handle({}, Context(19), dog)
        clock.advance(minutes=5, milliseconds=1)
    with pytest.raises(watchdog.WatchdogError, match=r"time \(a\)"):
        watchdog.handle({}, Context(19), dog)
    assert told(dog, services) == ["WATCHDOG_DEGRADED"]


class _NoRerunsOf:
    """The requests of one pipeline can't be judged."""

    def __init__(self, sound: Any, pipeline_id: str) -> None:
        self._sound, self._pipeline_id = sound, pipeline_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sound, name)

    def judged(self, request: RerunRequest) -> None:
        if request.key.pipeline_id == self._pipeline_id:
            raise RuntimeError("on purpose")
        self._sound.judged(request)


def test_a_pass_in_which_a_check_failed_is_stored_and_told_and_then_raised(
    dog: AwsBackend, services: Services
) -> None:
    for name in ("good", "bad"):
        put_in_force(dog, a_pipeline(name))
        key = RunKey(name, "never", "2026-03-03")
        dog.ports.reruns.request(RerunRequest(key=key, reason="x", requested_at=NOW))
    broken: Any = _NoRerunsOf(dog.ports.reruns, "bad")
    dog.ports = replace(dog.ports, reruns=broken)
    with pytest.raises(watchdog.WatchdogError, match=r"sweep \(bad\)"):
        watchdog.handle({}, None, dog)
    assert dog.ports.watch.load().last_pass_at == NOW
    assert sorted(told(dog, services)) == ["RERUN_REJECTED", "RERUN_REJECTED", "WATCHDOG_DEGRADED"]


def test_a_pipeline_whose_config_cannot_be_read_fails_no_pass(
    dog: AwsBackend, services: Services
) -> None:
    for name in ("good", "bad"):
        put_in_force(dog, a_pipeline(name))
    services.tables.update_item(
        TableName=ENVIRONMENT["CONTROL_TABLE"],
        Key={"PK": {"S": "PIPELINE#bad"}, "SK": {"S": "CONFIG#ACTIVE"}},
        UpdateExpression="SET #config = :broken",
        ExpressionAttributeNames={"#config": "config"},
        ExpressionAttributeValues={":broken": {"S": "{}"}},
    )
    fresh = function_home(Function.WATCHDOG, services, dog.ports.clock)
    watchdog.handle({}, None, fresh)
    assert told(fresh, services) == ["ROW_UNREADABLE"]
    assert list(fresh.ports.watch.load().lagging) == ["bad"]


def test_a_second_pass_at_the_same_time_does_nothing(dog: AwsBackend) -> None:
    state = dog.ports.watch.load()
    claimed = msgspec.structs.replace(state, version=1, pass_until=NOW + timedelta(minutes=4))
    assert dog.ports.watch.save(claimed)
    assert watchdog.handle({}, None, dog) == {"findings": 0, "leftOut": 0}
    assert dog.ports.watch.load() == claimed


# --- event sink and alert dispatcher --------------------------------------------------------------


@pytest.fixture
def sink(services: Services, clock: ManualClock) -> AwsBackend:
    return function_home(Function.EVENT_SINK, services, clock)


def test_an_event_is_kept_once_with_exact_numbers(sink: AwsBackend) -> None:
    for _ in range(2):
        event_sink.handle(payload("eventbridge_event"), None, sink)
    (event,) = sink.store.event_log.newest()
    assert event.type is EventType.VALIDATION_EXHAUSTED
    assert str(event.detail["failing"][0]["actual"]) == "940.5"
    assert sink.store.event_log.of_run(KEY) == [event]


def test_an_alarm_is_given_its_sentence(sink: AwsBackend) -> None:
    event_sink.handle(payload("eventbridge_alarm"), None, sink)
    (event,) = sink.store.event_log.newest(kind=EventType.INFRA_ALARM)
    assert event.message == "alarm t-interlock-alarm-control-dlq is ALARM"


def test_an_event_that_can_not_be_read_is_kept_as_it_came(
    sink: AwsBackend, services: Services
) -> None:
    event_sink.handle(payload("eventbridge_malformed"), None, sink)
    assert sink.store.event_log.newest() == []
    (record,) = services.records(ENVIRONMENT["EVENTS_TABLE"])
    kept = record["dynamodb"]["NewImage"]
    assert kept["eventType"] == {"S": "UNREADABLE"}
    assert "SOMETHING_ELSE" in kept["text"]["S"]


def test_an_event_that_can_not_be_stored_is_raised(services: Services, clock: ManualClock) -> None:
    broken = function_home(Function.EVENT_SINK, failing(services, 1), clock)
    with pytest.raises(TransientError):
        event_sink.handle(payload("eventbridge_event"), None, broken)


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", Function)
def test_every_missing_or_malformed_name_is_reported_at_once_without_values(
    function: Function,
) -> None:
    assert read_aws_settings(function, ENVIRONMENT).function is function
    wrong = {"EVENT_BUS_NAME": "a secret value", "EVENTS_TABLE": "a secret value"}
    with pytest.raises(ConfigError) as caught:
        read_aws_settings(function, wrong)
    message = str(caught.value)
    assert "malformed" in message and "ENVIRONMENT is missing" in message
    assert "a secret value" not in message


def test_an_invalid_number_of_days_means_the_default() -> None:
    days = {"EVENTS_TTL_DAYS": "soon"}
    settings = read_aws_settings(Function.EVENT_SINK, ENVIRONMENT | days)
    assert settings.events_kept == timedelta(days=90)


class _Counted:
    def __init__(self, client: Any, calls: list[str]) -> None:
        self._client, self._calls = client, calls

    def __getattr__(self, name: str) -> Any:
        self._calls.append(name)
        return getattr(self._client, name)
