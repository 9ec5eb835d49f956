"""Alert calls: the AWS calls of the alert dispatcher while it sends, waits, gives up, holds and releases."""

from collections import defaultdict
from datetime import UTC, datetime

from aws.alert_board import DELAYS, Board, Queue, messages, put_routes
from aws.functions import function_home
from aws.homes import Services, quick_services
from contracts.samples import ManualClock
from deploy.calls import Calls, noting
from interlock.domain.alerting.deliveries import Posted, SendFailed
from interlock.domain.alerting.manner import Manner
from interlock.lambdas.alert_dispatcher import handle
from interlock.wiring.aws_alerts import AwsAlerting
from interlock.wiring.aws_settings import Function

_SINKS = {"sinks": {"log": {"type": "console"}}}
_AS_SLACK = Manner(threaded=True, paced=True, delays=DELAYS)
_UNTIL = "2026-03-03T12:00:00Z"
_MUTE = {"match": {}, "from": "2026-03-03T09:00:00Z", "until": _UNTIL, "reason": "maintenance"}


def record_alerts() -> Calls:
    """What it calls in the course of everything that can become of an alert."""
    calls: Calls = defaultdict(set)
    for story in (_told, _given_up, _held_and_released):
        clock = ManualClock()
        clock.advance(minutes=16)  # after the events that were recorded
        services, board = quick_services(clock), Board(_AS_SLACK)
        story(_alerting(services, clock, board, calls), board, services, clock)
    return calls


def _alerting(services: Services, clock: ManualClock, board: Board, calls: Calls) -> AwsAlerting:
    wrap, queue = noting(calls), Queue()
    home = function_home(
        Function.ALERT_DISPATCHER,
        services,
        clock,
        wrap=lambda service, client: wrap(
            Function.ALERT_DISPATCHER, service, queue if service == "sqs" else client
        ),
    )
    return AwsAlerting(home, board)


def _told(alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock) -> None:
    """Twice the same, and one that can't be read."""
    handle(messages(1, 2, 3), alerting)
    handle(messages(1), alerting)


def _given_up(alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock) -> None:
    board.answer = SendFailed("HTTP 500")
    for delay in DELAYS:
        handle(messages(1), alerting)
        clock.advance(seconds=delay.total_seconds())
    handle(messages(1), alerting)


def _held_and_released(
    alerting: AwsAlerting, board: Board, services: Services, clock: ManualClock
) -> None:
    put_routes(services, {**_SINKS, "mutes": [_MUTE]})
    handle(messages(1), alerting)
    (entry,) = services.entries()
    clock.now = datetime.fromisoformat(_UNTIL).astimezone(UTC)
    board.answer = Posted("")
    handle([{"messageId": "end", "receiptHandle": "h", "body": entry["Target"]["Input"]}], alerting)
