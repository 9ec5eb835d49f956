"""Note late data: the trigger reading changed after completion, so the result may be wrong."""

from typing import Any

from interlock.domain import duration
from interlock.domain.admission import has_changed
from interlock.domain.drift import changes
from interlock.domain.event import AUTOMATIC, EventType
from interlock.domain.pipeline import Pipeline
from interlock.domain.post_run import late_window
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sensor import Reading, split_key
from interlock.domain.timestamp import spell
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def note_late_data(key: RunKey, reading: Reading, pipeline: Pipeline, ports: Ports) -> Run:
    """Report it and request a rerun, once per content, in one write. After the window for late data it is
    only reported, and a person decides.
    """
    base, _ = split_key(reading.key)
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.status is not Status.COMPLETED or run.completed_at is None or run.mark is not None:
            return None
        if reading.version in run.late_told or not has_changed(run, reading, base):
            return None
        seen = run.evidence.get(base)
        too_late = reading.received_at > run.completed_at + late_window(pipeline)
        noted = run.changed(now, late_told=(*run.late_told, reading.version))
        late_by = max(reading.received_at - run.completed_at, now - now)
        events = about_run(
            EventType.LATE_DATA_ARRIVAL,
            noted,
            pipeline,
            f"{reading.key} changed after the job completed: "
            + ("too late for an automatic rerun" if too_late else "a rerun is requested"),
            parts=(run.attempt, reading.version[:12]),
            key=reading.key,
            changed=changes({} if seen is None else seen.fields, reading.fields),
            completedAt=spell(run.completed_at),
            lateBy=duration.for_people(late_by),
            rerunRequested=not too_late,
            **_of_dry_run(run),
        )
        if too_late:
            return RunWrite(noted, events)
        return RunWrite(noted, events, {"request": rerun_request(key, "late-data", noted)})

    return save_run(key, decide, ports)


def _of_dry_run(run: Run) -> dict[str, Any]:
    """The detail that only a dry run's event has."""
    if not run.key.dry or run.launched_at is None:
        return {}
    return {"triggeredAt": spell(run.launched_at)}


def rerun_request(key: RunKey, reason: str, run: Run) -> RerunRequest:
    """Interlock's own request; its id is the instant of the write that stores it."""
    return RerunRequest(key=key, reason=reason, requested_at=run.changed_at, requested_by=AUTOMATIC)
