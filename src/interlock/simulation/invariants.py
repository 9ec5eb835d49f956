"""Invariants: what must hold after every step, whatever the scenario expects."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from interlock.adapters.sqlite.store import Store
from interlock.domain import duration
from interlock.domain.pipeline import Pipeline
from interlock.domain.previous_date import previous_key
from interlock.domain.rules import judge_date
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.ports.engine import Clock
from interlock.simulation.backfill_invariants import BackfillInvariants
from interlock.simulation.edited_schedules import EditedSchedules
from interlock.simulation.event_invariants import EventInvariants
from interlock.simulation.promptness import Promptness
from interlock.simulation.scripted_jobs import ScriptedJobs, SimulatedJob
from interlock.simulation.timer_invariants import EndedTimers, HandledOccurrences
from interlock.simulation.true_verdicts import TrueVerdicts

_MANY = 10_000

#: By then everything that failed has been retried.
_TRIED_AGAIN = timedelta(seconds=10)


class Invariants:
    """Checks the store from outside, and remembers how far it has checked."""

    def __init__(
        self, store: Store, jobs: ScriptedJobs, clock: Clock, every: timedelta | None = None
    ) -> None:
        """`every` is the cadence of the watchdog; without it, promptness is not checked."""
        self.store = store
        #: Since when the controller has been up and no call to the outside has failed.
        self.calm_since = clock()
        self.broken: list[str] = []
        self._jobs = jobs
        self._clock = clock
        self._looked_at: object = None
        self._seen_launches = 0
        self._tokens: set[str] = set()
        self._told = EventInvariants()
        self._verdicts = TrueVerdicts(jobs)
        self._timers = EndedTimers()
        self._edits = EditedSchedules()
        self._backfills = BackfillInvariants()
        self._occurrences = HandledOccurrences(self._edits)
        self._promptness = None if every is None else Promptness(every, jobs)

    def check_step(self) -> None:
        """After every step of the controller: judges just what the step has added."""
        stamp = self.store.database.commits, len(self._jobs.launches)
        if stamp == self._looked_at:
            return
        self._looked_at = stamp
        self.broken += self._launched()
        self.broken += self._told.check(self.store)
        self.broken += self._verdicts.check(self.store)
        self.broken += self._timers.check(self.store)
        self.broken += self._edits.check(self.store)
        self.broken += self._backfills.check(self.store)
        self.broken += self._occurrences.check(self.store)

    def note_raised(self, error: Exception) -> None:
        """A step must handle every error itself; an exception that escapes it is a defect."""
        self.broken.append(f"I0: a step raised {type(error).__name__}: {error}")

    def check_rest(self) -> None:
        """When the controller has done what it does now: judges what it has left."""
        if self._promptness is not None:
            now = self._clock()
            self.broken += self._promptness.check(self.store, self.calm_since, now)

    def check_end(self, is_down: bool = False) -> None:
        """What can be checked only at the end; little of it for a controller that is down then, or whose
        calls have failed just now.
        """
        self._looked_at = None
        self.check_step()
        now = self._clock()
        if not is_down and now - self.calm_since >= _TRIED_AGAIN:
            self.broken += self._timers.overdue(now)
            for event in self.store.outbox.leftovers(now):
                self.broken.append(f"I7: {event.event_id} was stored and never published")

    def _launched(self) -> Iterator[str]:
        for launch in self._jobs.launches[self._seen_launches :]:
            if launch.token in self._tokens:
                yield f"I2: more than one job was launched under {launch.token}"
            self._tokens.add(launch.token)
            yield from self._is_proven(launch)
            yield from self._has_a_place(launch)
        self._seen_launches = len(self._jobs.launches)

    def _is_proven(self, launch: SimulatedJob) -> Iterator[str]:
        key = RunKey(launch.pipeline, launch.schedule, launch.date)
        run = self.store.runs.find([key]).get(key)
        config = self.store.pipelines.find(launch.pipeline)
        if run is None and config is not None and config.pipeline.dry_run:
            yield f"I6: {key}: a dry run was launched"
        elif run is None or config is None:
            yield f"I1: {key} was launched without a run"
        elif run.attempt != launch.attempt:
            return  # it has moved on since; what was recorded of it is gone
        elif run.verdict is None or not run.verdict.ready:
            yield f"I1: {key} attempt {run.attempt} was launched without a passing verdict"
        elif run.config_hash == config.config_hash and not self._satisfies(run, run.verdict.at):
            yield f"I1: {key}: the evidence does not satisfy the rules"

    def _has_a_place(self, launch: SimulatedJob) -> Iterator[str]:
        """No more runs of a pipeline have a job at once than its file allows."""
        config = self.store.pipelines.find(launch.pipeline)
        most = None if config is None else config.pipeline.job.max_concurrent
        if config is None or most is None:
            return
        busy = [
            run
            for run in self.store.runs.of_pipeline(launch.pipeline, "0000", "9999", _MANY)
            if run.status in (Status.TRIGGERING, Status.RUNNING) and not run.key.dry
        ]
        alike = all(run.config_hash == config.config_hash for run in busy)
        if alike and len(busy) > most:
            dates = ", ".join(run.key.date for run in busy)
            yield f"I5: {launch.pipeline} may run {most} at once, but runs {dates}"

    def _satisfies(self, run: Run, at: datetime) -> bool:
        config = self.store.pipelines.find(run.key.pipeline_id)
        assert config is not None
        pipeline = config.pipeline
        schedule = pipeline.schedule(run.key.schedule_id)
        readings = {
            key: Reading(run.key.pipeline_id, seen.key, seen.fields, at - _stands(pipeline, key))
            for key, seen in run.evidence.items()
        }
        return judge_date(pipeline, schedule, readings, at, run.verdict).ready


def _stands(pipeline: Pipeline, key: str) -> timedelta:
    """How long a reading must have stood for its rules; the evidence does not say when it came."""
    spans = [
        duration.parse(rule.stable_for)
        for rule in pipeline.validation.every_rule
        if rule.stable_for is not None and key in (*rule.keys, previous_key(rule.key))
    ]
    return max(spans, default=timedelta(0))
