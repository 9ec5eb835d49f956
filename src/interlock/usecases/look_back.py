"""Look back: let the next watchdog pass check a pipeline from an earlier instant on."""

from datetime import datetime, timedelta

import msgspec

from interlock.errors import TransientError
from interlock.usecases.load_snapshots import FARTHEST
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import LOST_RACE

_TRIES = 8
_TICK = timedelta(microseconds=1)
#: Nearer than the farthest look of a pass: what lies beyond that is reported as not watched.
_FARTHEST = FARTHEST - timedelta(days=1)


def look_back(pipeline_id: str, moment: datetime, ports: Ports) -> None:
    """A pass that is under way keeps the request for the next one. What is still to come needs no look
    back, and neither does a pipeline that no pass has looked at yet.
    """
    now = ports.clock()
    for _ in range(_TRIES):
        state = ports.watch.load()
        if moment >= now or state.since is None:
            return
        start = state.lagging.get(pipeline_id, state.since)
        since = max(min(moment, start), now - _FARTHEST)
        if since == state.lagging.get(pipeline_id):
            if state.pass_until is None:
                return
            since -= _TICK  # the pass may have looked at it already, and must see that it was asked again
        lagging = {**state.lagging, pipeline_id: since}
        if ports.watch.save(
            msgspec.structs.replace(state, version=state.version + 1, lagging=lagging)
        ):
            return
    raise TransientError(f"{pipeline_id}: {LOST_RACE}, {_TRIES} times in a row")
