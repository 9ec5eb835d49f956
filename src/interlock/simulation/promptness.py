"""Promptness: what is due is done soon, while the controller is up and the outside responds (I9).

It looks at the store from outside, once per pass, and determines for itself what is due: the watchdog can't
hide what it fails to check.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import msgspec

from interlock.adapters.sqlite.rows import instant
from interlock.adapters.sqlite.store import Store
from interlock.domain.config import Config
from interlock.domain.launch import launch_of
from interlock.domain.opening import instants
from interlock.domain.run import EngineState, Run, RunKey
from interlock.domain.sla import BREACHES
from interlock.lifecycle.polling import LONGEST
from interlock.runtime.loop import ROUTER
from interlock.simulation.backfill_invariants import backfills_with_room
from interlock.simulation.scripted_jobs import ScriptedJobs, SimulatedJob
from interlock.simulation.waiting_readings import WaitingReadings
from interlock.usecases.job_ending import ending_of

#: How long the ordinary path may take before the watchdog steps in.
GRACE = timedelta(minutes=2)
_MANY = 1000


class Obligation(msgspec.Struct, frozen=True):
    """Something that should be done, and since when."""

    what: str
    since: datetime
    #: How long it may take in addition to the passes.
    grace: timedelta = GRACE


class StoreView(msgspec.Struct):
    """One look at the store."""

    store: Store
    now: datetime
    configs: dict[str, Config]
    active: list[Run]
    #: Since when a pipeline has been in force and not paused, as far as was seen.
    served: dict[str, datetime]

    def since(self, key: RunKey, at: datetime) -> datetime | None:
        """Since when the controller has been obliged to do what fell due then; None while it is not."""
        config = self.configs.get(key.pipeline_id)
        if at > self.now or key.pipeline_id not in self.served or key.dry or config is None:
            return None
        if config.pipeline.dry_run or not config.pipeline.has_schedule(key.schedule_id):
            return None
        return max(at, self.served[key.pipeline_id])


class Promptness:
    """Remembers what it has seen to be due."""

    def __init__(self, every: timedelta, jobs: ScriptedJobs) -> None:
        self._every = every
        self._jobs = _EndedJobs(jobs)
        self._readings = WaitingReadings()
        self._looked_at: datetime | None = None
        self._served: dict[str, datetime] = {}
        self._first: dict[str, datetime] = {}
        self._broken: set[str] = set()

    def check(self, store: Store, calm_since: datetime, now: datetime) -> Iterator[str]:
        """`calm_since`: since when the controller has been up and no call to the outside has failed."""
        if self._looked_at is not None and now - self._looked_at < self._every:
            return
        self._looked_at = now
        for due in self._all(self._look(store, now)):
            late = now - max(due.since, calm_since)
            if late > 2 * self._every + due.grace and due.what not in self._broken:
                self._broken.add(due.what)
                yield f"I9: {due.what} was due at {due.since} and has not been done"

    def _look(self, store: Store, now: datetime) -> StoreView:
        configs = {config.pipeline.id: config for config in store.pipelines.in_force()}
        working = [name for name, config in configs.items() if not config.is_paused(now)]
        self._served = {name: self._served.get(name, now) for name in working}
        return StoreView(store, now, configs, store.runs.active(), self._served)

    def _all(self, view: StoreView) -> Iterator[Obligation]:
        yield from self._jobs.due(view)
        yield from self._first_seen(view)
        for find in FINDERS:
            yield from find(view)
        last = view.store.watch.load().last_pass_at
        if last is not None:
            yield Obligation("the next pass of the watchdog", last + self._every)

    def _first_seen(self, view: StoreView) -> Iterator[Obligation]:
        """What has no due time of its own is due since it was first seen here."""
        readings = self._readings.find(view.store, view.configs, view.served, view.now)
        # a timer may have been armed for a moment that was over
        timers = (f"the timer {t.name}" for t in view.store.timers.due(view.now, _MANY))
        seen = {
            *_unattended(view),
            *backfills_with_room(view.store, view.served),
            *(f"the reading {place}" for place in readings),
            *timers,
        }
        self._first = {what: self._first.get(what, view.now) for what in seen}
        return (Obligation(what, since) for what, since in self._first.items())


class _EndedJobs:
    """Jobs that have ended, until their end is recorded."""

    def __init__(self, jobs: ScriptedJobs) -> None:
        self._jobs = jobs
        self._seen = 0
        self._open: list[SimulatedJob] = []

    def due(self, view: StoreView) -> Iterator[Obligation]:
        launches = self._jobs.launches
        self._open += launches[self._seen :]
        self._seen = len(launches)
        self._open = [launch for launch in self._open if _is_open(launch, view.store)]
        for launch in self._open:
            if launch.ends_at is not None and launch.ends_at <= view.now:
                yield Obligation(f"the end of the job of {_key(launch)}", launch.ends_at, LONGEST)


def _is_open(launch: SimulatedJob, store: Store) -> bool:
    run = store.runs.find([_key(launch)]).get(_key(launch))
    return run is not None and run.attempt == launch.attempt and run.is_open


def _key(launch: SimulatedJob) -> RunKey:
    return RunKey(launch.pipeline, launch.schedule, launch.date)


def _unattended(view: StoreView) -> Iterator[str]:
    """Open runs that no execution works on."""
    for run in view.active:
        if not run.is_open:
            continue
        if view.store.workflows.describe(run.execution_name) is not EngineState.RUNNING:
            yield f"an execution of {run.key}, attempt {run.attempt},"


def _ended_by_themselves(view: StoreView) -> Iterator[Obligation]:
    """Jobs that have written their own end into the job log."""
    for run in view.active:
        launch = launch_of(run)
        ending = launch and ending_of(launch, view.store.job_log.of_run(run.key))
        if launch and ending:
            since = max(ending.at, launch.launched_at)
            yield Obligation(f"the end that the job of {run.key} has logged", since, LONGEST)


def _retries(view: StoreView) -> Iterator[Obligation]:
    for run in view.active:
        since = view.since(run.key, run.retry_at) if run.awaits_retry and run.retry_at else None
        if since is not None:
            yield Obligation(f"the retry of {run.key}, attempt {run.attempt},", since)


def _deadlines(view: StoreView) -> Iterator[Obligation]:
    for run in view.active:
        for kind, at in instants(run).items():
            since = view.since(run.key, at) if kind in BREACHES and not run.sla_verdict else None
            if since is None or view.configs[run.key.pipeline_id].pipeline.sla is None:
                continue
            if not _passed_while_away(run, at, view.configs[run.key.pipeline_id]):
                yield Obligation(f"the {kind} of {run.key}", since)


def _passed_while_away(run: Run, at: datetime, config: Config) -> bool:
    """A retired pipeline has no deadlines until it returns, which makes it new."""
    return run.opened_at < config.active_since and at < config.active_since


def _half_done(view: StoreView) -> Iterator[Obligation]:
    for run in view.store.runs.due(view.now):
        if run.is_unfinished:
            yield Obligation(f"what follows from the completion of {run.key}", run.changed_at)


def _requests(view: StoreView) -> Iterator[Obligation]:
    for request in view.store.reruns.unjudged():
        name = request.key.pipeline_id
        if name not in view.configs or name in view.served:  # else it is paused
            since = max(request.requested_at, view.served.get(name, request.requested_at))
            yield Obligation(f"the rerun of {request.key} requested at {request.id}", since)


def _events(view: StoreView) -> Iterator[Obligation]:
    rows = view.store.database.read(
        lambda connection: connection.execute("SELECT event_id, at FROM outbox").fetchall()
    )
    for event_id, at in rows:
        yield Obligation(f"publishing {event_id}", instant(at))


def _alerts(view: StoreView) -> Iterator[Obligation]:
    for delivery in view.store.deliveries.due(view.now, _MANY):
        yield Obligation(f"the alert of {delivery.event.event_id}", delivery.due_at)


def _files(view: StoreView) -> Iterator[Obligation]:
    for wanted in view.store.pipelines.unadopted():
        yield Obligation(f"the new file of {wanted.pipeline_id}", wanted.wanted_at)


def _changes(view: StoreView) -> Iterator[Obligation]:
    for change in view.store.changes.next(ROUTER, _MANY):
        yield Obligation(f"the change {change.id} of {change.pipeline_id}", change.at)
    for parked in view.store.changes.parked_due(ROUTER, view.now):
        yield Obligation(f"the parked change {parked.change.id}", parked.next_try_at or parked.at)


def _steps(view: StoreView) -> Iterator[Obligation]:
    agenda = view.store.agenda.look()
    if agenda.next_wake is not None and agenda.next_wake <= view.now:
        yield Obligation("the next step of an execution", agenda.next_wake)


#: Everything that can be due besides jobs, executions, readings and timers.
FINDERS: tuple[Callable[[StoreView], Iterator[Obligation]], ...] = (
    _ended_by_themselves,
    _retries,
    _deadlines,
    _half_done,
    _requests,
    _events,
    _alerts,
    _files,
    _changes,
    _steps,
)
