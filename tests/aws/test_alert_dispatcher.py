"""Alert dispatcher: every message is sent once, returns when it is due, or ends in the dead letters."""

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from alert_samples import told
from aws.alert_board import DELAYS, Board, Queue, messages, put_routes
from aws.functions import ENVIRONMENT, function_home
from aws.homes import Services
from contracts.samples import ManualClock
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Posted, SendFailed
from interlock.domain.alerting.note import AlertNote, SummaryNote
from interlock.domain.alerting.threads import alert_key
from interlock.domain.event import EventType, envelope
from interlock.lambdas.alert_dispatcher import handle
from interlock.usecases.acknowledge_alert import acknowledge_alert
from interlock.usecases.change_handling import AlertOrder
from interlock.usecases.snooze_alert import snooze_alert, unsnooze_alert
from interlock.wiring.aws_alerts import AwsAlerting
from interlock.wiring.aws_ports import AwsBackend, open_aws_ports
from interlock.wiring.aws_settings import Function, read_aws_settings


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def alerting(services: Services, clock: ManualClock, queue: Queue, board: Board) -> AwsAlerting:
    clock.advance(minutes=16)  # after the events that were recorded
    home = function_home(
        Function.ALERT_DISPATCHER,
        services,
        clock,
        wrap=lambda service, client: queue if service == "sqs" else client,
    )
    return AwsAlerting(home, board)


def test_an_alert_is_sent_once_however_often_its_message_comes(
    alerting: AwsAlerting, board: Board, queue: Queue
) -> None:
    for _ in range(3):
        assert handle(messages(1, 3), alerting) == {"batchItemFailures": []}
    (note,) = board.notes
    assert isinstance(note, AlertNote)
    assert note.event.event_id == "silver-orders/stream/2026-03-03/VALIDATION_EXHAUSTED/0"
    assert queue.dead == [] and queue.later == []


def test_an_unreadable_message_goes_to_the_dead_letters_and_holds_up_no_other(
    alerting: AwsAlerting, board: Board, queue: Queue
) -> None:
    assert handle(messages(2, 1), alerting) == {"batchItemFailures": []}
    assert queue.dead == ["{not json"]
    assert len(board.notes) == 1


def test_an_alert_that_did_not_arrive_comes_back_when_it_is_due_and_is_given_up_in_the_end(
    alerting: AwsAlerting, board: Board, queue: Queue, clock: ManualClock, services: Services
) -> None:
    board.answer = SendFailed("HTTP 500")
    for delay in DELAYS:
        answer = handle(messages(1), alerting)
        assert answer == {"batchItemFailures": [{"itemIdentifier": "msg-1"}]}
        assert queue.later[-1] == ("handle-1", int(delay.total_seconds()))
        clock.advance(seconds=delay.total_seconds())
    assert handle(messages(1), alerting) == {"batchItemFailures": []}
    assert len(queue.dead) == 1
    log = function_home(Function.EVENT_SINK, services, clock).store.event_log
    assert [event.type for event in log.newest()] == ["ALERT_UNDELIVERED"]


def test_a_message_that_comes_before_it_is_due_waits_for_the_rest(
    alerting: AwsAlerting, board: Board, queue: Queue, clock: ManualClock
) -> None:
    board.answer = SendFailed("HTTP 500")
    handle(messages(1), alerting)
    clock.advance(seconds=2)
    board.answer = Posted("")
    assert handle(messages(1), alerting)["batchItemFailures"]
    assert queue.later[-1] == ("handle-1", 3)
    assert board.notes == []


def test_a_muted_alert_is_held_and_released_at_the_end_of_its_mute(
    alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock
) -> None:
    mute = {
        "match": {},
        "from": "2026-03-03T09:00:00Z",
        "until": "2026-03-03T12:00:00Z",
        "reason": "maintenance",
    }
    put_routes(services, {"sinks": {"log": {"type": "console"}}, "mutes": [mute]})
    assert handle(messages(1), alerting) == {"batchItemFailures": []}
    assert board.notes == []
    (entry,) = services.entries()
    assert entry["Target"]["Arn"] == ENVIRONMENT["ALERT_QUEUE_ARN"]
    assert entry["ScheduleExpression"] == "at(2026-03-03T12:00:00)"

    clock.now = clock.now.replace(hour=12, minute=0, second=30)
    ended = {"messageId": "end", "receiptHandle": "h", "body": entry["Target"]["Input"]}
    assert handle([ended], alerting) == {"batchItemFailures": []}
    summary, told = board.notes
    assert isinstance(summary, SummaryNote) and isinstance(told, AlertNote)
    assert handle([ended], alerting) == {"batchItemFailures": []}
    assert len(board.notes) == 2


def test_routes_that_can_not_be_read_leave_the_last_good_ones(
    alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock
) -> None:
    put_routes(services, {"sinks": {"log": {"type": "console"}}})
    alerting.refresh()
    good = alerting.alerts
    put_routes(services, {"sinks": {"log": {"type": "carrier pigeon"}}})
    clock.advance(minutes=2)
    assert handle(messages(1), alerting) == {"batchItemFailures": []}
    assert alerting.alerts == good
    assert len(board.notes) == 1


ESCALATING = {
    "sinks": {"log": {"type": "console"}, "late": {"type": "console"}},
    "routes": [
        {
            "match": {},
            "to": [{"sink": "log"}],
            "escalate": [{"after": "30m", "to": [{"sink": "late"}]}],
        }
    ],
}


def person(services: Services, clock: ManualClock) -> AwsBackend:
    """A backend as the command line opens it."""
    settings = read_aws_settings(Function.WATCHDOG, ENVIRONMENT)
    named = replace(settings, events_table=ENVIRONMENT["EVENTS_TABLE"])
    clients = {"dynamodb": services.tables, "events": services.bus}
    return open_aws_ports(named, clock=clock, make=clients.get)


def due_message(services: Services) -> dict[str, str]:
    (entry,) = services.entries()
    assert entry["Target"]["Arn"] == ENVIRONMENT["ALERT_QUEUE_ARN"]
    return {"messageId": "due", "receiptHandle": "h", "body": entry["Target"]["Input"]}


def test_an_escalation_has_a_timer_and_no_message_waits_for_it(
    alerting: AwsAlerting, board: Board, queue: Queue, services: Services, clock: ManualClock
) -> None:
    put_routes(services, ESCALATING)
    assert handle(messages(1), alerting) == {"batchItemFailures": []}
    assert len(board.notes) == 1 and queue.later == []
    due = due_message(services)
    clock.advance(minutes=30, seconds=1)
    for _ in range(2):
        assert handle([due], alerting) == {"batchItemFailures": []}
    first, escalated = board.notes
    assert isinstance(first, AlertNote) and isinstance(escalated, AlertNote)
    assert (first.note, escalated.note) == ("", "unacknowledged for 30m")
    assert escalated.event == first.event


def test_a_timer_that_fires_before_its_time_by_another_clock_comes_again(
    alerting: AwsAlerting, board: Board, queue: Queue, services: Services, clock: ManualClock
) -> None:
    put_routes(services, ESCALATING)
    handle(messages(1), alerting)
    clock.advance(minutes=29, seconds=50)
    assert handle([due_message(services)], alerting)["batchItemFailures"]
    assert queue.later == [("h", 10)] and len(board.notes) == 1


def test_what_a_person_acknowledged_on_the_command_line_does_not_escalate(
    alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock
) -> None:
    put_routes(services, ESCALATING)
    handle(messages(1), alerting)
    note = board.notes[0]
    assert isinstance(note, AlertNote)
    home = person(services, clock)
    order = AlertOrder(alert_key(note.event), "ada", "looking")
    acknowledge_alert(order, home.ports, home.store)
    assert [event.type for event in home.ports.events.newest(kind="ALERT_ACKNOWLEDGED")] == [
        "ALERT_ACKNOWLEDGED"
    ]
    clock.advance(minutes=31)
    assert handle([due_message(services)], alerting) == {"batchItemFailures": []}
    assert len(board.notes) == 1


def test_an_unsnooze_releases_what_was_held(
    alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock
) -> None:
    put_routes(services, {"sinks": {"log": {"type": "console"}}})
    handle(messages(1), alerting)
    note = board.notes[0]
    assert isinstance(note, AlertNote)
    home = person(services, clock)
    order = AlertOrder(alert_key(note.event), "ada", "looking")
    snooze_alert(order, timedelta(hours=2), home.ports, home.store)
    late = msgspec.structs.replace(
        told(EventType.SLA_BREACH, 1200), pipeline_id=note.event.pipeline_id
    )
    held = {"messageId": "m", "receiptHandle": "h", "body": canonical.encode(envelope(late))}
    home.ports.events.publish([late])
    assert handle([held], alerting) == {"batchItemFailures": []}
    assert len(board.notes) == 1
    unsnooze_alert(order, home.ports, home.store)
    (event,) = home.ports.events.newest(kind="ALERT_UNSNOOZED")
    ended = {"messageId": "u", "receiptHandle": "h", "body": canonical.encode(envelope(event))}
    assert handle([ended], alerting) == {"batchItemFailures": []}
    released = min(services.entries(), key=lambda entry: entry["ScheduleExpression"])
    clock.advance(minutes=2)
    message = {"messageId": "r", "receiptHandle": "h", "body": released["Target"]["Input"]}
    assert handle([message], alerting) == {"batchItemFailures": []}
    assert isinstance(board.notes[-2], SummaryNote)
    last = board.notes[-1]
    assert isinstance(last, AlertNote) and last.event.type is EventType.SLA_BREACH
