"""Tables with hostile rows of every kind: every function, every command and every page goes on."""

import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aws.alert_board import Board, Queue, messages
from aws.functions import function_home
from aws.homes import NAMES, Services, quick_services
from aws.recorded import payload
from aws.viewer import Viewer
from cli.aws_place import AwsPlace, installed
from contracts.hostile import KINDS, spoiler_of_tables
from contracts.samples import (
    KEY,
    NOW,
    ManualClock,
    a_backfill,
    a_delivery,
    a_grant,
    a_handling,
    a_key,
    a_reading,
    a_record,
    a_request,
    a_run,
    a_thread,
    an_event,
    wanted,
)
from declared import declared
from interlock.adapters.aws.store import Store
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.domain import canonical
from interlock.domain.baseline import Baseline
from interlock.domain.event import EventType
from interlock.domain.run import Evidence, Status
from interlock.domain.sla import SlaWatch
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnreadableError
from interlock.lambdas import (
    alert_dispatcher,
    event_sink,
    orchestrator,
    sla_monitor,
    stream_router,
    watchdog,
)
from interlock.ports.jobs import Jobs
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.report_unreadable import report_unreadable
from interlock.usecases.start_run import start_run
from interlock.wiring.aws_alerts import AwsAlerting
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function
from interlock.wiring.clock import utc_now
from web.pages.visitor import Visitor

ORDERS = """
schedule: {trigger: {key: orders-landed, check: exists}}
sla: {deadline: '11:00', expectedDuration: 30m}
postRun: {rules: [{key: audit, check: exists}]}
"""
GOLD = "pipeline: {id: gold-orders}\nschedule: {cron: '30 * * * *', evaluation: {window: 10m}}"
#: The kinds of rows that the tables have; the rest are of a file.
OF_TABLES = tuple(
    kind
    for kind in KINDS
    if kind
    not in ("timer", "change", "parked", "given", "snapshot", "definition", "token", "audit")
)
PAGES = ("/", "/timeline", "/timeline?span=14d", "/pipelines", "/sla", "/dependencies", "/events",
         "/events?pipeline=silver-orders", "/pipelines/gold-orders",
         "/runs/silver-orders/stream/2026-03-03")  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


@dataclass
class Installation:
    """Two pipelines in force, and of the one a row of every kind."""

    services: Services
    clock: ManualClock
    jobs: Jobs

    def home(self, function: Function = Function.WATCHDOG, **also: Any) -> AwsBackend:
        return function_home(function, self.services, self.clock, self.jobs, **also)

    def spoil(self, kind: str, number: int) -> bool:
        return spoiler_of_tables(self.services.tables, asdict(NAMES), lambda: None)(kind, number)

    def told(self) -> list[Any]:
        return list(reversed(self.home(Function.EVENT_SINK).store.event_log.newest(limit=1000)))


def fill(here: Installation, now: Any = NOW) -> None:
    store = Store(here.services.tables, NAMES, here.clock)
    failed = a_run(KEY, now).to(Status.FAILED, now)
    again = failed.reopened(now, failed.opened_by, "", timedelta(hours=4))
    assert store.runs.open(a_run(KEY, now))
    assert store.runs.save(failed, baseline=Baseline(0, {"audit": Evidence("audit", "v", {})}))
    assert store.runs.save(again, [an_event(7)], rerun=a_grant())
    assert store.claims.save_watch(SlaWatch(key=a_key(date="2020-01-01"), breach_at=now))
    store.sensors.put(a_reading("orders"))
    store.reruns.request(a_request(at=now, key=a_key(date="2020-01-02")))
    store.job_log.append(a_record("fail", at=now))
    here.home().ports.events.publish([an_event(8)])
    assert store.deliveries.save(a_delivery(an_event(8)))
    assert store.threads.save(a_thread(channel="console"))
    assert store.handlings.save(a_handling())
    assert store.backfills.save(a_backfill())
    assert store.watch.save(WatchdogState(version=1))


@pytest.fixture
def make() -> Any:
    def made() -> Installation:
        clock = ManualClock()
        jobs: Jobs = JobsByPipeline(ScriptedJobs({}, clock))
        here = Installation(quick_services(clock), clock, jobs)
        home = here.home()
        clock.advance(hours=-12)
        for text in (ORDERS, GOLD):
            pipeline = declared(text)
            home.store.pipelines.want(wanted(pipeline))
            adopt_config(pipeline.id, home.ports)
        clock.advance(hours=12)
        fill(here)
        return here

    return made


def evaluate(here: Installation) -> dict[str, Any]:
    """A step of the run's execution, as the state machine calls it."""
    home, started = here.home(Function.ORCHESTRATOR), here.services.engine
    start_run(a_run(attempt=1, opened_at=NOW), declared(ORDERS), here.home().ports)
    given = canonical.decode(started.given.popitem()[1])
    return orchestrator.handle({**given, "attempt": 1, "mode": "evaluate"}, None, home)


def every_function(here: Installation, kind: str) -> None:
    """Each is called as the platform calls it."""
    answer = stream_router.handle(
        payload("stream_sensor_map"), None, here.home(Function.STREAM_ROUTER)
    )
    assert answer == {"batchItemFailures": []}
    for name in ("stream_rerun_request", "stream_joblog"):
        router = here.home(Function.STREAM_ROUTER)
        assert stream_router.handle(payload(name), None, router) == {"batchItemFailures": []}
    try:
        assert "passed" in evaluate(here)
    except UnreadableError:
        assert kind == "run"
    for moment in ("warning", "breach"):
        fired = {
            "mode": "fire-alert",
            "kind": moment,
            "pipelineId": KEY.pipeline_id,
            "scheduleId": KEY.schedule_id,
            "date": KEY.date,
        }
        sla_monitor.handle(fired, None, here.home(Function.SLA_MONITOR))
    event_sink.handle(payload("eventbridge_event"), None, here.home(Function.EVENT_SINK))
    queue, board = Queue(), Board()
    dispatcher = here.home(
        Function.ALERT_DISPATCHER, wrap=lambda name, client: queue if name == "sqs" else client
    )
    answer = alert_dispatcher.handle(messages(1), AwsAlerting(dispatcher, board))
    assert (answer, len(board.notes)) == ({"batchItemFailures": []}, 1)


@pytest.mark.parametrize("kind", OF_TABLES)
def test_one_kind_of_hostile_row_stops_no_function(make: Any, kind: str) -> None:
    for number in range(30):
        here = make()
        if not here.spoil(kind, number):
            assert number > 0
            return
        here.clock.advance(hours=2)
        for _ in range(2):
            watchdog.handle({}, None, here.home())  # it raises when a check has failed
            here.clock.advance(minutes=5)
        every_function(here, kind)
        told = here.told()
        missed = {e.pipeline_id for e in told if e.type is EventType.SCHEDULE_MISSED}
        assert missed == {"gold-orders"} or kind in ("config", "event")
        reported = [e.event_id for e in told if e.type is EventType.ROW_UNREADABLE]
        assert len(reported) == len(set(reported))
        if kind == "run":
            late = {e.type for e in told if e.date == KEY.date}
            assert not late & {EventType.SLA_WARNING, EventType.SLA_BREACH, EventType.SFN_TIMEOUT}
            assert len(reported) == 1


@pytest.mark.parametrize("number", range(4))
def test_with_every_row_hostile_every_function_goes_on(make: Any, number: int) -> None:
    here = make()
    for kind in OF_TABLES:
        here.spoil(kind, number)
    watchdog.handle({}, None, here.home())
    every_function(here, "run")


@pytest.mark.parametrize("number", range(4))
def test_with_every_row_hostile_every_page_stands(make: Any, tmp_path: Path, number: int) -> None:
    here = make()
    for kind in OF_TABLES:
        if kind != "config":
            here.spoil(kind, number)
    gallery: Any = SimpleNamespace(services=here.services, clock=here.clock)
    viewer = Viewer(gallery, tmp_path)
    try:
        visitor = Visitor(viewer)
        for path in PAGES:
            visitor.see(path)
    finally:
        viewer.close()


# --- records of the streams -----------------------------------------------------------------------


def test_a_record_that_cannot_be_read_blocks_no_good_one(make: Any) -> None:
    here = make()
    (good, *_) = payload("stream_sensor_map")["Records"]
    bad = payload("stream_sensor_map")["Records"][0]
    bad["dynamodb"]["NewImage"] = {**bad["dynamodb"]["Keys"], "fieldsText": {"S": "{"}}
    strange: list[Any] = [{"eventName": "INSERT", "dynamodb": {}}, {}]
    good["dynamodb"]["NewImage"]["data"]["M"]["date"] = {"S": "2026-03-04"}
    home = here.home(Function.STREAM_ROUTER)
    answer = stream_router.handle({"Records": [bad, *strange, good]}, None, home)
    assert answer == {"batchItemFailures": []}
    assert home.store.runs.get(a_key(date="2026-03-04")).status is Status.PENDING
    told = [event for event in here.told() if event.type is EventType.ROW_UNREADABLE]
    assert {event.detail["kind"] for event in told} == {"reading", "record"}
    again = here.home(Function.STREAM_ROUTER)
    stream_router.handle({"Records": [bad, *strange]}, None, again)
    assert len([e for e in here.told() if e.type is EventType.ROW_UNREADABLE]) == len(told)


def test_readings_of_a_date_whose_row_cannot_be_read_are_no_dead_letters(make: Any) -> None:
    here = make()
    assert here.spoil("run", 1)
    home = here.home(Function.STREAM_ROUTER)
    answer = stream_router.handle(payload("stream_sensor_map"), None, home)
    assert answer == {"batchItemFailures": []}
    assert here.services.engine.given == {}


# --- alerts ---------------------------------------------------------------------------------------


def test_the_dispatcher_reports_what_it_could_not_read_once(make: Any) -> None:
    """It has no right to claim anything; but what was sent of an event is known by the event."""
    here = make()
    assert here.spoil("delivery", 1)
    for _ in range(3):
        home = here.home(Function.ALERT_DISPATCHER)
        home.store.deliveries.of_events([an_event(8)])
        AwsAlerting(home, Board()).report_unreadable()
        assert home.store.unreadable.met() == []
        (event,) = (e for e in here.told() if e.type is EventType.ROW_UNREADABLE)
        home.store.deliveries.save(a_delivery(event))
        here.clock.advance(hours=1)


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsPlace]:
    with installed(tmp_path, monkeypatch) as place:
        yield place


def spoiled(place: AwsPlace, *attributes: tuple[str, Any]) -> str:
    """A row of today's run that says no more than this; its date."""
    item = {
        "PK": {"S": "PIPELINE#silver-orders"},
        "SK": {"S": f"TRIGGER#stream#{place.today}"},
        **dict(attributes),
    }
    place.services.tables.put_item(TableName=NAMES.control, Item=item)
    return place.today


LOOKING = (
    ("status",), ("runs",), ("runs", "silver-orders"), ("why", "silver-orders"),
    ("events",), ("events", "--pipeline", "silver-orders"), ("sensor", "list", "silver-orders"),
)  # fmt: skip


def test_the_commands_go_on_with_rows_that_hold_nothing_but_their_keys(place: AwsPlace) -> None:
    date = spoiled(place, ("status", {"S": "RUNNING"}))
    for table, sort_key in (
        (NAMES.events, "1772532000000#JOB_FAILED"),
        (NAMES.events, f"THREAD#stream#{date}"),
        (NAMES.rerun, f"RERUN#stream#{date}#1"),
        (NAMES.joblog, f"JOB#stream#{date}#1772532000000"),
    ):
        item = {"PK": {"S": "PIPELINE#silver-orders"}, "SK": {"S": sort_key}}
        place.services.tables.put_item(TableName=table, Item=item)
    for arguments in (*LOOKING, ("why", "silver-orders", date), ("run", "silver-orders", date)):
        for also in ((), ("--json",)):
            result = place.run(*arguments, *also)
            allowed = (0, 1) if arguments[0] == "status" else (0,)
            assert result.exit_code in allowed, (arguments, result.output, result.exception)
    assert "unreadable" in place.shown("runs", "silver-orders")
    assert "can't be read" in place.shown("why", "silver-orders", date)
    assert "JOB_FAILED" in place.shown("events", "--pipeline", "silver-orders")


def test_the_doctor_names_the_row_and_what_to_do_about_it(place: AwsPlace) -> None:
    date = spoiled(place, ("status", {"S": "RUNNING"}))
    (row,) = (each for each in place.json_of_any("doctor") if each["check"] == "rows")
    assert row["level"] == "wrong"
    assert f"PIPELINE#silver-orders TRIGGER#stream#{date}" in row["what"]
    assert "make sure that no job of the date is running" in row["remedy"]
    assert f"aws dynamodb delete-item --table-name {NAMES.control} --key " in row["remedy"]


def test_the_doctor_follows_up_what_was_reported(place: AwsPlace) -> None:
    """A row that no look at the last days meets."""
    put = place.services.tables.put_item
    bad = {
        "PK": {"S": "PIPELINE#silver-orders"},
        "SK": {"S": "SENSOR#orders"},
        "fieldsText": {"S": "{"},
    }
    put(TableName=NAMES.control, Item=bad)
    router = function_home(Function.STREAM_ROUTER, place.services, utc_now)
    router.store.sensors.find("silver-orders", ["orders"])
    assert report_unreadable(router.ports) == 1
    (row,) = (each for each in place.json_of_any("doctor") if each["check"] == "rows")
    assert "SENSOR#orders" in row["what"] and "send the reading again" in row["remedy"]
    put(TableName=NAMES.control, Item={**bad, "fieldsText": {"S": "{}"}})
    (row,) = (each for each in place.json_of_any("doctor") if each["check"] == "rows")
    assert (row["level"], row["what"]) == ("fine", "every stored row can be read")


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED_FINAL"])
def test_a_plain_finished_date_is_run_again_by_hand(place: AwsPlace, status: str) -> None:
    date = spoiled(place, ("status", {"S": status}), ("by", {"S": "an operator"}))
    word = "done" if status == "COMPLETED" else "given up"
    assert word in place.shown("runs", "silver-orders")
    with place.functions_at_work():
        place.shown("rerun", "silver-orders", date, "--wait", "20")
    place.home.begin()
    run = place.home.store.runs.get(a_key(date=date))
    assert (run.attempt, run.is_bare) == (1, False)
