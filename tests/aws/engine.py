"""Engine: plays the part of Step Functions: the deployed file, our interpreter, functions as Tasks."""

import json
from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from aws.quick_services import QuickEngine
from interlock.domain import canonical
from interlock.domain.waiting_for import WaitingFor
from interlock.lifecycle import asl, definition
from interlock.ports.engine import Clock

ORCHESTRATOR = "arn:aws:lambda:eu-central-1:123456789012:function:t-interlock-orchestrator"
SLA_MONITOR = "arn:aws:lambda:eu-central-1:123456789012:function:t-interlock-sla-monitor"

Task = Callable[[dict[str, Any]], dict[str, Any]]


class PlayedEngine:
    """Moves what was started on, as far as it is due; nothing cuts a wait short."""

    def __init__(self, started: QuickEngine, clock: Clock, tasks: Mapping[str, Task]) -> None:
        self._started = started
        self._clock = clock
        self._tasks = tasks
        self._machine = definition.load(
            {
                "orchestrator_arn": ORCHESTRATOR,
                "sla_monitor_arn": SLA_MONITOR,
                "sfn_timeout_seconds": 14400,
                "trigger_max_attempts": 3,
            }
        )
        self._running: dict[str, asl.Execution] = {}
        self._seen: set[str] = set()
        self.transitions = 0
        self.calls = 0
        self.tasks: Counter[str] = Counter()
        #: What Step Functions tells of executions that ended badly, not delivered yet.
        self.ends: deque[dict[str, Any]] = deque()

    def step(self) -> bool:
        """One step of each execution that is due. Whether there was one."""
        self._begin()
        moved = [name for name in list(self._running) if self._move(name)]
        return bool(moved)

    def next_due(self) -> datetime | None:
        self._begin()
        steps = (
            asl.next_step(self._machine, execution, self._clock())
            for execution in self._running.values()
        )
        moments = [step.until if isinstance(step, asl.Sleep) else self._clock() for step in steps]
        return min(moments, default=None)

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        """As the local engine does it: what waits for that looks at once."""
        for name, execution in self._running.items():
            ours = execution.data.get("pipelineId") == pipeline_id
            if ours and _WAITS.get(execution.state) is waiting_for:
                self._running[name] = asl.wake(self._machine, execution, self._clock())

    def _begin(self) -> None:
        for name, given in self._started.given.items():
            if name not in self._seen:
                self._seen.add(name)
                execution = asl.begin(self._machine, canonical.decode(given), self._clock())
                self._keep(name, execution)

    def _move(self, name: str) -> bool:
        execution = self._running[name]
        step = asl.next_step(self._machine, execution, self._clock())
        if isinstance(step, asl.Sleep):
            return False
        if isinstance(step, asl.Advance):
            self._keep(name, step.execution)
        elif isinstance(step, asl.Do):
            self._keep(name, self._do(execution, step))
        return True

    def _do(self, execution: asl.Execution, task: asl.Do) -> asl.Execution:
        self.calls += 1
        self.tasks[task.payload["mode"]] += 1
        try:
            result = self._tasks[task.resource](as_lambda_gets_it(task.payload))
        except Exception as error:  # noqa: BLE001 - the machine decides what becomes of it
            told = {"errorType": type(error).__name__, "errorMessage": str(error)}
            cause = canonical.encode(told)
            name = type(error).__name__
            return asl.task_failed(self._machine, execution, name, cause, self._clock())
        return asl.task_succeeded(self._machine, execution, result, self._clock())

    def _keep(self, name: str, execution: asl.Execution) -> None:
        self.transitions += sum(entry.kind in _ENTERED for entry in execution.log)
        if execution.running:
            self._running[name] = execution
        else:
            self._running.pop(name, None)
            self._started.status[name] = execution.status
            if execution.status is not asl.ExecutionStatus.SUCCEEDED:
                self.ends.append(self._ended(name, execution))

    def _ended(self, name: str, execution: asl.Execution) -> dict[str, Any]:
        """As much of the event as anybody reads."""
        return {
            "source": "aws.states",
            "detail-type": "Step Functions Execution Status Change",
            "detail": {
                "name": name,
                "status": execution.status,
                "input": self._started.given[name],
                "inputDetails": {"included": True},
            },
        }


_ENTERED = frozenset({asl.EntryKind.ENTERED})
_WAITS = {"WaitInterval": WaitingFor.RULES, "WaitForJob": WaitingFor.JOB}


def as_lambda_gets_it(payload: Any) -> Any:
    """The runtime of a function reads JSON with floats."""
    return json.loads(canonical.encode(payload))
