"""Services: what their answers mean. Partial failures, throttles, names and instants they do not take."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from aws.homes import BUS, MACHINE, TARGETS, Services
from contracts.samples import NOW, ManualClock, a_timer, an_event, many
from interlock.adapters.aws.events import EventBus
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.timers import Scheduler, entry_name
from interlock.adapters.aws.values import fits_a_map, marshal, unmarshal
from interlock.adapters.aws.workflows import StepFunctions
from interlock.domain.event import EventType
from interlock.domain.timer import Timer, TimerKind
from interlock.errors import TransientError, UnavailableError


class Answering:
    """A client whose calls are answered in turn; what is an error is raised."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answers = list(answers)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            self.asked.append((operation, given))
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def refusal(code: str, status: int = 400, **more: Any) -> ClientError:
    answer = {"Error": {"Code": code, "Message": "no"}, **more}
    return ClientError({**answer, "ResponseMetadata": {"HTTPStatusCode": status}}, "Operation")


# --- events ---------------------------------------------------------------------------------------


def accepted(count: int) -> dict[str, Any]:
    return {"FailedEntryCount": 0, "Entries": [{"EventId": "x"}] * count}


def test_an_entry_that_was_refused_fails_the_publish() -> None:
    refused = {"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
    answer = {"FailedEntryCount": 1, "Entries": [{"EventId": "x"}, refused]}
    with pytest.raises(TransientError, match="refused 1 of 2: ThrottlingException"):
        EventBus(Answering(answer), BUS).publish([an_event(1), an_event(2)])


def test_no_request_carries_more_than_ten_entries_or_more_than_it_may_weigh() -> None:
    client = Answering(accepted(10))
    passed = EventType.VALIDATION_PASSED
    heavy = [an_event(n, kind=passed, results=["x" * 60_000]) for n in range(7)]
    EventBus(client, BUS).publish([*many(23, an_event), *heavy])
    sizes = [len(given["Entries"]) for _, given in client.asked]
    weights = [sum(len(e["Detail"]) for e in given["Entries"]) for _, given in client.asked]
    assert sum(sizes) == 30 and max(sizes) == 10 and max(weights) < 256 * 1024
    order = [e["Detail"] for _, given in client.asked for e in given["Entries"]]
    assert len(set(order)) == 30


def test_publishing_nothing_sends_no_request() -> None:
    client = Answering(accepted(0))
    EventBus(client, BUS).publish([])
    assert client.asked == []


# --- timers ---------------------------------------------------------------------------------------


def arm(services: Services, *timers: Timer, clock: ManualClock | None = None) -> list[Timer]:
    overdue: list[Timer] = []
    Scheduler(services.scheduler, TARGETS, clock or ManualClock(), overdue.append).arm(timers)
    return overdue


@pytest.mark.parametrize(
    ("ahead", "at"),
    [
        (timedelta(hours=1), "at(2026-03-03T11:00:01)"),  # never early: .123 s is the next second
        (timedelta(seconds=59), "at(2026-03-03T10:01:01)"),  # too soon: a minute from now
        (timedelta(milliseconds=1), "at(2026-03-03T10:01:01)"),
    ],
)
def test_an_entry_is_never_set_for_before_its_timer_is_due(
    services: Services, ahead: timedelta, at: str
) -> None:
    assert arm(services, Timer("breach.a.b.c", "breach", NOW + ahead, {})) == []
    (entry,) = services.entries()
    assert entry["ScheduleExpression"] == at
    assert entry["ActionAfterCompletion"] == "DELETE"
    assert entry["FlexibleTimeWindow"] == {"Mode": "OFF"}


def test_what_is_due_already_is_handed_over_and_not_scheduled(services: Services) -> None:
    past = Timer("breach.a.b.c", "breach", NOW, {})
    assert arm(services, past) == [past]
    assert services.entries() == []


def test_timers_that_open_runs_call_the_router_and_deadlines_the_monitor(
    services: Services,
) -> None:
    later = NOW + timedelta(hours=1)
    arm(services, *(Timer(kind, kind, later, {}) for kind in (*TimerKind, "breach", "rel-warning")))
    called = {entry["Name"]: entry["Target"]["Arn"] for entry in services.entries()}
    assert called == {
        "cron": TARGETS.stream_router_arn,
        "retry": TARGETS.stream_router_arn,
        "post-run": TARGETS.stream_router_arn,
        "breach": TARGETS.sla_monitor_arn,
        "rel-warning": TARGETS.sla_monitor_arn,
    }


def test_names_fit_and_no_two_timers_share_one() -> None:
    names = ["breach.a.b.2026-03-03T10:15", "breach.a.b.2026-03-03T10-15", "x" * 65, "x" * 66]
    entries = [entry_name(name) for name in names]
    assert len(set(entries)) == len(names)
    assert all(len(entry) <= 64 for entry in entries)
    assert entry_name("breach.a.b.2026-03-03") == "breach.a.b.2026-03-03"


def test_an_entry_that_fires_while_it_is_compared_is_created_again() -> None:
    conflict, gone = refusal("ConflictException"), refusal("ResourceNotFoundException")
    client = Answering(conflict, gone, {})
    Scheduler(client, TARGETS, ManualClock(), lambda timer: None).arm([a_timer()])
    assert [operation for operation, _ in client.asked] == [
        "create_schedule",
        "get_schedule",
        "create_schedule",
    ]


# --- executions -----------------------------------------------------------------------------------


def test_an_unreachable_engine_declares_no_attempt_dead() -> None:
    with pytest.raises(UnavailableError):
        StepFunctions(Answering(refusal("ThrottlingException")), MACHINE).describe("name")


def test_a_start_that_was_throttled_is_to_be_tried_again() -> None:
    with pytest.raises(TransientError):
        StepFunctions(Answering(refusal("ThrottlingException")), MACHINE).start("name", {})


# --- tables ---------------------------------------------------------------------------------------


def row(number: int) -> dict[str, Any]:
    return {"PK": {"S": "p"}, "SK": {"S": str(number)}}


def test_keys_that_were_not_read_are_asked_for_again() -> None:
    left = {"t": {"Keys": [row(2)], "ConsistentRead": True}}
    client = Answering(
        {"Responses": {"t": [row(1)]}, "UnprocessedKeys": left},
        {"Responses": {"t": [row(2)]}, "UnprocessedKeys": {}},
    )
    found = Table(client, "t").get_many([("p", "1"), ("p", "2")])
    assert set(found) == {("p", "1"), ("p", "2")}
    assert client.asked[1][1] == {"RequestItems": left}


def test_keys_that_are_never_read_are_an_error() -> None:
    left = {"t": {"Keys": [row(2)]}}
    client = Answering({"Responses": {"t": []}, "UnprocessedKeys": left})
    with pytest.raises(TransientError, match="not read"):
        Table(client, "t").get_many([("p", "1"), ("p", "2")])


def test_a_query_follows_its_pages() -> None:
    client = Answering({"Items": [row(1)], "LastEvaluatedKey": row(1)}, {"Items": [row(2)]})
    assert [item["SK"] for item in Table(client, "t").query("p")] == ["1", "2"]
    assert client.asked[1][1]["ExclusiveStartKey"] == row(1)


def test_a_transaction_that_meets_another_is_repeated_and_then_an_error() -> None:
    met = [{"Code": "TransactionConflict"}]
    conflict = refusal("TransactionCanceledException", CancellationReasons=met)
    client = Answering(conflict, {})
    table = Table(client, "t")
    assert table.transact([table.putting({"PK": "p", "SK": "1"})])[0].won
    with pytest.raises(TransientError):
        Table(Answering(conflict), "t").transact([table.putting({"PK": "p", "SK": "1"})])


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("ProvisionedThroughputExceededException", 400, TransientError),
        ("InternalServerError", 500, TransientError),
        ("Unheard", 503, TransientError),
        ("AccessDeniedException", 400, UnavailableError),
        ("ResourceNotFoundException", 400, UnavailableError),
    ],
)
def test_a_refusal_is_transient_or_needs_a_fix(
    code: str, status: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match=code):
        Table(Answering(refusal(code, status)), "t").get(("p", "1"))


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({"a": 1, "b": Decimal("0.1"), "c": [None, True, {"d": ""}]}, True),
        ({"a": Decimal("1." + "1" * 37)}, True),
        ({"a": Decimal("1." + "1" * 38)}, False),  # 39 digits
        ({"a": 10**125}, True),
        ({"a": 10**126}, False),
        ({"a": Decimal("1E-130")}, True),
        ({"a": Decimal("1E-131")}, False),
        ({"a": Decimal("NaN")}, False),
        ({"a": Decimal(0)}, True),
        ({"": 1}, False),
        ({"a": {"": 1}}, False),
    ],
)
def test_fields_fit_a_map_exactly_or_not_at_all(fields: dict[str, Any], fits: bool) -> None:
    assert fits_a_map(fields) is fits
    if fits:
        assert unmarshal(marshal(fields)) == fields
    else:
        with pytest.raises(ValueError):
            marshal(fields)


def test_fields_nested_deeper_than_a_row_takes_do_not_fit() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"a": deep}
    assert not fits_a_map(deep)
