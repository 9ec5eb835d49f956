"""Lost requests: a request for a rerun that an operator wrote by hand, and whose stream record never came."""

from contextlib import suppress
from typing import Any

import pytest

from aws.functions import function_home
from aws.homes import NAMES, Services, failing
from contracts.samples import KEY, NOW, ManualClock, a_config, a_pipeline, a_run, wanted
from interlock.domain.event import EventType
from interlock.domain.run import Run, Status
from interlock.errors import InterlockError
from interlock.lambdas import stream_router, watchdog
from interlock.ports.jobs import Jobs
from interlock.usecases.pause import pause, resume
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

ASKED_AT = "2026-03-03T10:05:00Z"
WRITTEN = {
    "PK": {"S": "PIPELINE#silver-orders"},
    "SK": {"S": "RERUN_REQUEST#stream#2026-03-03"},
    "reason": {"S": "manual"},
    "requestedAt": {"S": ASKED_AT},
    "force": {"BOOL": True},
}


@pytest.fixture
def dog(services: Services, clock: ManualClock, jobs: Jobs) -> AwsBackend:
    """A watchdog, and a date whose run has failed for good."""
    home = function_home(Function.WATCHDOG, services, clock, jobs)
    pipeline = a_pipeline()
    home.store.pipelines.want(wanted(pipeline))
    home.store.pipelines.save(a_config(pipeline, config_hash=wanted(pipeline).config_hash))
    assert home.store.runs.open(a_run())
    ended = a_run().to(Status.FAILED, NOW)
    assert home.store.runs.save(ended) and home.store.runs.save(ended.to(Status.FAILED_FINAL, NOW))
    return home


def write(services: Services, **changes: Any) -> None:
    """As an operator does in the console; its record gets lost."""
    item = {name: value for name, value in (WRITTEN | changes).items() if value is not None}
    services.tables.put_item(TableName=NAMES.control, Item=item)


def look(dog: AwsBackend, clock: ManualClock, minutes: float = 15) -> None:
    clock.advance(minutes=minutes)
    watchdog.handle({}, None, dog)


def run_of(home: AwsBackend) -> Run:
    return home.store.runs.get(KEY)


def told(home: AwsBackend, services: Services, kind: EventType) -> int:
    sink = function_home(Function.EVENT_SINK, services, home.ports.clock)
    return sum(event.type is kind for event in sink.store.event_log.newest())


def test_it_is_judged_by_the_watchdog_once(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    write(services)
    for _ in range(3):
        look(dog, clock)
    assert (run_of(dog).attempt, run_of(dog).opened_for) == (1, "manual")
    assert told(dog, services, EventType.RERUN_ACCEPTED) == 1


def test_its_record_that_comes_after_all_changes_nothing(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    write(services)
    late = services.records(NAMES.control)[-1]
    look(dog, clock)
    router = function_home(Function.STREAM_ROUTER, services, clock)
    assert stream_router.handle({"Records": [late]}, None, router) == {"batchItemFailures": []}
    assert run_of(dog).attempt == 1
    assert told(dog, services, EventType.RERUN_ACCEPTED) == 1
    assert told(dog, services, EventType.RERUN_REJECTED) == 0


def test_written_again_at_another_time_it_is_another_request(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    write(services)
    look(dog, clock)
    write(services, requestedAt={"S": "2026-03-03T10:16:00Z"})
    look(dog, clock)
    assert told(dog, services, EventType.RERUN_REJECTED) == 1  # the first one is under way


@pytest.mark.parametrize("call", range(1, 60, 3))
def test_a_pass_that_died_anywhere_is_finished_by_the_next(
    call: int, dog: AwsBackend, services: Services, clock: ManualClock, jobs: Jobs
) -> None:
    write(services)
    clock.advance(minutes=15)
    dying = function_home(Function.WATCHDOG, failing(services, call), clock, jobs)
    with suppress(InterlockError):
        watchdog.handle({}, None, dying)
    look(dog, clock)
    look(dog, clock)
    assert run_of(dog).attempt == 1
    assert told(dog, services, EventType.RERUN_ACCEPTED) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"requestedAt": None},  # whether it was already judged is unknown
        {"requestedAt": {"S": "soon"}},
        {"SK": {"S": "RERUN_REQUEST#stream"}},  # names no date
        {"SK": {"S": "RERUN_REQUEST#stream#2026-03-03#dry#more"}},
        {"removedAt": {"S": ASKED_AT}},
        {"ttl": {"N": "1"}},
    ],
)
def test_an_unreadable_or_removed_request_opens_nothing_and_hides_no_other(
    changes: dict[str, Any], dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    write(services, **changes)
    look(dog, clock)
    assert run_of(dog).attempt == 0
    write(services)
    look(dog, clock)
    assert run_of(dog).attempt == 1


def test_while_the_pipeline_is_paused_it_waits_for_the_resume(
    dog: AwsBackend, services: Services, clock: ManualClock
) -> None:
    pause(KEY.pipeline_id, dog.ports)
    write(services)
    look(dog, clock)
    assert run_of(dog).attempt == 0
    resume(KEY.pipeline_id, dog.ports)
    assert run_of(dog).attempt == 1


def test_a_row_that_names_no_date_does_not_stop_the_stream(
    services: Services, clock: ManualClock
) -> None:
    write(services, SK={"S": "RERUN_REQUEST#nonsense"})
    router = function_home(Function.STREAM_ROUTER, services, clock)
    records = services.records(NAMES.control)
    assert stream_router.handle({"Records": records}, None, router) == {"batchItemFailures": []}


def test_what_an_operator_may_write_is_what_is_read(dog: AwsBackend, services: Services) -> None:
    write(services, requestedBy={"S": "ada"})
    (request,) = dog.store.reruns.unlisted([KEY.pipeline_id])
    assert (request.key, request.requested_by, request.force) == (KEY, "ada", True)
