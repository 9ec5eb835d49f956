"""Invariants: what must hold after every step, whatever the scenario expects."""

from collections import Counter
from datetime import datetime

from interlock.adapters.local.store import Store
from interlock.adapters.local.timers import TimerState
from interlock.domain.admission import rule_keys
from interlock.domain.calendars import excluded
from interlock.domain.event import EventType
from interlock.domain.guards import Expected, missed_at
from interlock.domain.partition import Label
from interlock.domain.rules import judge
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.schedule import occurrences
from interlock.domain.sensor import Reading
from interlock.ports import Clock
from interlock.simulation.jobs import Launch, ScriptedJobs
from interlock.simulation.scenario import instant
from interlock.usecases.arm_cron import fires


class Invariants:
    """Looks at the store from outside and remembers what it has seen."""

    def __init__(self, store: Store, jobs: ScriptedJobs, clock: Clock) -> None:
        self.store = store
        self.broken: list[str] = []
        self._jobs = jobs
        self._clock = clock
        self._seen_launches = 0

    def check_step(self) -> None:
        """Cheap enough for every step: looks only at what is new."""
        for launch in self._jobs.launches[self._seen_launches :]:
            self._launched(launch)
        self._seen_launches = len(self._jobs.launches)

    def check_end(self, is_down: bool = False) -> None:
        """What can only be said when the story is over; not much of a controller that is down then."""
        self._one_job_per_attempt()
        self._budgets_hold()
        if not is_down:
            self._timers_end_once()
            self._occurrences_end()
            self._told_once()

    def _launched(self, launch: Launch) -> None:
        key = RunKey(launch.pipeline, launch.schedule, launch.date)
        run = self.store.runs.find([key]).get(key)
        config = self.store.pipelines.find(launch.pipeline)
        if run is None and config is not None and config.pipeline.dry_run:
            self._break("I6", f"{key}: a dry run was launched")
            return
        if run is None or config is None:
            self._break("I1", f"{key} was launched without a run")
            return
        if run.attempt != launch.attempt:
            return  # it has moved on since; what was recorded of it is gone
        if run.verdict is None or not run.verdict.ready:
            self._break("I1", f"{key} attempt {run.attempt} was launched without a passing verdict")
        elif run.config_hash == config.config_hash:
            self._evidence_satisfies(run, run.verdict.at)

    def _evidence_satisfies(self, run: Run, at: datetime) -> None:
        config = self.store.pipelines.find(run.key.pipeline_id)
        assert config is not None
        rules = config.pipeline.validation
        readings = {
            key: Reading(run.key.pipeline_id, seen.key, seen.fields, at)
            for key, seen in run.evidence.items()
            if key in rule_keys(config.pipeline)
        }
        if not judge(rules.rules, readings, at, rules.trigger).ready:
            self._break("I1", f"{run.key}: the evidence does not satisfy the rules")

    def _one_job_per_attempt(self) -> None:
        tokens = Counter(launch.token for launch in self._jobs.launches)
        for token, count in tokens.items():
            if count > 1:
                self._break("I2", f"{count} jobs were launched under {token}")

    def _timers_end_once(self) -> None:
        open_: dict[tuple[str, datetime], int] = {}
        for note in self.store.timers.log():
            armed = (note.name, note.due_at)
            change = 1 if note.state is TimerState.ARMED else -1
            open_[armed] = open_.get(armed, 0) + change
            if open_[armed] not in (0, 1):
                self._break("I3", f"timer {note.name} ended more than once, or was armed twice")
        now = self._clock()
        for (name, due_at), count in open_.items():
            if count and due_at < now:
                self._break("I3", f"timer {name} was due at {due_at} and has not ended")

    def _occurrences_end(self) -> None:
        """Every moment that is over ended as a run, excluded, or reported; or it is named as one that
        nobody watched.
        """
        now = self._clock()
        state = self.store.watch.load()
        looked_until = min(now, state.last_ok_at or now)
        for config in self.store.pipelines.in_force():
            if config.pipeline.dry_run or config.paused_since is not None:
                continue
            for schedule in config.pipeline.schedules:
                if not fires(schedule):
                    continue
                since = max(config.active_since, config.adopted_at)
                self._schedule_ends(config.pipeline.id, schedule.id, since, looked_until)

    def _schedule_ends(
        self, pipeline_id: str, schedule_id: str, since: datetime, until: datetime
    ) -> None:
        config = self.store.pipelines.find(pipeline_id)
        assert config is not None
        schedule, unwatched = config.pipeline.schedule(schedule_id), self._not_watched()
        for moment in occurrences(schedule, config.pipeline.calendars, since, until):
            day = Label.parse(moment.date).day
            if excluded(schedule, config.pipeline.calendars, day) is not None:
                continue
            if missed_at(schedule, Expected(moment.date, moment.due_at)) >= until:
                continue
            if any(begin <= moment.due_at < end for begin, end in unwatched):
                continue
            key = RunKey(pipeline_id, schedule_id, moment.date)
            if key in self.store.runs.find([key]):
                continue
            told = {event.type for event in self.store.events.of_run(key)}
            if not told & {EventType.SCHEDULE_MISSED, EventType.IRREGULAR_SCHEDULE_MISSED}:
                self._break("I4", f"{key} was expected and nobody said what became of it")

    def _not_watched(self) -> list[tuple[datetime, datetime]]:
        """The spans that the watchdog has told it could not look back on."""
        told = self.store.events.newest(kind=EventType.WATCHDOG_RECOVERED, limit=10_000)
        return [
            (instant(event.detail["from"]), instant(event.detail["notWatched"]))
            for event in told
            if "notWatched" in event.detail
        ]

    def _budgets_hold(self) -> None:
        for run in self.store.runs.of_pipeline(None, "0000", "9999", 1_000_000):
            config = self.store.pipelines.find(run.key.pipeline_id)
            if config is None or run.config_hash != config.config_hash:
                continue
            job, spent = config.pipeline.job, run.spending
            limits = (
                (spent.retries, job.max_retries),
                (spent.code_retries, job.max_code_retries),
                (spent.drift_reruns, job.max_drift_reruns),
                (spent.manual_reruns, job.max_manual_reruns),
            )
            if any(not 0 <= used <= most for used, most in limits):
                self._break("I5", f"{run.key}: a budget is exceeded: {spent}")
            if run.key.dry and run.status is Status.RUNNING and run.run_id not in (None, "dry-run"):
                self._break("I6", f"{run.key}: a dry run has a job")

    def _told_once(self) -> None:
        """Nothing waits untold, and no state change is told under two ids."""
        for event in self.store.outbox.leftovers(self._clock()):
            self._break("I7", f"{event.event_id} was stored and never told")
        events = [told.event for told in self.store.events.after(0, 1_000_000)]
        once = Counter(
            (e.type, e.pipeline_id, e.schedule_id, e.date, e.attempt)
            for e in events
            if e.type in _ONCE_PER_ATTEMPT
        )
        for facts, count in once.items():
            if count > 1:
                self._break("I7", f"{facts} was told {count} times")

    def _break(self, invariant: str, what: str) -> None:
        self.broken.append(f"{invariant}: {what}")


_ONCE_PER_ATTEMPT = frozenset(
    {
        EventType.TRIGGER_STARTED,
        EventType.VALIDATION_PASSED,
        EventType.VALIDATION_EXHAUSTED,
        EventType.JOB_TRIGGERED,
        EventType.JOB_COMPLETED,
        EventType.JOB_FAILED,
        EventType.JOB_POLL_EXHAUSTED,
        EventType.SFN_TIMEOUT,
    }
)
