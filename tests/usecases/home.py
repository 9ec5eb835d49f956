"""Home: a controller over a store in memory, its outside scripted, and nothing running by itself."""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from declared import document
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain import canonical
from interlock.domain.config import Config, Wanted
from interlock.domain.event import Event, EventType
from interlock.domain.job_record import JobRecord
from interlock.domain.opening import window_end
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.domain.timestamp import spell
from interlock.files import load_text
from interlock.lifecycle.modes import ORCHESTRATOR, SLA_MONITOR, call
from interlock.runtime.loop import Runtime
from interlock.simulation.faults import (
    Crash,
    FailingEvents,
    FailingJobs,
    FailingSensors,
    FailingWorkflows,
    Faults,
)
from interlock.simulation.scenario import Call, JobScript
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.ports import Ports

NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
KEY = RunKey("silver-orders", "stream", "2026-03-03")
CADENCE = timedelta(minutes=5)


class Home:
    """One store and one clock. What the outside does is said by `scripts` and `fails`."""

    def __init__(self, now: datetime = NOW) -> None:
        self.clock = VirtualClock(now)
        self.database = Database()
        weakref.finalize(self, self.database.close)
        self.store = Store(self.database, self.clock)
        self.scripts: dict[str, tuple[JobScript, ...]] = {}
        self.jobs = ScriptedJobs(self.scripts, self.clock)
        self._faults = Faults()
        #: What the last look at the job left for the next step, as an execution carries it.
        self.carried = {"watched": "", "ending": ""}
        self.ports = Ports(
            clock=self.clock,
            pipelines=self.store.pipelines,
            sensors=FailingSensors(self.store.sensors, self._faults),
            runs=self.store.runs,
            job_log=self.store.job_log,
            reruns=self.store.reruns,
            backfills=self.store.backfills,
            events=FailingEvents(self.store.events, self._faults),
            outbox=self.store.outbox,
            claims=self.store.claims,
            timers=self.store.timers,
            workflows=FailingWorkflows(self.store.workflows, self._faults),
            jobs=JobsByPipeline(FailingJobs(self.jobs, self._faults)),
            watch=self.store.watch,
            unreadable=self.store.unreadable,
        )

    def with_ports(self, **others: Any) -> Ports:
        """The same ports but for these: the way to make something fail."""
        return replace(self.ports, **others)

    def fails(self, call: Call, times: int = 1) -> None:
        self._faults.will_fail(call, times)

    def pass_time(self, **span: float) -> datetime:
        self.clock.now += timedelta(**span)
        return self.clock.now

    # --- what owners, producers, operators and jobs write ---

    def want(self, text: str = "") -> str:
        """Store what an owner wants; it is not in force yet. Broken parts are kept as they are."""
        loaded = load_text(document(text), year=2026)
        config: Any = None if loaded.pipeline is None else canonical.as_json(loaded.pipeline)
        name = "silver-orders" if loaded.own_id is None else loaded.own_id.id
        config = config or {"pipeline": {"id": name}, "broken": text}
        wanted = Wanted(name, config, canonical.content_hash(config), self.clock())
        self.store.pipelines.want(wanted)
        return name

    def adopt(self, text: str = "") -> Config:
        """Bring a pipeline into force."""
        name = self.want(text)
        config = adopt_config(name, self.ports)
        assert config is not None
        return config

    def take_away(self, name: str = "silver-orders") -> None:
        self.store.pipelines.want(Wanted(name, None, "", self.clock()))
        adopt_config(name, self.ports)

    def reading(
        self, key: str = "orders", pipeline: str = "silver-orders", **fields: Any
    ) -> Reading:
        """A stored reading that nothing has acted on."""
        reading = Reading(pipeline, key, fields, self.clock())
        self.store.sensors.put(reading)
        return reading

    def admit(self, key: str = "orders", **fields: Any) -> Reading:
        """A reading that is stored and admitted; without a date, of the day of the usual run."""
        reading = self.reading(key, **({"date": "2026-03-03"} | fields))
        admit_reading(reading, self.ports)
        return reading

    def request(
        self, reason: str = "manual", key: RunKey = KEY, force: bool = False
    ) -> RerunRequest:
        request = RerunRequest(
            key=key, reason=reason, requested_at=self.clock(), requested_by="ada", force=force
        )
        self.store.reruns.request(request)
        return request

    def job_says(self, event: str, attempt: int | None = None, **facts: Any) -> JobRecord:
        record = JobRecord(key=KEY, at=self.clock(), event=event, attempt=attempt, **facts)
        self.store.job_log.append(record)
        return record

    # --- the lifecycle ---

    def mode(self, name: str, key: RunKey = KEY, attempt: int | None = None, **also: Any) -> Any:
        """Call a mode as the state machine would, for the run as it stands or an older attempt."""
        modes = SLA_MONITOR if name in SLA_MONITOR else ORCHESTRATOR
        ports = also.pop("ports", self.ports)
        answer = call(modes, self.payload(name, key, attempt) | also, ports)
        self.carried = {name: answer.get(name, self.carried[name]) for name in self.carried}
        return answer

    def payload(self, mode: str, key: RunKey = KEY, attempt: int | None = None) -> dict[str, Any]:
        """What the state machine gives to a mode."""
        run = self.run(key)
        config = self.store.pipelines.find(key.pipeline_id)
        assert config is not None
        return {
            "mode": mode,
            "pipelineId": key.pipeline_id,
            "scheduleId": key.schedule_id,
            "date": key.date,
            "attempt": run.attempt if attempt is None else attempt,
            "openedAt": spell(run.opened_at),
            "windowEnd": spell(window_end(run, config.pipeline)),
            "config": canonical.as_json(config.pipeline),
            **self.carried,
        }

    def launched(self, **fields: Any) -> Run:
        """The usual run, its job running."""
        self.admit(**fields)
        self.mode("evaluate")
        self.mode("trigger")
        return self.run()

    def completed(self, **fields: Any) -> Run:
        """The usual run, its job done ten minutes after the launch."""
        self.launched(**fields)
        self.pass_time(minutes=10)
        self.finish()
        return self.run()

    def finish(self, event: str = "success", **facts: Any) -> None:
        """The job of the run ends, and the run is given its end."""
        self.job_says(event, self.run().attempt, **facts)
        self.mode("check-job")
        self.mode("complete-trigger", event=event)

    def settle(self) -> None:
        """Let a controller do everything that is due, as it would by itself."""
        Runtime(self.store, self.ports, CADENCE).settle()

    # --- what came of it ---

    def run(self, key: RunKey = KEY) -> Run:
        return self.store.runs.get(key)

    def events(self, kind: EventType | None = None) -> list[Event]:
        told = [each.event for each in self.store.events.after(0, 10_000)]
        return [event for event in told if kind in (None, event.type)]

    def told(self) -> list[str]:
        """The types of all events, in the order in which they were told; of files none."""
        return [event.type for event in self.events() if event.type is not EventType.CONFIG_ADOPTED]

    def event(self, kind: EventType) -> Event:
        """The one event of a type."""
        (event,) = self.events(kind)
        return event

    def armed(self) -> dict[str, datetime]:
        end = datetime(9999, 1, 1, tzinfo=UTC)
        return {timer.name: timer.due_at for timer in self.store.timers.due(end, 10_000)}

    def started(self) -> list[str]:
        """The names of the executions, in no order."""
        rows = self.database.read(
            lambda connection: connection.execute("SELECT name FROM executions").fetchall()
        )
        return sorted(name for (name,) in rows)

    def state(self) -> Mapping[str, Any]:
        """Everything that a repeat must not change."""
        runs = self.store.runs.of_pipeline(None, "0000", "9999", 10_000)
        return {
            "events": sorted(event.event_id for event in self.events()),
            "runs": [(r.key, r.status, r.attempt, r.spending, r.sla_verdict) for r in runs],
            "launches": [(each.date, each.attempt) for each in self.jobs.launches],
            "executions": self.started(),
            "timers": self.armed(),
            "requests": len(self.store.reruns.unjudged()),
        }


def crashed_everywhere(
    scene: Callable[[Home], object], act: Callable[[Home], object]
) -> list[tuple[int, Home]]:
    """For each write of an act: a home that died right after it, and then did it again.

    The first of the list has suffered nothing.
    """
    homes: list[tuple[int, Home]] = []
    for number in range(100):
        home = Home()
        scene(home)
        survived = number and _die_after(home, number, act)
        if not number or not survived:
            act(home)
            homes.append((number, home))
        else:
            return homes
    raise AssertionError("an act has no hundred writes")


def _die_after(home: Home, write: int, act: Callable[[Home], object]) -> bool:
    """Whether the act came to its end before that write."""
    left = write

    def after_commit() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise Crash

    home.database.after_commit = after_commit
    try:
        act(home)
    except Crash:
        return False
    finally:
        home.database.after_commit = None
    return True


def assert_a_crash_changes_nothing(
    scene: Callable[[Home], object], act: Callable[[Home], object]
) -> Home:
    """Dying after any write of an act and doing it again leads to the same state. The one of them."""
    (_, plain), *crashed = crashed_everywhere(scene, act)
    assert crashed, "the act writes nothing"
    for number, home in crashed:
        assert home.state() == plain.state(), f"after write {number}"
    return plain
