"""Steer a backfill: pause, resume or cancel it. Dates that have begun run on."""

import msgspec

from interlock.domain.backfill import Backfill, BackfillState
from interlock.domain.backfill_events import turned
from interlock.errors import ConflictError, NotFoundError, TransientError
from interlock.usecases.advance_backfill import LOST_RACE, advance_backfill, publish
from interlock.usecases.ports import Ports

_TRIES = 8

#: To which states each may be turned.
_TURNS = {
    BackfillState.RUNNING: frozenset({BackfillState.PAUSED, BackfillState.CANCELLED}),
    BackfillState.PAUSED: frozenset({BackfillState.RUNNING, BackfillState.CANCELLED}),
    BackfillState.CANCELLED: frozenset[BackfillState](),
    BackfillState.DONE: frozenset[BackfillState](),
}


class BackfillTurn(msgspec.Struct, frozen=True):
    """Which backfill to turn to which state, who asks and why."""

    backfill_id: str
    state: BackfillState
    by: str
    reason: str


def steer_backfill(turn: BackfillTurn, ports: Ports) -> Backfill:
    """The backfill as it stands. Turning it to the state that it has changes nothing.

    Raises ConflictError for a backfill that is over, NotFoundError for an unknown one.
    """
    for _ in range(_TRIES):
        before = found_backfill(turn.backfill_id, ports)
        if before.state is turn.state:
            return before
        if turn.state not in _TURNS[before.state]:
            raise ConflictError(f"the backfill {before.id} is {before.state}: it is over")
        config = ports.pipelines.find(before.pipeline_id)
        after = before.turned(turn.state, ports.clock(), turn.by, turn.reason)
        event = turned(after, config)
        if ports.backfills.save(after, [event]):
            publish([event], ports)
            return advance_backfill(after.id, ports) or after
    raise TransientError(f"backfill {turn.backfill_id}: {LOST_RACE}, {_TRIES} times in a row")


def found_backfill(backfill_id: str, ports: Ports) -> Backfill:
    """Raises NotFoundError."""
    found = ports.backfills.find(backfill_id)
    if found is None:
        raise NotFoundError(
            f"there is no backfill {backfill_id}: `interlock backfills` lists those there are"
        )
    return found
