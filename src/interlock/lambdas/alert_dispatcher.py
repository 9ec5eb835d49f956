"""Alert dispatcher: messages of the alert queue, each an event as a rule handed it over."""

import logging
from typing import Any

from interlock.adapters.aws.event_items import event_from_envelope
from interlock.domain import canonical
from interlock.domain.event import CATALOGUE, Alert, Event
from interlock.lambdas.invocation import begin, home_of, one_by_one
from interlock.wiring.aws import AwsHome
from interlock.wiring.aws_settings import Function

log = logging.getLogger(__name__)

_home = home_of(Function.ALERT_DISPATCHER)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, _home())


def handle(event: dict[str, Any], context: Any, home: AwsHome) -> dict[str, Any]:
    begin(home, context)
    return one_by_one(event["Records"], _dispatch)


def _dispatch(message: dict[str, Any]) -> bool:
    told = event_from_envelope(canonical.decode(message["body"]))
    if CATALOGUE[told.type].alert is Alert.YES:
        _tell(told)
    return True


def _tell(event: Event) -> None:
    """One line an alert, where no other sink is declared."""
    log.warning(
        event.message,
        extra={
            "action": "alert",
            "event": event.event_id,
            "type": event.type,
            "severity": event.severity,
            "pipeline": event.pipeline_id,
            "date": event.date,
        },
    )
