"""Homes: the AWS adapters over stand-ins of the services, for the suites of contracts."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import botocore.session  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import EndpointConnectionError  # type: ignore[import-untyped]
from moto import mock_aws

from aws.quick_services import QuickBus, QuickEngine, QuickScheduler
from aws.quick_tables import INDEXES, WATCH_PROJECTION, QuickTables
from contracts.home import Home
from contracts.hostile import spoiler_of_tables
from interlock.adapters.aws.events import BusAndLog, EventBus
from interlock.adapters.aws.row_cache import Notes
from interlock.adapters.aws.store import Store, TableNames
from interlock.adapters.aws.stream import change_of
from interlock.adapters.aws.timers import Scheduler, TimerTargets
from interlock.adapters.aws.workflows import StepFunctions
from interlock.domain import canonical
from interlock.domain.change import Change
from interlock.domain.timer import Timer
from interlock.domain.timestamp import instant
from interlock.ports.engine import Clock
from interlock.ports.reads import History
from interlock.ports.stores import Events, Runs

REGION = "eu-central-1"
ACCOUNT = "123456789012"
NAMES = TableNames(
    "t-interlock-control", "t-interlock-joblog", "t-interlock-rerun", "t-interlock-events"
)
BUS = "t-interlock-events"
GROUP = "t-interlock-timers"
MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:t-interlock-pipeline"
TARGETS = TimerTargets(
    group=GROUP,
    role_arn=f"arn:aws:iam::{ACCOUNT}:role/t-interlock-scheduler",
    dead_letter_arn=f"arn:aws:sqs:{REGION}:{ACCOUNT}:t-interlock-undelivered",
    stream_router_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:t-interlock-stream-router",
    sla_monitor_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:t-interlock-sla-monitor",
)


@dataclass(frozen=True)
class Services:
    """Clients, and what a test must see or do behind them."""

    tables: Any
    bus: Any
    scheduler: Any
    engine: Any
    records: Callable[[str], list[dict[str, Any]]]
    entries: Callable[[], list[dict[str, Any]]]
    end: Callable[[str], None]


@contextmanager
def quick(folder: Path, clock: Clock) -> Iterator[Home]:
    yield _home(quick_services(clock), clock)


@contextmanager
def on_moto(folder: Path, clock: Clock) -> Iterator[Home]:
    with moto_services(clock) as services:
        yield _home(services, clock)


def quick_history(clock: Clock) -> tuple[Runs, Events, History]:
    services = quick_services(clock)
    store = Store(services.tables, NAMES, clock)
    events = BusAndLog(EventBus(services.bus, BUS), store.event_log)
    return store.runs, events, store.history


def quick_services(clock: Clock) -> Services:
    tables = QuickTables(clock)
    scheduler, engine = QuickScheduler(), QuickEngine()

    def end(name: str) -> None:
        engine.status[name] = "SUCCEEDED"

    return Services(
        tables=tables,
        bus=QuickBus(_sink(tables, clock)),
        scheduler=scheduler,
        engine=engine,
        records=tables.records,
        entries=lambda: list(scheduler.entries.values()),
        end=end,
    )


@contextmanager
def moto_services(clock: Clock) -> Iterator[Services]:
    with mock_aws():
        tables = _OneAtATime(client("dynamodb"))
        for name in (NAMES.control, NAMES.joblog, NAMES.rerun, NAMES.events):
            tables.create_table(**table_form(name))
        scheduler, engine, bus = client("scheduler"), client("stepfunctions"), client("events")
        scheduler.create_schedule_group(Name=GROUP)
        bus.create_event_bus(Name=BUS)
        engine.create_state_machine(
            name=MACHINE.rsplit(":", 1)[1], definition="{}", roleArn=TARGETS.role_arn
        )
        yield Services(
            tables=tables,
            bus=_DeliveringBus(bus, _sink(tables, clock)),
            scheduler=scheduler,
            engine=engine,
            records=lambda name: _moto_records(tables, name),
            entries=lambda: _moto_entries(scheduler),
            end=lambda name: engine.stop_execution(
                executionArn=f"{MACHINE.replace(':stateMachine:', ':execution:')}:{name}"
            ),
        )


@cache
def client(service: str) -> Any:
    """With made-up credentials: only moto answers. Created once, because it takes long."""
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "testing")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "testing")
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=50)
    return botocore.session.get_session().create_client(service, region_name=REGION, config=config)


def table_form(name: str) -> dict[str, Any]:
    """As the deployed ones are, as far as it matters here."""
    index = "GSI1" if name == NAMES.events else "watch"
    hash_key, range_key, _ = INDEXES[index]
    kinds = {"PK": "S", "SK": "S"}
    form: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _schema("PK", "SK"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    if name in (NAMES.control, NAMES.events):
        kinds |= {hash_key: "S", range_key: "N" if range_key == "timestamp" else "S"}
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(WATCH_PROJECTION)}
        form["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index,
                "KeySchema": _schema(hash_key, range_key),
                "Projection": projection if index == "watch" else {"ProjectionType": "ALL"},
            }
        ]
    if name in (NAMES.control, NAMES.joblog):
        form["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    form["AttributeDefinitions"] = [
        {"AttributeName": each, "AttributeType": kind} for each, kind in kinds.items()
    ]
    return form


def _schema(hash_key: str, range_key: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": hash_key, "KeyType": "HASH"},
        {"AttributeName": range_key, "KeyType": "RANGE"},
    ]


def _sink(tables: Any, clock: Clock) -> Callable[[dict[str, Any]], None]:
    log = Store(tables, NAMES, clock).event_log

    def deliver(entry: dict[str, Any]) -> None:
        assert entry["EventBusName"] == BUS
        log.put(
            {
                "source": entry["Source"],
                "detail-type": entry["DetailType"],
                "detail": canonical.decode(entry["Detail"]),
            }
        )

    return deliver


class _DeliveringBus:
    """moto takes the entries; it has no rule that calls a function, so we do."""

    def __init__(self, client: Any, deliver: Callable[[dict[str, Any]], None]) -> None:
        self._client, self._deliver = client, deliver

    def put_events(self, Entries: list[dict[str, Any]]) -> Any:  # noqa: N803
        answer = self._client.put_events(Entries=Entries)
        for entry in Entries:
            self._deliver(entry)
        return answer


class _OneAtATime:
    """moto checks a condition and then writes; no other thread may write in between."""

    def __init__(self, client: Any) -> None:
        self._client, self._lock = client, RLock()

    def __getattr__(self, name: str) -> Any:
        def call(**given: Any) -> Any:
            with self._lock:
                return getattr(self._client, name)(**given)

        return call


def _moto_records(tables: Any, name: str) -> list[dict[str, Any]]:
    streams = client("dynamodbstreams")
    arn = tables.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    (shard,) = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    place = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )
    return list(streams.get_records(ShardIterator=place["ShardIterator"])["Records"])


def _moto_entries(scheduler: Any) -> list[dict[str, Any]]:
    listed = scheduler.list_schedules(GroupName=GROUP)["Schedules"]
    return [scheduler.get_schedule(GroupName=GROUP, Name=each["Name"]) for each in listed]


def _home(services: Services, clock: Clock, notes: Notes | None = None) -> Home:
    """`notes` are shared by those that stand for one process."""
    notes = notes or Notes()
    store = Store(services.tables, NAMES, clock, notes=notes)
    overdue: dict[str, datetime] = {}
    timers = _Timers(services.scheduler, clock, overdue)
    return Home(
        pipelines=store.pipelines,
        sensors=store.sensors,
        runs=store.runs,
        job_log=store.job_log,
        reruns=store.reruns,
        backfills=store.backfills,
        events=BusAndLog(EventBus(services.bus, BUS), store.event_log),
        outbox=store.outbox,
        claims=store.claims,
        timers=timers,
        workflows=StepFunctions(services.engine, MACHINE),
        watch=store.watch,
        deliveries=store.deliveries,
        threads=store.threads,
        handlings=store.handlings,
        paces=store.paces,
        switches=store.switches,
        unreadable=store.unreadable,
        changes=lambda: _changes(services),
        armed=lambda: overdue | {e["Description"]: _due_at(e) for e in services.entries()},
        end=services.end,
        spoil=spoiler_of_tables(services.tables, asdict(NAMES), notes.forget),
        failing=lambda call: _home(failing(services, call), clock, notes),
    )


class _Timers(Scheduler):
    """Remembers what is due already: in a function it is done after the work in hand."""

    def __init__(self, client: Any, clock: Clock, overdue: dict[str, datetime]) -> None:
        super().__init__(client, TARGETS, clock, self._note)
        self._overdue = overdue

    def _note(self, timer: Timer) -> None:
        super().cancel([timer.name])
        self._overdue[timer.name] = timer.due_at

    def arm(self, timers: Any) -> None:
        for timer in timers:
            self._overdue.pop(timer.name, None)
        super().arm(timers)

    def cancel(self, names: Any) -> None:
        for name in names:
            self._overdue.pop(name, None)
        super().cancel(names)


def _changes(services: Services) -> list[Change]:
    records = [
        record for name in (NAMES.control, NAMES.joblog) for record in services.records(name)
    ]
    return [
        change for record in records if passes_the_filters(record) and (change := change_of(record))
    ]


def passes_the_filters(record: dict[str, Any]) -> bool:
    """The filters of the stream mappings."""
    sort_key: str = record["dynamodb"]["Keys"]["SK"]["S"]
    return sort_key == "CONFIG" or sort_key.startswith(("SENSOR#", "RERUN_REQUEST#", "JOB#"))


def _due_at(entry: dict[str, Any]) -> datetime:
    found = instant(canonical.decode(entry["Target"]["Input"])["dueAt"])
    assert found is not None
    return found


def failing(services: Services, call: int) -> Services:
    """The same services; the n-th call to any of them does not arrive, or its answer does not."""
    left = [call]
    clients: dict[str, Any] = {
        name: _Failing(getattr(services, name), left)
        for name in ("tables", "bus", "scheduler", "engine")
    }
    return replace(services, **clients)


class _Failing:
    def __init__(self, sound: Any, left: list[int]) -> None:
        self._sound, self._left = sound, left

    def __getattr__(self, name: str) -> Any:
        def call(**given: Any) -> Any:
            self._break_if_over()
            answer = getattr(self._sound, name)(**given)
            self._break_if_over()
            return answer

        return call

    def _break_if_over(self) -> None:
        self._left[0] -= 1
        if self._left[0] == 0:
            raise EndpointConnectionError(endpoint_url="https://nowhere.invalid")
