"""Reopen a run: give a date its next attempt, and start it."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from interlock.domain.config import Config
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRecord
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.usecases.open_run import deadline_timers, opening_events
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.start_run import start_run


class Reopening(msgspec.Struct, frozen=True, kw_only=True):
    """What gives a date its next attempt. Decided from the stored run, which may have moved on."""

    key: RunKey
    by: OpenedBy
    opened_for: str
    may: Callable[[Run], bool]
    record: Callable[[Run], RerunRecord] | None = None
    events: Callable[[Run], Sequence[Event]] = lambda run: ()
    changes: Callable[[Run], dict[str, Any]] = lambda run: {}


def reopen_run(asked: Reopening, config: Config, ports: Ports) -> Run:
    """Return the run as it stands.

    A repeat after a crash finds the new attempt PENDING and starts it again under the same name.
    """
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if not asked.may(run):
            return None
        changes = {"config_hash": config.config_hash, **asked.changes(run)}
        fresh = run.reopened(now, asked.by, asked.opened_for, ports.lease, **changes)
        also = {} if asked.record is None else {"rerun": asked.record(fresh)}
        events = (*opening_events(fresh, config.pipeline), *asked.events(fresh))
        return RunWrite(fresh, events, also)

    run = save_run(asked.key, decide, ports)
    if run.status is Status.PENDING:
        ports.timers.arm(deadline_timers(run))
        start_run(run, config.pipeline, ports)
    return run
