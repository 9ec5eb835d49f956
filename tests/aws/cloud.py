"""Cloud: plays a scenario against the six functions, on stand-ins of the services and a virtual clock.

Streams bring batches to the router, Scheduler fires its entries, our interpreter stands for Step Functions,
rules bring events to the sink, and a schedule calls the watchdog. All of it is what is deployed, but for
the services themselves.
"""

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from aws.engine import ORCHESTRATOR, SLA_MONITOR, PlayedEngine, as_lambda_gets_it
from aws.functions import function_home
from aws.homes import NAMES, TARGETS, Services, passes_the_filters, quick_services
from aws.quick_services import QuickBus
from interlock.adapters.aws.keys import SENSOR
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.domain import canonical
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import InterlockError
from interlock.lambdas import event_sink, orchestrator, sla_monitor, stream_router, watchdog
from interlock.ports.jobs import Jobs
from interlock.simulation.faults import FailingJobs, Faults
from interlock.simulation.folder import Folder
from interlock.simulation.scenario import Call, FileEntry, Scenario, TimelineEntry
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.simulation.slow_calls import Crew
from interlock.simulation.virtual_clock import VirtualClock
from interlock.simulation.world import Outcome, World
from interlock.usecases.follow_files import take_away, want_files
from interlock.usecases.ports import Ports
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

T = TypeVar("T")

_BATCH = 10
#: A record that fails is tried so often, and then left to the watchdog.
_TRIES = 4
_PAUSES = tuple(timedelta(seconds=s) for s in (1, 2, 4))
#: How long Scheduler goes on trying.
_PATIENCE = timedelta(hours=1)
_SECOND = timedelta(seconds=1)


class Cloud(World):
    """The same stories, told to the other home."""

    def __init__(
        self,
        scenario: Scenario,
        wakes: bool = True,
        wrap: Callable[[Function, str, Any], Any] = lambda function, service, client: client,
        configs_kept: timedelta = timedelta(0),
    ) -> None:
        """`wakes`: whether what a run waits for is noticed at once, as locally; else by the next look.
        `wrap` may put something around the clients of a function.
        """
        self._scenario = scenario
        self._wakes = wakes
        self._wrap = wrap
        self._configs_kept = configs_kept
        self._clock = VirtualClock(scenario.start)
        self._faults = Faults()
        self._crew = Crew(self._clock)  # no worker rests here: every call is answered at once
        self._jobs = ScriptedJobs(scenario.jobs, self._clock)
        self._down_until = None
        self._configs_in_outage = []
        self._folder = Folder()
        self._on_quiet = lambda world: None
        self._invariants = _Nobody()  # type: ignore[assignment] # they look at the local store
        self._database = _Nobody()  # type: ignore[assignment] # there is none
        self._bus = deque[dict[str, Any]]()
        self._services = self._failing(quick_services(self._clock))
        tasks = {
            ORCHESTRATOR: lambda given: self._work(
                given["mode"], lambda: orchestrator.handle(given, None, self._orchestrator)
            ),
            SLA_MONITOR: lambda given: self._work(
                given["mode"], lambda: sla_monitor.handle(given, None, self._sla_monitor)
            ),
        }
        self.engine = PlayedEngine(self._engine_client, self._clock, tasks)
        self._streams = {name: _Stream() for name in (NAMES.control, NAMES.joblog)}
        self._again: dict[str, datetime] = {}
        self._next_pass = scenario.start
        self.routed = 0
        self.at_work = ""
        self._boot()

    # --- what World asks of a home

    def _boot(self) -> None:
        """New containers: they know only what is stored."""
        self._router = self._home(Function.STREAM_ROUTER)
        self._orchestrator = self._home(Function.ORCHESTRATOR, self._failing_jobs())
        self._sla_monitor = self._home(Function.SLA_MONITOR, self._failing_jobs())
        self._watchdog = self._home(Function.WATCHDOG, self._failing_jobs())
        self._sink = self._home(Function.EVENT_SINK)  # type: ignore[assignment] # of events
        self._store = self._router.store  # type: ignore[assignment] # the other home's
        self._ports = self._router.ports

    def _settle(self) -> None:
        if self._is_down():
            return
        while (
            self._deliver_events()
            or self._deliver_all()
            or self._deliver_ends()
            or self.engine.step()
            or self._fire_entries()
            or self._watch()
        ):
            pass

    def _move_to(self, moment: datetime) -> None:
        self._clock.now = max(self._clock.now, moment)
        if self._down_until is not None and self._clock.now >= self._down_until:
            self._back()
        for launch in self._jobs.ended(self._clock.now):
            if self._wakes and not self._is_down():
                self.engine.wake(launch.pipeline, WaitingFor.JOB)

    def _next_due(self) -> datetime | None:
        if self._is_down():
            return self._down_until
        moments = [
            self._next_pass,
            *self._again.values(),
            *(stream.again_at for stream in self._streams.values()),
            *(fires_at(entry) for entry in self._services.entries()),
            self.engine.next_due(),
            self._jobs.next_end() if self._wakes else None,
        ]
        ahead = [moment for moment in moments if moment is not None]
        return max(min(ahead), self._clock.now + timedelta(milliseconds=1)) if ahead else None

    def _change_file(self, entry: FileEntry, at: datetime) -> None:
        """An apply: deliberate, so at once, and never with half a file."""
        if entry.writing is not None:
            return
        super()._change_file(entry, at)
        want_files(self._folder.files, self._ports)
        config = self._store.pipelines.find(entry.remove) if entry.remove else None
        if config is not None:
            take_away(config.pipeline.id, config, at, self._ports)

    def _act_for_operator(self, entry: TimelineEntry) -> None:
        """As a command does it: timers that are due when they are armed are done at the end."""
        super()._act_for_operator(entry)
        self._watchdog.settle()

    def _operator_ports(self) -> Ports:
        """A command has the rights of its user, who may ask jobs to stop."""
        return self._watchdog.ports

    def _retire(self, name: str) -> None:
        """The apply has taken it away already."""

    def outcome(self) -> Outcome:
        return Outcome(
            events=sorted(self._events_log().newest(limit=1_000_000), key=lambda e: e.timestamp),
            runs=self._store.runs.of_pipeline(None, "0000", "9999", 1_000_000),
            launches=self._jobs.launches,
            alerts=[],
            broken=[],
            writes=0,
            calls=0,
        )

    # --- the services at work

    def _deliver_events(self) -> bool:
        """What was put on the bus reaches the sink."""
        if not self._bus:
            return False
        event_sink.handle(as_lambda_gets_it(self._bus.popleft()), None, self._sink)  # type: ignore[arg-type]
        return True

    def _deliver_ends(self) -> bool:
        """A rule tells the watchdog of executions that ended badly; what fails there is not tried again."""
        if not self.engine.ends:
            return False
        with suppress(InterlockError):
            watchdog.handle(as_lambda_gets_it(self.engine.ends.popleft()), None, self._watchdog)
        return True

    def _deliver_all(self) -> bool:
        delivered = [self._deliver_records(name) for name in self._streams]
        return any(delivered)

    def _deliver_records(self, name: str) -> bool:
        stream = self._streams[name]
        if stream.again_at is not None and stream.again_at > self._clock():
            return False
        records = [r for r in self._services.records(name)[stream.place :] if passes_the_filters(r)]
        fresh = len(self._services.records(name))
        batch = records[:_BATCH]
        if not batch:
            stream.place = fresh
            return False
        self.routed += 1
        answer = self._work(
            name, lambda: stream_router.handle({"Records": batch}, None, self._router)
        )
        failed = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
        everything = self._services.records(name)
        numbers = [r["dynamodb"]["SequenceNumber"] for r in everything]
        last = failed[0] if failed else batch[-1]["dynamodb"]["SequenceNumber"]
        stream.place = numbers.index(last) + (0 if failed else 1)
        stream.answered(bool(failed), self._clock())
        return True

    def _work(self, name: str, work: Callable[[], T]) -> T:
        """A function is called; `at_work` says for what."""
        self.at_work = name
        try:
            return work()
        finally:
            self.at_work = ""

    def _fire_entries(self) -> bool:
        did = False
        for entry in self._services.entries():
            name = entry["Name"]
            at = max(fires_at(entry), self._again.get(name, fires_at(entry)))
            if at <= self._clock():
                did = self._fire(entry, name) or did
        return did

    def _fire(self, entry: dict[str, Any], name: str) -> bool:
        """An entry that was taken is gone; one that was refused is tried again for an hour."""
        given = as_lambda_gets_it(canonical.decode(entry["Target"]["Input"]))
        entries = self._scheduler.entries
        try:
            if entry["Target"]["Arn"] == TARGETS.stream_router_arn:
                stream_router.handle(given, None, self._router)
            else:
                sla_monitor.handle(given, None, self._sla_monitor)
        except InterlockError:
            self._again[name] = self._clock() + _SECOND * 60
            if self._clock() - fires_at(entry) <= _PATIENCE:
                return False
        if entries.get(name) is entry:
            del entries[name]
        self._again.pop(name, None)
        return True

    def _watch(self) -> bool:
        if self._next_pass > self._clock():
            return False
        self._next_pass = self._clock() + self._scenario.watchdog
        every = int(self._scenario.watchdog.total_seconds())
        with suppress(InterlockError):  # it has told of what failed itself
            watchdog.handle({"everySeconds": every}, None, self._watchdog)
        return True

    # --- putting it together

    def _home(self, function: Function, jobs: Jobs | None = None) -> AwsBackend:
        wrap = partial(self._wrap, function)
        home = function_home(function, self._services, self._clock, jobs, self._configs_kept, wrap)
        if self._wakes and function is Function.STREAM_ROUTER:
            waking = _Waking(home.ports.workflows, self.engine)
            home.ports = dataclasses.replace(home.ports, workflows=waking)
        return home

    def _failing_jobs(self) -> Jobs:
        return JobsByPipeline(FailingJobs(self._jobs, self._faults))

    def _failing(self, services: Services) -> Services:
        self._scheduler, self._engine_client = services.scheduler, services.engine
        bus = _Meeting(QuickBus(self._put_on_bus), self._faults, Call.PUBLISH, "put_events")
        engine = _Meeting(services.engine, self._faults, Call.START, "start_execution")
        tables = _MeetingReads(services.tables, self._faults)
        return dataclasses.replace(services, bus=bus, engine=engine, tables=tables)

    def _put_on_bus(self, entry: dict[str, Any]) -> None:
        self._bus.append(
            {
                "source": entry["Source"],
                "detail-type": entry["DetailType"],
                "detail": canonical.decode(entry["Detail"]),
            }
        )

    def _events_log(self) -> Any:
        return self._sink.store.event_log  # type: ignore[attr-defined] # of the sink of events


class _Stream:
    """How far a stream has been read, and when it is tried again after a failure."""

    def __init__(self) -> None:
        self.place = 0
        self.again_at: datetime | None = None
        self._tries = 0

    def answered(self, failed: bool, now: datetime) -> None:
        self._tries = self._tries + 1 if failed else 0
        if self._tries >= _TRIES:
            self.place += 1  # to the dead letters
            self._tries = 0
        self.again_at = now + _PAUSES[self._tries - 1] if self._tries else None


class _Meeting:
    """A client one of whose calls may be told to fail."""

    def __init__(self, sound: Any, faults: Faults, call: Call, operation: str) -> None:
        self._sound, self._faults, self._call, self._operation = sound, faults, call, operation

    def __getattr__(self, name: str) -> Any:
        if name == self._operation:
            self._faults.meet(self._call)
        return getattr(self._sound, name)


class _MeetingReads:
    """Tables whose readings may not be read."""

    def __init__(self, sound: Any, faults: Faults) -> None:
        self._sound, self._faults = sound, faults

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._sound, name)
        if name not in ("get_item", "batch_get_item", "query"):
            return call

        def read(**given: Any) -> Any:
            if SENSOR in str(given):
                self._faults.meet(Call.READ)
            return call(**given)

        return read


class _Waking:
    """An engine whose waits can be cut short, as the local one's."""

    def __init__(self, workflows: Any, engine: PlayedEngine) -> None:
        self.start: Callable[[str, Mapping[str, Any]], None] = workflows.start
        self.describe: Any = workflows.describe
        self.running: Any = workflows.running
        self.given: Any = workflows.given
        self.wake: Callable[[str, WaitingFor], None] = engine.wake


class _Nobody:
    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: None


def fires_at(entry: dict[str, Any]) -> datetime:
    text = entry["ScheduleExpression"].removeprefix("at(").removesuffix(")")
    return datetime.fromisoformat(f"{text}+00:00")
