"""Reopen a run: give a date its next attempt, and start it."""

from collections.abc import Callable, Sequence
from typing import Any

from interlock.domain.config import Config
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRecord
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.usecases.open_run import deadline_timers, opening_events
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.start_run import start_run


def reopen_run(
    key: RunKey,
    by: OpenedBy,
    opened_for: str,
    config: Config,
    ports: Ports,
    *,
    may: Callable[[Run], bool],
    record: Callable[[Run], RerunRecord] | None = None,
    events: Callable[[Run], Sequence[Event]] = lambda run: (),
    changes: Callable[[Run], dict[str, Any]] = lambda run: {},
) -> Run:
    """Return the run as it stands. `may` judges the run as stored; it may have changed meanwhile.

    A repeat after a crash finds the new attempt PENDING and starts it again under the same name.
    """
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if not may(run):
            return None
        fresh = run.reopened(
            now, by, opened_for, ports.lease, config_hash=config.config_hash, **changes(run)
        )
        also = {} if record is None else {"rerun": record(fresh)}
        return RunWrite(fresh, (*opening_events(fresh, config.pipeline), *events(fresh)), also)

    run = save_run(key, decide, ports)
    if run.status is Status.PENDING:
        ports.timers.arm(deadline_timers(run))
        start_run(run, config.pipeline, ports)
    return run
