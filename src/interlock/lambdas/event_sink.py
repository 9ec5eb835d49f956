"""Event sink: keeps every event that a rule hands over."""

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
    """What can't be read is kept as it is; what can't be stored is raised, and comes again."""
    begin(backend, context)
    if backend.store.event_log.put(event) is None:
        log.error("an event that can't be read", extra={"action": "event_unreadable"})
