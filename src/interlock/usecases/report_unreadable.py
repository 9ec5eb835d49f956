"""Report unreadable rows: publish each unreadable row that the stores met, once per content."""

from interlock.domain.pipeline import Pipeline
from interlock.domain.unreadable import UnreadableRow, unreadable_event
from interlock.usecases.claim_event import claim_event
from interlock.usecases.ports import Ports
from interlock.usecases.readable_config import readable_config


def report_unreadable(ports: Ports) -> int:
    """How many were new here. If another process reported the same row, it is not published twice."""
    rows = ports.unreadable.met()
    for row in rows:
        claim_event(unreadable_event(row, ports.clock(), _pipeline_of(row, ports)), ports)
        ports.unreadable.reported(row)
    return len(rows)


def _pipeline_of(row: UnreadableRow, ports: Ports) -> Pipeline | None:
    """The pipeline whose owner should know."""
    config = None if row.pipeline_id is None else readable_config(row.pipeline_id, ports)
    return None if config is None else config.pipeline
