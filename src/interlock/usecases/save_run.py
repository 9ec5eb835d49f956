"""Save a run: decide from what is stored, write conditionally, and decide again after a lost race."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from interlock.domain.event import Event
from interlock.domain.run import Run, RunKey
from interlock.errors import TransientError
from interlock.usecases.advance_backfill import advance_soon
from interlock.usecases.load_run import load_run
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox

#: How a write that always comes second is reported.
LOST_RACE = "other processes got there first"
_TRIES = 8


class RunWrite(msgspec.Struct, frozen=True):
    """A run's next version, its events, and what must be stored with it."""

    run: Run
    events: Sequence[Event] = ()
    also: dict[str, Any] = {}


def save_run(key: RunKey, decide: Callable[[Run], RunWrite | None], ports: Ports) -> Run:
    """Return the run as it stands afterwards. `decide` returns None when there is nothing to do."""
    for _ in range(_TRIES):
        run = load_run(key, ports)
        write = decide(run)
        if write is None:
            return run
        if ports.runs.save(write.run, write.events, **write.also):
            publish_outbox(key, ports)
            _note_end(run, write.run, ports)
            return write.run
    raise TransientError(f"{key}: {LOST_RACE}, {_TRIES} times in a row")


def _note_end(before: Run, after: Run, ports: Ports) -> None:
    """A date of a backfill that ends makes room for the next one."""
    if after.backfill is not None and _is_at_work(before) and not _is_at_work(after):
        advance_soon(after.backfill, ports)


def _is_at_work(run: Run) -> bool:
    return run.is_open or run.awaits_retry
