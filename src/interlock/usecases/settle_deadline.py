"""Settle a deadline: the run is done; write the verdict and cancel its timers."""

from datetime import datetime

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType
from interlock.domain.opening import instants, without_deadlines
from interlock.domain.run import DeadlineKind, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sla import BREACHES, WARNINGS, was_ready
from interlock.domain.timestamp import spell
from interlock.usecases.fire_deadline import deadline_events, fire_deadline
from interlock.usecases.open_run import deadline_timer
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def settle_deadline(key: RunKey, config: Config, ports: Ports) -> SlaVerdict | None:
    """The verdict of the date; written once, by the first caller."""
    now = ports.clock()
    due: dict[DeadlineKind, datetime] = {}

    def decide(run: Run) -> RunWrite | None:
        nonlocal due
        due = instants(run)
        return _decide(run, config, now)

    run = save_run(key, decide, ports)
    if run.status is Status.COMPLETED:
        if DeadlineKind.READINESS not in run.sla_told and not was_ready(run, run.readiness_at):
            fire_deadline(
                key, DeadlineKind.READINESS, ports
            )  # its timer may be late, and is cancelled now
        ports.timers.cancel([deadline_timer(key, kind, at).name for kind, at in due.items()])
    return run.sla_verdict


def _decide(run: Run, config: Config, now: datetime) -> RunWrite | None:
    if run.status is not Status.COMPLETED or run.completed_at is None:
        return None
    due = instants(run)
    breaches = [(at, kind) for kind, at in due.items() if kind in BREACHES]
    if run.sla_verdict is not None or not breaches:
        return None
    if config.pipeline.sla is None or not config.pipeline.has_schedule(run.key.schedule_id):
        return RunWrite(without_deadlines(run, now))
    passed = [kind for at, kind in sorted(breaches) if run.completed_at >= at]
    if passed:
        noted = run.changed(now, sla_verdict=SlaVerdict.BREACHED, sla_told=(*run.sla_told, *passed))
        told = [deadline_events(kind, run.key, due, run, config, now) for kind in passed]
        return RunWrite(noted, tuple(event for events in told for event in events))
    breach_at = min(breaches)[0]
    noted = run.changed(now, sla_verdict=SlaVerdict.MET)
    events = about_run(
        EventType.SLA_MET,
        noted,
        config.pipeline,
        f"done {duration.for_people(breach_at - run.completed_at)} before its deadline",
        parts=(),
        breachAt=spell(breach_at),
        completedAt=spell(run.completed_at),
        marginSeconds=int((breach_at - run.completed_at).total_seconds()),
        warned=any(kind in WARNINGS for kind in run.sla_told),
    )
    return RunWrite(noted, events)
