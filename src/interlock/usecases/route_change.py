"""Route a change: by the kind of record, and nothing more."""

import logging
from collections.abc import Sequence

from interlock.domain.admission import Admission
from interlock.domain.change import Change, ChangeKind
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Granted
from interlock.errors import UnreadableError
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.advance_backfill import advance_backfill
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.note_job_record import note_job_record
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)


def route_change(change: Change, ports: Ports) -> Sequence[Admission]:
    """Handle one record; for a reading, return what it led to. It may be repeated, late or out of order.

    A record that needs an unreadable row is left to the watchdog, which acts once the row is readable.
    """
    try:
        return _route(change, ports)
    except UnreadableError as error:
        extra = {"action": "change_waits", "change": change.id}
        log.warning("a change waits for an unreadable row: %s", error, extra=extra)
        return ()


def _judge(request: RerunRequest, ports: Ports) -> None:
    """A rejected date of a backfill makes room for the next one."""
    answer = judge_rerun(request, ports)
    if request.backfill is not None and not isinstance(answer, Granted):
        advance_backfill(request.backfill, ports)


def _route(change: Change, ports: Ports) -> Sequence[Admission]:
    if change.kind is ChangeKind.CONFIG:
        from interlock.usecases.adopt_config import adopt_config  # imports the file checks

        adopt_config(change.pipeline_id, ports)
    elif change.removed:
        return ()  # a removed reading, request or record opens nothing
    elif change.reading is not None:
        return admit_reading(change.reading, ports)
    elif change.request is not None:
        _judge(change.request, ports)
    elif change.record is not None:
        note_job_record(change.record, ports)
    return ()
