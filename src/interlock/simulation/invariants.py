"""Invariants: what must hold after every step, whatever the scenario expects."""

from collections.abc import Iterator
from datetime import datetime

from interlock.adapters.local.store import Store
from interlock.domain.admission import rule_keys
from interlock.domain.rules import judge
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.ports import Clock
from interlock.simulation.jobs import Launch, ScriptedJobs
from interlock.simulation.moments import EndedTimers, HandledOccurrences
from interlock.simulation.telling import Told


class Invariants:
    """Looks at the store from outside, and remembers how far it has looked."""

    def __init__(self, store: Store, jobs: ScriptedJobs, clock: Clock) -> None:
        self.store = store
        self.broken: list[str] = []
        self._jobs = jobs
        self._clock = clock
        self._looked_at: object = None
        self._seen_launches = 0
        self._tokens: set[str] = set()
        self._told = Told()
        self._timers = EndedTimers()
        self._occurrences = HandledOccurrences()

    def check_step(self) -> None:
        """After every step of the controller: judges just what the step has added."""
        stamp = self.store.database.commits, len(self._jobs.launches)
        if stamp == self._looked_at:
            return
        self._looked_at = stamp
        self.broken += self._launched()
        self.broken += self._told.check(self.store)
        self.broken += self._timers.check(self.store)
        self.broken += self._occurrences.check(self.store)

    def check_end(self, is_down: bool = False) -> None:
        """What can only be said when the story is over; not much of a controller that is down then."""
        self._looked_at = None
        self.check_step()
        if not is_down:
            now = self._clock()
            self.broken += self._timers.overdue(now)
            for event in self.store.outbox.leftovers(now):
                self.broken.append(f"I7: {event.event_id} was stored and never told")

    def _launched(self) -> Iterator[str]:
        for launch in self._jobs.launches[self._seen_launches :]:
            if launch.token in self._tokens:
                yield f"I2: more than one job was launched under {launch.token}"
            self._tokens.add(launch.token)
            yield from self._is_proven(launch)
        self._seen_launches = len(self._jobs.launches)

    def _is_proven(self, launch: Launch) -> Iterator[str]:
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

    def _satisfies(self, run: Run, at: datetime) -> bool:
        config = self.store.pipelines.find(run.key.pipeline_id)
        assert config is not None
        rules = config.pipeline.validation
        readings = {
            key: Reading(run.key.pipeline_id, seen.key, seen.fields, at)
            for key, seen in run.evidence.items()
            if key in rule_keys(config.pipeline)
        }
        return judge(rules.rules, readings, at, rules.trigger).ready
