"""AWS place: a project whose interlock.toml names an installation that moto keeps."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from aws.functions import function_home
from aws.gallery import name_installation
from aws.homes import Services, client, moto_services
from contracts.samples import wanted
from declared import declared
from interlock.cli import app
from interlock.domain.run import Run, Status
from interlock.lambdas import stream_router
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.advance_backfill import advance_backfill
from interlock.usecases.judge_rerun import judge_rerun
from interlock.wiring.aws_backend import open_aws_backend
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function
from interlock.wiring.clock import utc_now

ORDERS = "validation: {rules: [{key: orders, check: gte, field: count, value: 10}]}"
_DONE = (Status.TRIGGERING, Status.RUNNING, Status.COMPLETED)


@dataclass
class AwsPlace:
    """Commands are run as a person would run them; `home` is what they find."""

    folder: Path
    services: Services
    home: AwsBackend = field(init=False)
    today: str = field(init=False)

    def __post_init__(self) -> None:
        self.home = open_aws_backend(self.folder, os.environ, make=client)
        self.today = f"{datetime.now(UTC):%Y-%m-%d}"

    def declare(self, text: str = ORDERS) -> str:
        """Bring a pipeline into force; its id."""
        pipeline = declared(text)
        self.home.store.pipelines.want(wanted(pipeline))
        adopt_config(pipeline.id, self.home.ports)
        return pipeline.id

    def run(self, *arguments: str) -> Result:
        given = ["--project", str(self.folder), "--backend", "aws", *arguments]
        return CliRunner().invoke(app, given)

    def shown(self, *arguments: str, code: int = 0) -> str:
        result = self.run(*arguments)
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    def json(self, *arguments: str, code: int = 0) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout)

    def json_of_any(self, *arguments: str) -> Any:
        """Whatever its exit code."""
        return json.loads(self.run(*arguments, "--json").stdout)

    def be_in_force_since(self, pipeline_id: str, **ago: float) -> None:
        """As if the file had been adopted then."""
        home = open_aws_backend(self.folder, os.environ, make=client)  # it remembers no older one
        config = home.store.pipelines.find(pipeline_id)
        assert config is not None
        since = datetime.now(UTC) - timedelta(**ago)
        changed = msgspec.structs.replace(
            config, version=config.version + 1, active_since=since, standings={}
        )
        assert home.store.pipelines.save(changed)

    def route(self) -> None:
        """The stream brings what was written to its function."""
        router = function_home(Function.STREAM_ROUTER, self.services, utc_now)
        records = self.services.records(router.settings.control_table)
        answer = stream_router.handle({"Records": records}, None, router)
        assert answer == {"batchItemFailures": []}

    @contextmanager
    def functions_at_work(self) -> Iterator[None]:
        """Every request is judged, and every run is done at once."""
        router = function_home(Function.STREAM_ROUTER, self.services, utc_now)
        stop = Flag()
        thread = Thread(target=_repeat, args=(lambda: _act(router), stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(60)


@contextmanager
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsPlace]:
    """A place with the pipeline `silver-orders` in force."""
    name_installation(folder)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with moto_services(utc_now) as services:
        place = AwsPlace(folder, services)
        place.declare()
        yield place


def _repeat(act: Callable[[], None], stop: Flag) -> None:
    while not stop.wait(0.05):
        act()


def _act(home: AwsBackend) -> None:
    home.begin()
    for request in home.ports.reruns.unjudged():
        judge_rerun(request, home.ports)
    for run in home.store.runs.active():
        _finish(run, home)
    for backfill in home.ports.backfills.unsettled():
        advance_backfill(backfill.id, home.ports)


def _finish(run: Run, home: AwsBackend) -> None:
    for status in _DONE:
        run = run.to(status, home.ports.clock())
        assert home.store.runs.save(run)
