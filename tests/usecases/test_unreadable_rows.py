"""Rows that can't be read, in both homes: they concern their own date, and are reported once."""

import logging
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_run
from interlock.domain.admission import Ignore
from interlock.domain.event import EventType, Severity
from interlock.domain.opening import Opening
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Cause, RerunRefused
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, Status
from interlock.errors import TransientError, UnreadableError
from interlock.ports.stores import Runs
from interlock.queries.why import explain
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.fire_timer import check_timer, fire_timer
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports
from interlock.usecases.report_unreadable import report_unreadable
from interlock.usecases.retry_job import retry_job
from usecases.home import KEY, Home, assert_a_crash_changes_nothing
from usecases.two_homes import STAGES, Stage

CRON = "schedule: {id: stream, cron: '0 9 * * *', evaluation: {window: 30m}}"
SLA = "sla: {deadline: '10:00', expectedDuration: 30m}"
CLOSING = "schedule: {id: stream, trigger: {key: orders, check: exists, deadline: '11:00'}}"
SENSOR = "schedule: {id: stream, trigger: {key: orders, check: exists}}"
OTHERS = f"pipeline: {{id: gold-orders}}\n{CRON}"
ROW_UNREADABLE = EventType.ROW_UNREADABLE


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest) -> Stage:
    made: Stage = STAGES[request.param]()
    return made


def spoiled(stage: Stage, text: str = CRON, form: int = 0) -> Stage:
    """A pipeline in force since before the day, whose run of the day can't be read."""
    stage.clock.now -= timedelta(hours=9)
    stage.adopt(f"{text}\n")
    stage.clock.now += timedelta(hours=9)
    assert stage.ports.runs.open(a_run(KEY, stage.clock()))
    assert stage.spoil("run", form)
    return stage


def unreadable(stage: Stage) -> list[Any]:
    return [event for event in stage.told() if event.type is ROW_UNREADABLE]


# --- a pass ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "hours"),
    [(f"{CRON}\n{SLA}", 0.5), (f"{CLOSING}\n{SLA}", 3.5)],  # a day that readings open ends first
)
def test_a_date_whose_row_cannot_be_read_is_neither_missed_nor_late_nor_closed(
    stage: Stage, text: str, hours: float
) -> None:
    spoiled(stage, text)
    for _ in range(8):  # until long after every one of its moments
        report = stage.look(hours=hours)
        assert (report.failures, report.findings) == ([], [])
    assert stage.types() == ["ROW_UNREADABLE"]
    assert stage.launches() == 0


def test_it_is_reported_once_with_table_and_key_and_what_is_wrong(stage: Stage) -> None:
    spoiled(stage)
    for _ in range(3):
        stage.look(hours=1)
    (event,) = unreadable(stage)
    assert event.severity is Severity.ERROR
    assert (event.pipeline_id, event.schedule_id, event.date) == (
        KEY.pipeline_id,
        KEY.schedule_id,
        KEY.date,
    )
    assert event.owner == "orders-team"
    assert KEY.date in event.detail["key"] and event.detail["problem"]
    assert event.detail["table"] in ("runs", "t-interlock-control")
    assert "interlock doctor" in event.detail["actionHint"]


def test_a_row_that_is_corrected_badly_is_reported_again(stage: Stage) -> None:
    spoiled(stage)
    stage.look(minutes=65)
    assert stage.spoil("run", 1)
    stage.look(hours=1)
    assert len(unreadable(stage)) == 2


def test_the_other_pipelines_lose_nothing(stage: Stage) -> None:
    spoiled(stage)
    stage.adopt(OTHERS)
    report = stage.look(hours=3)
    assert report.failures == []
    missed = [event for event in stage.told() if event.type is EventType.SCHEDULE_MISSED]
    assert [event.pipeline_id for event in missed] == ["gold-orders"]


def test_a_row_that_is_deleted_gives_its_date_back(stage: Stage) -> None:
    spoiled(stage)
    stage.look(minutes=50)
    stage.delete()
    stage.look(minutes=15)
    run = stage.fresh().runs.get(KEY)
    assert (run.status, run.opened_by) == (Status.PENDING, OpenedBy.CRON)


def test_a_repeat_after_a_crash_reports_the_row_once() -> None:
    def scene(home: Home) -> None:
        home.adopt(CRON)
        assert home.store.runs.open(a_run(KEY, home.clock()))
        home.database.write(lambda connection: connection.execute("UPDATE runs SET run = '{}'"))
        home.store.runs.find([KEY])

    def act(home: Home) -> None:
        home.store.runs.find([KEY])
        report_unreadable(home.ports)

    home = assert_a_crash_changes_nothing(scene, act)
    assert home.told() == [ROW_UNREADABLE]


def test_a_report_that_fails_is_made_again(stage: Stage) -> None:
    class NoEvents:
        def publish(self, events: Any) -> None:
            raise TransientError("the bus is away")

    spoiled(stage)
    broken: Any = NoEvents()
    ports = replace(stage.ports, events=broken)
    ports.runs.find([KEY])
    with pytest.raises(TransientError):
        report_unreadable(ports)
    assert report_unreadable(stage.ports) == 1
    assert stage.types() == ["ROW_UNREADABLE"]
    assert report_unreadable(stage.ports) == 0


# --- a batch that fails ---------------------------------------------------------------------------


class FailingRuns:
    """Runs of these pipelines can't be searched for."""

    def __init__(self, sound: Runs, *pipelines: str) -> None:
        self._sound, self._pipelines = sound, pipelines

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sound, name)

    def find(self, keys: Collection[RunKey]) -> dict[RunKey, Run]:
        if any(key.pipeline_id in self._pipelines for key in keys):
            raise RuntimeError("no such thing")
        return self._sound.find(keys)


def failing(stage: Stage, *pipelines: str) -> Ports:
    ports = stage.fresh()
    broken: Any = FailingRuns(ports.runs, *pipelines)
    return replace(ports, runs=broken)


def test_the_trouble_of_one_pipeline_stays_its_own(stage: Stage) -> None:
    stage.adopt(CRON)
    stage.adopt(OTHERS)
    stage.look()
    report = stage.look(failing(stage, "silver-orders"), hours=3)
    assert [(each.check, each.pipeline) for each in report.failures] == [("load", "silver-orders")]
    missed = [event for event in stage.told() if event.type is EventType.SCHEDULE_MISSED]
    assert [event.pipeline_id for event in missed] == ["gold-orders"]
    report = stage.look()  # it is looked at from where it stood
    missed = [event for event in stage.told() if event.type is EventType.SCHEDULE_MISSED]
    assert {event.pipeline_id for event in missed} == {"gold-orders", "silver-orders"}


def test_what_fails_for_every_pipeline_is_the_trouble_of_all(stage: Stage) -> None:
    stage.adopt(CRON)
    stage.adopt(OTHERS)
    report = stage.look(failing(stage, "silver-orders", "gold-orders"), hours=3)
    assert [(each.check, each.pipeline) for each in report.failures] == [("load", "*")]


def test_without_time_left_the_rest_waits_for_the_next_pass(stage: Stage) -> None:
    from interlock.usecases.watch import watch

    stage.adopt(CRON)
    stage.adopt(OTHERS)
    stage.clock.now += timedelta(hours=3)
    answers = iter([True, True, False])  # one batch, one pipeline of it, and no more
    report = watch(
        timedelta(minutes=5),
        failing(stage, "silver-orders"),
        has_time=lambda: next(answers, False),
    )
    assert report is not None
    assert len(report.left_out) == 1


# --- readings, cron, timers, requests -------------------------------------------------------------


def test_a_reading_for_such_a_date_is_ignored_with_a_reason(stage: Stage) -> None:
    spoiled(stage, SENSOR)
    (admission,) = admit_reading(stage.reading(count=5), stage.fresh())
    assert isinstance(admission, Ignore)
    assert "can't be read" in admission.reason
    assert stage.launches() == 0


def test_a_cron_moment_finds_the_row_in_its_way(stage: Stage) -> None:
    spoiled(stage)
    stage.clock.now += timedelta(hours=1)
    ports = stage.fresh()
    fire_cron(KEY.pipeline_id, KEY.schedule_id, ports)
    config = ports.pipelines.find(KEY.pipeline_id)
    assert config is not None
    run = open_run(Opening(KEY, OpenedBy.CRON, "", stage.clock()), config, ports)
    assert run.status is Status.UNREADABLE
    assert "TRIGGER_STARTED" not in stage.types()


def test_deadlines_and_retries_of_such_a_date_say_nothing(stage: Stage) -> None:
    spoiled(stage, f"{CRON}\n{SLA}")
    stage.clock.now += timedelta(hours=5)
    ports = stage.fresh()
    for kind in DeadlineKind:
        assert not fire_deadline(KEY, kind, ports)
    of_date = {"pipelineId": KEY.pipeline_id, "scheduleId": KEY.schedule_id, "date": KEY.date}
    fire_timer("retry", {**of_date, "attempt": 0}, ports)
    with pytest.raises(UnreadableError):
        retry_job(KEY, 0, ports)
    assert stage.types() == []


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("later", {"pipelineId": "p", "scheduleId": "s", "date": "2026-03-03"}),
        ("cron", {"pipelineId": "p"}),
        ("breach", {"pipelineId": "p", "scheduleId": "s"}),
        ("breach", {"pipelineId": "p", "scheduleId": "s", "date": "never"}),
        ("retry", {"pipelineId": "p", "scheduleId": "s", "date": "2026-03-03"}),
    ],
)
def test_a_timer_that_cannot_be_fired_is_known_beforehand(
    kind: str, payload: dict[str, Any]
) -> None:
    with pytest.raises(ValueError):
        check_timer(kind, payload)


def test_a_rerun_of_such_a_date_is_refused_and_told(stage: Stage) -> None:
    spoiled(stage)
    request = RerunRequest(key=KEY, reason="manual", requested_at=stage.clock(), force=True)
    ports = stage.fresh()
    ports.reruns.request(request)
    assert judge_rerun(request, ports) == RerunRefused(Cause.UNREADABLE)
    assert ports.reruns.unjudged() == []
    (told,) = stage.told()[-1:]
    assert (told.type, told.detail["cause"]) == (EventType.RERUN_REJECTED, "unreadable")


def test_why_says_what_is_in_the_way_and_what_to_do(stage: Stage) -> None:
    spoiled(stage)
    (why,) = explain(KEY.pipeline_id, stage.fresh(), KEY.date)
    assert (why.status, why.window_end) == ("UNREADABLE", None)
    assert "can't be read" in why.headline
    assert why.blocked_by[0].startswith("its stored row can't be read: ")
    assert why.unblock == ("interlock doctor, which names the row and the remedy",)


# --- a finished date in its plain form ------------------------------------------------------------


def finished(stage: Stage, status: str, text: str = SENSOR) -> None:
    """A row that says how the date ended, and no more."""
    stage.adopt(text)
    assert stage.ports.runs.open(a_run(KEY, stage.clock()))
    assert stage.spoil(f"run {status}", 0)


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED_FINAL"])
def test_a_date_whose_row_says_that_it_is_done_is_done(stage: Stage, status: str) -> None:
    finished(stage, status, f"{SENSOR}\n{SLA}")
    stage.reading(count=5)
    for _ in range(4):
        assert stage.look(hours=1).findings == []
    assert stage.types() == []
    (why,) = explain(KEY.pipeline_id, stage.fresh(), KEY.date)
    assert why.status == status and "only a rerun opens it" in why.headline


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED_FINAL"])
def test_a_rerun_of_such_a_date_makes_a_full_run_of_it(stage: Stage, status: str) -> None:
    finished(stage, status)
    request = RerunRequest(key=KEY, reason="manual", requested_at=stage.clock())
    ports = stage.fresh()
    ports.reruns.request(request)
    for _ in range(2):  # a repeat of it starts the same attempt
        judge_rerun(request, stage.fresh())
    run = stage.fresh().runs.get(KEY)
    assert (run.status, run.attempt, run.is_bare) == (Status.PENDING, 1, False)
    assert run.opened_by is OpenedBy.RERUN
    assert stage.types().count("RERUN_ACCEPTED") == 1


# --- configs, readings ----------------------------------------------------------------------------


def test_a_pipeline_whose_config_cannot_be_read_waits_and_loses_nothing(stage: Stage) -> None:
    stage.adopt(CRON)
    stage.look()
    before = stage.fresh().pipelines.find(KEY.pipeline_id)
    assert before is not None
    assert stage.spoil("config", 0)
    report = stage.look(hours=3)
    assert report.failures == []
    assert stage.types() == ["ROW_UNREADABLE"]
    assert KEY.pipeline_id in stage.fresh().watch.load().lagging
    assert [type(each) for each in admit_reading(stage.reading(), stage.fresh())] == [Ignore]
    fixed = msgspec.structs.replace(before, version=before.version + 1)
    assert stage.fresh().pipelines.save(fixed)
    stage.look()
    assert "SCHEDULE_MISSED" in stage.types()  # it is looked at from where it stood


def test_no_rule_passes_on_a_reading_that_cannot_be_read(stage: Stage) -> None:
    stage.adopt(SENSOR)
    stage.reading(count=5)
    assert stage.spoil("reading", 0)
    report = stage.look(minutes=10)
    assert (report.failures, report.findings) == ([], [])
    (why,) = explain(KEY.pipeline_id, stage.fresh(), KEY.date)
    assert [rule.kind for rule in why.rules] == ["sensor_unreadable"]
    assert why.trigger is not None and "can't be read" in why.trigger.text
