"""Fleet: many pipelines in force on the services' stand-ins, and what the passes over them ask for."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from aws.functions import function_home
from aws.homes import quick_services
from declared import declared
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.domain.opening import Opening, first_attempt
from interlock.domain.run import OpenedBy, RunKey
from interlock.domain.sensor import Reading
from interlock.lambdas import watchdog
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.start_run import start_run
from interlock.wiring.aws_settings import Function

#: The hour's deadline has passed or is far when passes are counted; no day ends, either.
BEGIN = datetime(2026, 3, 3, 8, 20, tzinfo=UTC)
EVERY = timedelta(minutes=5)
_DAILY = 'schedule: {trigger: {key: landed, check: exists}}\nsla: {deadline: "23:00"}'
_HOURLY = 'schedule: {trigger: {key: landed, check: exists}}\nsla: {deadline: ":45"}'


class Fleet:
    """`hourly` of them have a deadline every hour; all wait for readings."""

    def __init__(self, daily: int, hourly: int) -> None:
        self.clock = VirtualClock(BEGIN)
        self._services = quick_services(self.clock)
        self.calls = Counter[str]()
        router = function_home(Function.STREAM_ROUTER, self._services, self.clock)
        self._ports = router.ports
        self._names = [f"p{n:04}" for n in range(daily + hourly)]
        for n, name in enumerate(self._names):
            config = canonical.as_json(
                declared(f"pipeline: {{id: {name}}}\n{_DAILY if n < daily else _HOURLY}")
            )
            wanted = Wanted(name, config, canonical.content_hash(config), self.clock())
            router.ports.pipelines.want(wanted)
            adopt_config(name, router.ports)
        self._watchdog = function_home(
            Function.WATCHDOG,
            self._services,
            self.clock,
            wrap=lambda service, client: _Counted(client, service, self.calls),
        )

    def report(self, since: datetime, until: datetime) -> None:
        """A reading of every pipeline for every day between the two, as producers leave them behind."""
        day = since
        while day < until:
            for name in self._names:
                key = f"landed#{day:%Y-%m-%d}"
                self._ports.sensors.put(Reading(name, key, {"count": 1}, day))
            day += timedelta(days=1)

    def open_runs(self) -> None:
        """A run of every pipeline, whose execution is at work."""
        for name in self._names:
            key = RunKey(name, "stream", f"{BEGIN:%Y-%m-%d}")
            config = self._ports.pipelines.find(name)
            assert config is not None
            opening = Opening(key, OpenedBy.SENSOR, "", BEGIN)
            run = first_attempt(opening, config, self._ports.lease)
            assert self._ports.runs.open(msgspec.structs.replace(run, started_at=BEGIN))
            start_run(run, config.pipeline, self._ports)

    def passes(self, number: int) -> list[Counter[str]]:
        """The requests of each of this many passes."""
        return [self._pass() for _ in range(number)]

    def _pass(self) -> Counter[str]:
        self.clock.now += EVERY
        self.calls.clear()
        answer = watchdog.handle({}, None, self._watchdog)
        assert answer["leftOut"] == 0
        return Counter(self.calls)


class _Counted:
    def __init__(self, client: Any, service: str, calls: Counter[str]) -> None:
        self._client, self._service, self._calls = client, service, calls

    def __getattr__(self, operation: str) -> Any:
        self._calls[f"{self._service} {operation}"] += 1
        return getattr(self._client, operation)
