"""Jobs of every type in the hands of the lifecycle: started once, whatever dies, and no secret told."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.cloud_worlds import LambdaWorld
from adapters.jobs.job_samples import CANARY, a_job, now, soon, surroundings
from adapters.jobs.kinds import Kind
from adapters.jobs.stand_in import Reply, StandIn
from adapters.jobs.worlds import World
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.jobs.by_type import JobsByType
from interlock.domain import canonical
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, Status, job_token
from interlock.errors import LaunchError, TransientError
from interlock.simulation.faults import Crash
from interlock.usecases.ports import Ports
from usecases.home import KEY, Home

TOKEN = job_token("interlock", KEY, 0)


class DyingRuns:
    """The controller dies before it can write down that a job runs."""

    def __init__(self, runs: Any) -> None:
        self._runs = runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def save(self, run: Run, *events: Any, **more: Any) -> bool:
        if run.status is Status.RUNNING:
            raise Crash
        saved: bool = self._runs.save(run, *events, **more)
        return saved


class Controller:
    """A run whose rules hold, and the modes that come next."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.home = Home(now())
        self.home.adopt()
        self.home.admit()
        self.home.mode("evaluate")
        self.config = canonical.as_json(pipeline)

    def trigger(self, jobs: JobsByType) -> None:
        self._mode("trigger", self._ports(jobs))

    def die_after_launch(self, jobs: JobsByType) -> None:
        ports = replace(self._ports(jobs), runs=DyingRuns(self.home.store.runs))
        with pytest.raises(Crash):
            self._mode("trigger", ports)
        assert self.home.run().status is Status.TRIGGERING

    def check(self, jobs: JobsByType) -> Any:
        self.home.clock.now = now()
        return self._mode("check-job", self._ports(jobs))

    def rows(self) -> str:
        return self.home.database.read(lambda connection: "\n".join(connection.iterdump()))

    def _ports(self, jobs: JobsByType) -> Ports:
        return self.home.with_ports(jobs=JobsByPipeline(jobs))

    def _mode(self, name: str, ports: Ports) -> Any:
        return self.home.mode(name, ports=ports, config=self.config)


def test_a_death_between_launch_and_row_starts_no_second_job(world: World, kind: Kind) -> None:
    controller = Controller(world.pipeline("hang"))
    controller.die_after_launch(world.jobs())
    controller.trigger(world.jobs())
    run = controller.home.run()
    assert run.status is Status.RUNNING and run.run_id
    soon(lambda: world.starts(TOKEN))
    # who can't be asked is asked to start again: the type's page says so
    assert world.starts(TOKEN) == (1 if kind.promises.findable else 2)


def test_no_secret_is_in_rows_events_logs_or_errors(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    controller = Controller(world.pipeline("say-secret"))
    controller.trigger(world.jobs())
    answer = soon(lambda: _told(controller, world.jobs()))
    told = controller.rows() + repr(answer) + caplog.text + repr(caplog.records)
    assert "***" in told
    for spelling in (CANARY, json.dumps(CANARY)[1:-1], "canary-7f3a"):
        assert spelling not in told


def _told(controller: Controller, jobs: JobsByType) -> Any:
    """What the run or its job log says of the job, once it says something."""
    answer = controller.check(jobs)
    return answer if answer["event"] or controller.home.run().job_unseen else None


# --- those that can't be asked --------------------------------------------------------------------


def careful(job: Pipeline) -> Pipeline:
    config = {**job.job.config, "atMostOnce": True}
    return msgspec.structs.replace(job, job=msgspec.structs.replace(job.job, config=config))


def test_a_function_that_may_have_been_called_is_not_called_again(tmp_path: Path) -> None:
    world = LambdaWorld(surroundings(tmp_path))
    controller = Controller(careful(world.pipeline("succeed")))
    controller.die_after_launch(world.jobs())
    with pytest.raises(LaunchError, match="outcome unknown, not repeated") as raised:
        controller.trigger(world.jobs())
    assert raised.value.category == "PERMANENT"
    assert world.starts(TOKEN) == 1


def test_a_request_that_may_have_arrived_is_not_sent_again(
    tmp_path: Path, stand_in: StandIn
) -> None:
    stand_in.plan("/jobs/succeed", Reply(None, after=True))  # started, and the answer is lost
    pipeline = careful(a_job("http", url=f"{stand_in.url}/jobs/succeed"))
    controller = Controller(pipeline)
    jobs = JobsByType(surroundings(tmp_path))
    with pytest.raises(TransientError):
        controller.trigger(jobs)
    controller.home.pass_time(seconds=30)
    with pytest.raises(LaunchError, match="outcome unknown, not repeated"):
        controller.trigger(jobs)
    assert len(stand_in.seen) == 1
