"""Backfill entries: what an operator asks for backfills in a scenario."""

from interlock.domain.backfill import BackfillState
from interlock.simulation.scenario import BackfillEntry, BackfillTurnName
from interlock.usecases.ports import Ports
from interlock.usecases.start_backfill import BackfillOrder, start_backfill
from interlock.usecases.steer_backfill import BackfillTurn, steer_backfill

_STATES = {
    BackfillTurnName.PAUSE: BackfillState.PAUSED,
    BackfillTurnName.RESUME: BackfillState.RUNNING,
    BackfillTurnName.CANCEL: BackfillState.CANCELLED,
}


def operate_backfill(entry: BackfillEntry, ports: Ports) -> None:
    """Raises as a server would answer."""
    if entry.turn is not None:
        for newest in ports.backfills.newest(1, pipeline_id=entry.pipeline):
            turn = BackfillTurn(newest.id, _STATES[entry.turn], "operator", entry.reason)
            steer_backfill(turn, ports)
        return
    assert entry.first is not None and entry.last is not None  # the reader has checked that
    order = BackfillOrder(
        pipeline_id=entry.pipeline,
        first=entry.first,
        last=entry.last,
        schedule_id=entry.schedule,
        max_concurrent=entry.max_concurrent,
        requested_by="operator",
        reason=entry.reason,
    )
    start_backfill(order, ports)
