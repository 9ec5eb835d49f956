"""Event sink: stores every event that a rule forwards."""

import logging
from typing import Any

from interlock.lambdas.invocation import begin, home_of
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

log = logging.getLogger(__name__)

_backend = home_of(Function.EVENT_SINK)


def handler(event: dict[str, Any], context: Any) -> None:
    handle(event, context, _backend())


def handle(event: dict[str, Any], context: Any, backend: AwsBackend) -> None:
    """An unreadable event is stored as it is. An event that can't be stored raises, and AWS delivers it
    again.
    """
    begin(backend, context)
    if backend.store.event_log.put(event) is None:
        log.error("unreadable event", extra={"action": "event_unreadable"})
