"""Skip a run: an operator says that a date need not run, and it falls silent."""

import msgspec

from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, clean
from interlock.domain.opening import Opening, first_attempt, inherited, instants
from interlock.domain.run import OpenedBy, Run, RunKey, Skip, Status
from interlock.domain.run_events import about_run
from interlock.domain.skipping import objection_to_skip, skipped
from interlock.domain.timestamp import spell
from interlock.errors import ConfigError, ConflictError, TransientError
from interlock.usecases.find_runs import find_watch
from interlock.usecases.open_run import deadline_timer
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.run_order import (
    RunOrder,
    check_readable,
    objection_to_date,
    ordered_run,
)
from interlock.usecases.save_run import LOST_RACE, RunWrite, save_run
from interlock.usecases.take_place import call_next

_TRIES = 8


def skip_run(order: RunOrder, ports: Ports) -> Run:
    """The run, SKIPPED. A date without a run gets a row that says so.

    The date is skipped first and its timers are cancelled afterwards: one that fires in between finds it
    skipped. A repeat cancels them again and changes nothing else. Raises ConflictError for a run whose job
    is running or done, and ConfigError for a date that the schedule does not know.
    """
    for _ in range(_TRIES):
        found = ordered_run(order.key, ports)
        check_readable(order, found.run)
        run = _open(order, found.key, found.config, ports) if found.run is None else found.run
        if run is not None:
            return _skip(order, run.key, found.config, ports)
    raise TransientError(f"{order.name}: {LOST_RACE}, {_TRIES} times in a row")


def foresee_skip(order: RunOrder, ports: Ports) -> str | None:
    """Why it would be refused now; None if it would be accepted. Changes nothing."""
    found = ordered_run(order.key, ports)
    if found.run is None:
        return objection_to_date(found.key, found.config)
    return objection_to_skip(found.run)


def _open(order: RunOrder, key: RunKey, config: Config, ports: Ports) -> Run | None:
    """The row of a date that had none; None if a run came first."""
    objection = objection_to_date(key, config)
    if objection is not None:
        raise ConfigError(f"{order.name}: {objection}")
    now = ports.clock()
    sla = inherited(find_watch(key, config.pipeline, ports))
    opening = Opening(key, OpenedBy.OPERATOR, "skip", now)
    run = msgspec.structs.replace(
        first_attempt(opening, config, ports.lease, sla),
        status=Status.SKIPPED,
        sla_armed={},
        skip=Skip(by=order.by, at=now, reason=order.reason, created=True),
    )
    return run if ports.runs.open(run, _events(run, None, config)) else None


def _skip(order: RunOrder, key: RunKey, config: Config, ports: Ports) -> Run:
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.status is Status.SKIPPED:
            return None
        objection = objection_to_skip(run)
        if objection is not None:
            raise ConflictError(f"{order.name}: {objection}")
        over = skipped(run, order.by, order.reason, now)
        return RunWrite(over, _events(over, run, config))

    run = save_run(key, decide, ports)
    publish_outbox(key, ports)
    ports.timers.cancel([deadline_timer(key, kind, at).name for kind, at in instants(run).items()])
    call_next(run, config.pipeline, ports)
    return run


def _events(run: Run, before: Run | None, config: Config) -> tuple[Event, ...]:
    assert run.skip is not None
    return about_run(
        EventType.RUN_SKIPPED,
        run,
        config.pipeline,
        clean(str(run.skip)),
        parts=(run.attempt, spell(run.skip.at)),
        reason=clean(run.skip.reason),
        requestedBy=run.skip.by or None,
        runStatus=None if before is None else before.status,
    )
