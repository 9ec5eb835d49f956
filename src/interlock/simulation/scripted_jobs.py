"""Scripted jobs: the outside workloads, doing what the scenario says at each launch."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError
from interlock.ports.engine import Clock
from interlock.simulation.scenario import JobResult, JobScript


class SimulatedJob(msgspec.Struct):
    """A job that really started."""

    pipeline: str
    schedule: str
    date: str
    attempt: int
    token: str
    at: datetime
    script: JobScript
    cancelled: bool = False

    @property
    def ends_at(self) -> datetime | None:
        return None if self.script.hang else self.at + duration.parse(self.script.after)


class ScriptedJobs:
    """It outlives every crash of the controller, as the world does."""

    def __init__(
        self,
        scripts: Mapping[str, tuple[JobScript, ...]],
        clock: Clock,
        rest: Callable[[timedelta], None] = lambda span: None,
    ) -> None:
        """`rest` lets time pass for its caller only."""
        self._rest = rest
        self._scripts = scripts
        self._clock = clock
        self._calls: dict[str, int] = defaultdict(int)
        self._by_token: dict[str, SimulatedJob] = {}
        self._ends: list[tuple[datetime, int]] = []
        self.launches: list[SimulatedJob] = []

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        script = self._next(pipeline.id)
        half = duration.parse(script.launch_takes) / 2
        self._rest(half)
        if script.launch is not None:
            category = script.category or Category.TRANSIENT
            self._rest(half)
            raise LaunchError(category, script.error or "the launch failed")
        started = SimulatedJob(
            context.pipeline,
            context.schedule,
            context.label,
            context.attempt,
            context.token,
            self._clock(),
            script,
        )
        self._by_token.setdefault(started.token, started)
        if started.ends_at is not None:
            heapq.heappush(self._ends, (started.ends_at, len(self.launches)))
        self.launches.append(started)
        self._rest(half)
        return _launched(started)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        launch = self._by_token.get(context.token)
        return Absent() if launch is None else _launched(launch)

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        launch = self._by_token[metadata["token"]]
        half = duration.parse(launch.script.poll_takes) / 2
        self._rest(half)
        answer = self._seen(launch)
        self._rest(half)
        return answer

    def _seen(self, launch: SimulatedJob) -> Running | Succeeded | Failed:
        ends_at, script = launch.ends_at, launch.script
        if ends_at is None or self._clock() < ends_at:
            return Running()
        if script.result is JobResult.SUCCESS:
            return Succeeded(ended_at=ends_at)
        return Failed(script.category, script.error or "the job failed", ended_at=ends_at)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        """A scripted job ignores it; the request is recorded."""
        launch = self._by_token.get(metadata.get("token", ""))
        if launch is not None:
            launch.cancelled = True
        return False

    def next_end(self) -> datetime | None:
        """When the next job ends by itself."""
        return self._ends[0][0] if self._ends else None

    def ended(self, now: datetime) -> list[SimulatedJob]:
        """The jobs that have ended by now, each reported once."""
        found = []
        while self._ends and self._ends[0][0] <= now:
            found.append(self.launches[heapq.heappop(self._ends)[1]])
        return found

    def _next(self, pipeline_id: str) -> JobScript:
        """Each launch uses up one entry; the last one repeats."""
        scripts = self._scripts.get(pipeline_id) or (JobScript(),)
        call = self._calls[pipeline_id]
        self._calls[pipeline_id] += 1
        return scripts[min(call, len(scripts) - 1)]


def _launched(launch: SimulatedJob) -> Launched:
    return Launched(f"job-{launch.token[3:15]}", {"token": launch.token})
