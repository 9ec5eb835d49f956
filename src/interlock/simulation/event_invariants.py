"""Event invariants: every event was true when recorded, published once, and no budget overspent (I3,
I5-I7).
"""

from collections import Counter
from collections.abc import Callable, Iterator

from interlock.adapters.sqlite.store import Store
from interlock.domain.budgets import RerunSource, Spending
from interlock.domain.event import Event, EventType
from interlock.domain.run import Run, RunKey, Status
from interlock.simulation.scenario import instant

_AT_ONCE = 10_000
_DRY = "DRY_RUN_"
_JOB = "job"


class EventInvariants:
    """Follows the event log."""

    def __init__(self) -> None:
        self._heard = 0
        self._once: Counter[tuple[object, ...]] = Counter()

    def check(self, store: Store) -> Iterator[str]:
        """Everything that spends has an event, so the runs of new events are checked too."""
        told = store.events.after(self._heard, _AT_ONCE)
        for each in told:
            self._heard = each.seq
            yield from self._told_once(each.event)
        for key, events in _by_run([each.event for each in told]).items():
            run = store.runs.find([key]).get(key)
            for event in events:
                yield from _is_true(event, run)
            if run is not None:
                yield from _within_budgets(run, store)

    def _told_once(self, event: Event) -> Iterator[str]:
        if event.type not in _ONCE_PER_ATTEMPT:
            return
        facts = (event.type, event.pipeline_id, event.schedule_id, event.date, event.attempt)
        self._once[facts] += 1
        if self._once[facts] > 1:
            yield f"I7: {facts} was published {self._once[facts]} times"


def _by_run(events: list[Event]) -> dict[RunKey, list[Event]]:
    found: dict[RunKey, list[Event]] = {}
    for event in events:
        if event.pipeline_id and event.schedule_id and event.date:
            dry = event.type.startswith(_DRY)
            key = RunKey(event.pipeline_id, event.schedule_id, event.date, dry=dry)
            found.setdefault(key, []).append(event)
    return found


def _is_true(event: Event, run: Run | None) -> Iterator[str]:
    """A deadline event is about a moment that has passed, and a run that was not done by then."""
    if event.type in _MOMENTS:
        due_at = instant(event.detail[_MOMENTS[event.type]])
        if event.timestamp < due_at:
            yield f"I3: {event.event_id} was published before its time, {due_at}"
        if run is not None and run.completed_at is not None and run.completed_at < due_at:
            yield f"I3: {event.event_id} was published about a run that completed at {run.completed_at}"
    if event.type in _SILENCED and _was_skipped_at(run, event):
        yield f"I4: {event.event_id} was published about a date that was skipped before"
    if event.type is EventType.SLA_MET and not _is_earlier(event, "completedAt", "breachAt"):
        yield f"I3: {event.event_id} was published about a run that was late"


def _was_skipped_at(run: Run | None, event: Event) -> bool:
    """Whether the present skip of the date is older than an event about it."""
    skip = None if run is None or run.status is not Status.SKIPPED else run.skip
    return skip is not None and skip.at < event.timestamp


def _is_earlier(event: Event, first: str, second: str) -> bool:
    return instant(event.detail[first]) < instant(event.detail[second])


def _within_budgets(run: Run, store: Store) -> Iterator[str]:
    if run.key.dry and run.status is Status.RUNNING and run.run_id not in (None, "dry-run"):
        yield f"I6: {run.key}: a dry run has a job"
    config = store.pipelines.find(run.key.pipeline_id)
    if config is not None and run.config_hash == config.config_hash:
        for name, used in _spent(run.spending).items():
            if not 0 <= used <= getattr(config.pipeline.job, f"max_{name}"):
                yield f"I5: {run.key}: the budget {name} is exceeded: {used}"
    granted = Counter(record.source for record in store.reruns.granted(run.key))
    for source, spent in _ACCOUNTS.items():
        if spent(run.spending) > granted[source]:
            yield f"I5: {run.key}: {source} paid for an attempt that was never granted"


def _spent(spending: Spending) -> dict[str, int]:
    return {name: getattr(spending, name) for name in spending.__struct_fields__}


#: The sources of attempts, and the budgets they spend.
_ACCOUNTS: dict[str, Callable[[Spending], int]] = {
    _JOB: lambda spending: spending.retries + spending.code_retries,
    RerunSource.DRIFT: lambda spending: spending.drift_reruns,
    RerunSource.MANUAL: lambda spending: spending.manual_reruns,
}

#: The events of deadlines, and the detail that names their moment.
_MOMENTS = {
    EventType.SLA_WARNING: "warningAt",
    EventType.SLA_BREACH: "breachAt",
    EventType.RELATIVE_SLA_WARNING: "warningAt",
    EventType.RELATIVE_SLA_BREACH: "breachAt",
    EventType.READINESS_MISSED: "readinessAt",
}

#: What is not told of a date that need not run.
_SILENCED = frozenset(
    {
        *_MOMENTS,
        EventType.SCHEDULE_MISSED,
        EventType.IRREGULAR_SCHEDULE_MISSED,
        EventType.SENSOR_DEADLINE_EXPIRED,
        EventType.TRIGGER_STARTED,
        EventType.TRIGGER_RECOVERED,
        EventType.LATE_DATA_ARRIVAL,
    }
)

_ONCE_PER_ATTEMPT = frozenset(
    {
        EventType.TRIGGER_STARTED,
        EventType.VALIDATION_PASSED,
        EventType.VALIDATION_EXHAUSTED,
        EventType.JOB_TRIGGERED,
        EventType.JOB_COMPLETED,
        EventType.JOB_FAILED,
        EventType.JOB_POLL_EXHAUSTED,
        EventType.RUN_CANCELLED,
        EventType.SFN_TIMEOUT,
    }
)
