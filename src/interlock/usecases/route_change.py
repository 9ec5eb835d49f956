"""Route a change: by the kind of record, and nothing more."""

import logging

from interlock.domain.change import Change, ChangeKind
from interlock.errors import UnreadableError
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.note_job_record import note_job_record
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)


def route_change(change: Change, ports: Ports) -> None:
    """Handle one record. It may come repeatedly, late, and in any order.

    A change that needs an unreadable row waits for the watchdog, which acts once the row is readable.
    """
    try:
        _route(change, ports)
    except UnreadableError as error:
        extra = {"action": "change_waits", "change": change.id}
        log.warning("a change waits for a row that can't be read: %s", error, extra=extra)


def _route(change: Change, ports: Ports) -> None:
    if change.kind is ChangeKind.CONFIG:
        from interlock.usecases.adopt_config import (
            adopt_config,
        )  # and with it all that checks files

        adopt_config(change.pipeline_id, ports)
    elif change.removed:
        return  # a removed reading, request or record opens nothing
    elif change.reading is not None:
        admit_reading(change.reading, ports)
    elif change.request is not None:
        judge_rerun(change.request, ports)
    elif change.record is not None:
        note_job_record(change.record, ports)
