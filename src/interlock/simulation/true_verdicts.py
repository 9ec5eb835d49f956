"""True verdicts: no date is reported late whose job, as the world knows, ended in time (I3)."""

from collections.abc import Iterator

from interlock.adapters.sqlite.store import Store
from interlock.domain.event import Event, EventType
from interlock.domain.run import Status
from interlock.simulation.scenario import JobResult, instant
from interlock.simulation.scripted_jobs import ScriptedJobs, SimulatedJob

_AT_ONCE = 10_000
_BREACHES = frozenset({EventType.SLA_BREACH, EventType.RELATIVE_SLA_BREACH})
_WITH_A_JOB = frozenset({Status.TRIGGERING, Status.RUNNING})


class TrueVerdicts:
    """Follows the event log, and compares it with what the jobs did."""

    def __init__(self, jobs: ScriptedJobs) -> None:
        self._jobs = jobs
        self._heard = 0

    def check(self, store: Store) -> Iterator[str]:
        for each in store.events.after(self._heard, _AT_ONCE):
            self._heard = each.seq
            if each.event.type in _BREACHES:
                yield from self._is_true(each.event)

    def _is_true(self, event: Event) -> Iterator[str]:
        """If the platform could not be asked, the verdict is open, and the event says so."""
        unasked = any("can't be asked" in cause for cause in event.detail.get("blockedBy", ()))
        if event.detail.get("status") not in _WITH_A_JOB or unasked:
            return
        due_at = instant(event.detail["breachAt"])
        for launch in self._jobs.launches:
            ends_at = launch.ends_at
            if _is_its(launch, event) and ends_at is not None and ends_at < due_at:
                yield f"I3: {event.event_id} was published, but its job had succeeded at {ends_at}"


def _is_its(launch: SimulatedJob, event: Event) -> bool:
    return launch.script.result is JobResult.SUCCESS and (
        (launch.pipeline, launch.schedule, launch.date, launch.attempt)
        == (event.pipeline_id, event.schedule_id, event.date, event.attempt)
    )
