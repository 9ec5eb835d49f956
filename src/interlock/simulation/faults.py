"""Faults: calls that fail as often or as long as scripted, and crashes after chosen writes."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from interlock.domain.alerting.deliveries import Answer, Posted
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import AlertNote, Note, RootNote
from interlock.domain.alerting.sink_kinds import SINK_KINDS
from interlock.domain.event import Event
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import EngineState, RunKey
from interlock.domain.sensor import Reading
from interlock.domain.waiting_for import WaitingFor
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import TransientError
from interlock.ports.engine import Workflows
from interlock.ports.jobs import Jobs
from interlock.ports.stores import Events, Sensors, Watch
from interlock.simulation.scenario import Call


class Crash(BaseException):
    """The controller dies. Not an Exception: nothing in it may catch its own death."""


class Faults:
    """Which calls fail, and the number of calls and durable writes so far."""

    def __init__(self) -> None:
        self.calls = 0
        self.calls_of: Counter[Call] = Counter()
        self.writes = 0
        self._left: Counter[Call] = Counter()
        self._away: dict[Call, Callable[[], bool]] = {}
        self._routine = 0
        self.in_watch = False
        #: Called for each call that fails.
        self.on_failure: Callable[[], None] = lambda: None

    def is_repetition(self) -> bool:
        """Whether the write just made repeats one already tried: the watchdog again recording a pass
        in which nothing happened.
        """
        return self._routine > 2

    def will_fail(self, call: Call, times: int) -> None:
        self._left[call] += times

    def will_fail_while(self, call: Call, is_away: Callable[[], bool]) -> None:
        self._away[call] = is_away

    def meet(self, call: Call) -> None:
        """Raises TransientError when this call is due to fail."""
        self.calls += 1
        self.calls_of[call] += 1
        if call in self._away and self._away[call]():
            self.fail(f"{call} fails for a while, as the scenario says")
        if self._left[call]:
            self._left[call] -= 1
            self.fail(f"{call} fails, as the scenario says")

    def fail(self, message: str) -> NoReturn:
        self.on_failure()
        raise TransientError(message)

    def stepped(self) -> None:
        """Called after each step of the controller."""

    def written(self) -> None:
        """Called after each durable write."""
        self.writes += 1
        self._routine = self._routine + 1 if self.in_watch else 0


class NotedWatch:
    """Tells the faults which writes are only the watchdog recording its passes."""

    def __init__(self, watch: Watch, faults: Faults) -> None:
        self._watch, self._faults = watch, faults

    def load(self) -> WatchdogState:
        return self._watch.load()

    def save(self, state: WatchdogState) -> bool:
        self._faults.in_watch = True
        try:
            return self._watch.save(state)
        finally:
            self._faults.in_watch = False


class FailingEvents:
    def __init__(self, events: Events, faults: Faults) -> None:
        self._events, self._faults = events, faults
        self.of_run: Callable[[RunKey], list[Event]] = events.of_run
        self.newest: Any = events.newest

    def publish(self, events: Sequence[Event]) -> None:
        self._faults.meet(Call.PUBLISH)
        self._events.publish(events)


class FailingWorkflows:
    def __init__(self, workflows: Workflows, faults: Faults) -> None:
        self._workflows, self._faults = workflows, faults

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        self._faults.meet(Call.START)
        self._workflows.start(name, given)

    def describe(self, name: str) -> EngineState:
        return self._workflows.describe(name)

    def running(self) -> set[str]:
        return self._workflows.running()

    def given(self, name: str) -> dict[str, Any] | None:
        return self._workflows.given(name)

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        self._workflows.wake(pipeline_id, waiting_for)


class FailingJobs:
    def __init__(self, jobs: Jobs, faults: Faults) -> None:
        self._jobs, self._faults = jobs, faults

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        self._faults.meet(Call.LAUNCH)
        return self._jobs.launch(pipeline, context)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        self._faults.meet(Call.FIND)
        return self._jobs.find(pipeline, context)

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        self._faults.meet(Call.POLL)
        return self._jobs.poll(metadata)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return self._jobs.cancel(metadata)


class FailingSensors:
    """Readings whose reads may fail; writes by producers are not affected."""

    def __init__(self, sensors: Sensors, faults: Faults) -> None:
        self._sensors, self._faults = sensors, faults
        self.put: Callable[[Reading], None] = sensors.put
        self.put_all: Callable[[Sequence[Reading]], None] = sensors.put_all
        self.remove: Callable[[str, str, datetime], None] = sensors.remove
        self.of_pipeline: Callable[[str], list[Reading]] = sensors.of_pipeline

    def find(self, pipeline_id: str, keys: Collection[str]) -> dict[str, Reading]:
        self._faults.meet(Call.READ)
        return self._sensors.find(pipeline_id, keys)

    def between(self, pipeline_id: str, key: str, first: str, last: str) -> list[Reading]:
        self._faults.meet(Call.READ)
        return self._sensors.between(pipeline_id, key, first, last)


class RecordingSink:
    """A channel without recipients: keeps what was sent, and to which thread."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.sent: list[tuple[Event, str]] = []

    manner = Manner(threaded=True, delays=SINK_KINDS["console"].manner.delays)

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        self._faults.meet(Call.ALERT)
        name = thread or f"thread-{len(self.sent)}"
        if isinstance(note, AlertNote | RootNote):
            self.sent.append((note.event, name))
        return Posted(name)

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return Posted(receipt)
