"""Rerun answers: the answer to a rerun request, found in the event log."""

import time

from interlock.domain.event import Event, EventType
from interlock.domain.rerun_request import RerunRequest
from interlock.operations.queries import Queries
from interlock.operations.requests import EventsQuery

_ACCEPTED = frozenset({EventType.RERUN_ACCEPTED, EventType.DRY_RUN_WOULD_RERUN})
_REJECTED = frozenset({EventType.RERUN_REJECTED, EventType.DRY_RUN_RERUN_REJECTED})
_PAUSE = 0.1
_NEWEST = 50


def awaited(request: RerunRequest, queries: Queries, seconds: float) -> Event | None:
    """The event that answers the request; None if none arrives within that time."""
    until = time.monotonic() + seconds
    while True:
        found = _answer(request, queries)
        if found is not None or time.monotonic() > until:
            return found
        time.sleep(_PAUSE)


def is_accepted(answer: Event) -> bool:
    return answer.type in _ACCEPTED


def _answer(request: RerunRequest, queries: Queries) -> Event | None:
    """A rejection carries the request in its id; an acceptance is the first one after the request."""
    key = request.key
    since = request.requested_at
    wanted = EventsQuery(pipeline=key.pipeline_id, since=since, limit=_NEWEST)
    for event in reversed(queries.events(wanted).items):
        if event.date != key.date or event.schedule_id != key.schedule_id:
            continue
        if event.type in _REJECTED and request.id in event.event_id:
            return event
        if event.type in _ACCEPTED and event.timestamp >= since:
            return event
    return None
