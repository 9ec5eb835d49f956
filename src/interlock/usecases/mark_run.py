"""Mark a run: a person states its outcome. Nothing is launched for it."""

from collections.abc import Mapping

import msgspec

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.event import AS_ROW, Event, EventType, RowOverride, Severity, clean
from interlock.domain.horizon import last_believed
from interlock.domain.marking import done_by_hand, is_marked, marked, objection_to_mark
from interlock.domain.opening import Opening, first_attempt, inherited, instants
from interlock.domain.partition import Label
from interlock.domain.run import MarkedAs, OpenedBy, OutcomeMark, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sla import BREACHES
from interlock.domain.timestamp import spell
from interlock.errors import ConfigError, ConflictError, TransientError
from interlock.usecases.complete_run import complete_run
from interlock.usecases.find_runs import find_watch
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.run_order import (
    RunOrder,
    check_readable,
    objection_to_date,
    ordered_run,
)
from interlock.usecases.save_run import LOST_RACE, RunWrite, save_run
from interlock.usecases.settle_deadline import settle_deadline
from interlock.usecases.take_place import call_next

_TRIES = 8


def mark_run(order: RunOrder, outcome: MarkedAs, evidence: Mapping[str, str], ports: Ports) -> Run:
    """The run with its mark. Done leads to what any completion leads to; failed closes the date, and what
    its completion had opened downstream stays open.

    The outcome is stored first; a repeat does again what follows from it, and changes nothing else. Raises
    ConflictError if the run has a job or another outcome.
    """
    mark = OutcomeMark(
        outcome=outcome,
        by=order.by,
        at=ports.clock(),
        reason=order.reason,
        evidence=dict(evidence),
    )
    for _ in range(_TRIES):
        found = ordered_run(order.key, ports)
        run = found.run
        check_readable(order, run)
        if run is None:
            run = _open(order, mark, found.key, found.config, ports)
        if run is not None:
            return _mark(order, mark, run.key, found.config, ports)
    raise TransientError(f"{order.name}: {LOST_RACE}, {_TRIES} times in a row")


def _open(
    order: RunOrder, mark: OutcomeMark, key: RunKey, config: Config, ports: Ports
) -> Run | None:
    """The row of a date that had none, done from the start; None if a run came first."""
    objection = objection_to_mark(None, mark.outcome) or _objection_to_date(key, mark, config)
    if objection is not None:
        raise ConfigError(f"{order.name}: {objection}")
    sla = inherited(find_watch(key, config.pipeline, ports))
    opened = first_attempt(
        Opening(key, OpenedBy.OPERATOR, "mark", mark.at), config, ports.lease, sla
    )
    run = msgspec.structs.replace(
        opened,
        status=Status.COMPLETED,
        cascading=_is_waited_for(opened, ports),
        **done_by_hand(mark),
    )
    return run if ports.runs.open(run, _events(run, None, config)) else None


def _objection_to_date(key: RunKey, mark: OutcomeMark, config: Config) -> str | None:
    objection = objection_to_date(key, config)
    if objection is not None:
        return objection
    pipeline, label = config.pipeline, Label.parse(key.date)
    schedule = pipeline.schedule(key.schedule_id)
    last = last_believed(schedule, pipeline.calendars, label, mark.at)
    return None if last is None else f"{label} is too far ahead: {last} is the last date for now"


def _mark(order: RunOrder, mark: OutcomeMark, key: RunKey, config: Config, ports: Ports) -> Run:
    def decide(run: Run) -> RunWrite | None:
        if is_marked(run, mark.outcome):
            return None
        objection = objection_to_mark(run, mark.outcome)
        if objection is not None:
            raise ConflictError(f"{order.name}: {objection}")
        done = mark.outcome is MarkedAs.DONE
        changes = {"cascading": _is_waited_for(run, ports)} if done else {}
        over = marked(run, mark, **changes)
        return RunWrite(over, _events(over, run, config))

    run = save_run(key, decide, ports)
    publish_outbox(key, ports)
    call_next(run, config.pipeline, ports)
    if run.status is not Status.COMPLETED:
        return run
    complete_run(key, run.attempt, config.pipeline, ports)
    settle_deadline(key, config, ports)
    return ports.runs.get(key)


def _is_waited_for(run: Run, ports: Ports) -> bool:
    return not run.key.dry and bool(ports.pipelines.downstream_of(run.key.pipeline_id))


def _events(run: Run, before: Run | None, config: Config) -> tuple[Event, ...]:
    mark = run.mark
    assert mark is not None
    failed = mark.outcome is MarkedAs.FAILED
    undone = failed and before is not None and before.status is Status.COMPLETED
    stays = "; runs that its completion opened downstream are not undone" if undone else ""
    breaches = [at for kind, at in instants(run).items() if kind in BREACHES]
    late = mark.at - min(breaches) if breaches and not failed else None
    return about_run(
        EventType.RUN_MARKED,
        run,
        config.pipeline,
        clean(f"{mark}{stays}"),
        parts=(run.attempt, mark.outcome, spell(mark.at)),
        override=RowOverride(Severity.WARNING) if failed else AS_ROW,
        outcome=mark.outcome,
        reason=clean(mark.reason),
        requestedBy=mark.by or None,
        runStatus=None if before is None else before.status,
        evidence=mark.evidence or None,
        lateBy=None if late is None or late.total_seconds() < 0 else duration.for_people(late),
    )
