"""Engine: drives the executions of the lifecycle that are due, one state after another.

An execution is stored after each task, so a crash repeats at most one task, and every task may be
repeated. Waiting executions are rows; they cost nothing until they are due.
"""

import logging

import msgspec

from interlock.adapters.sqlite.workflows import Claimed, LogEntry, Progress, SqliteWorkflows
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import ConfigError
from interlock.lifecycle import asl
from interlock.lifecycle.definition import render
from interlock.lifecycle.modes import ORCHESTRATOR, SLA_MONITOR, call
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)

RESOURCES = {"local:orchestrator": ORCHESTRATOR, "local:sla-monitor": SLA_MONITOR}
#: How many executions are cached as last stored, to avoid reading them again.
_KEPT = 1024
_WAITS = {"WaitInterval": WaitingFor.RULES, "WaitForJob": WaitingFor.JOB}


class Engine:
    """Advances executions. Any number of threads may call `advance`, but only one at a time per execution."""

    def __init__(
        self, workflows: SqliteWorkflows, ports: Ports, trigger_max_attempts: int = 3
    ) -> None:
        self._workflows = workflows
        self._ports = ports
        text = render(
            {
                "orchestrator_arn": "local:orchestrator",
                "sla_monitor_arn": "local:sla-monitor",
                "sfn_timeout_seconds": int(ports.execution_timeout.total_seconds()),
                "trigger_max_attempts": trigger_max_attempts,
            }
        )
        self._current = canonical.content_hash(text, 16)
        self._machines = {self._current: asl.parse(text)}
        self._text = text
        self._is_defined = False
        self._kept: dict[str, tuple[str, asl.Execution]] = {}

    def advance(self, name: str) -> bool:
        """Advance one execution by one task, or to its end. False if it is not due, or taken."""
        claimed = self._workflows.claim(name, self._ports.clock())
        if claimed is None:
            return False
        try:
            self._move(claimed)
        finally:
            self._workflows.let_go(claimed)
        return True

    def _move(self, claimed: Claimed) -> None:
        definition = claimed.definition or self._define()
        try:
            machine = self._machine(definition)
            execution, entries, step = self._begun(machine, claimed)
        except (ConfigError, *DAMAGED) as error:  # in its definition or its data
            log.exception("an execution can't be read", extra={"action": "execution_unreadable"})
            self._workflows.break_off(claimed, error)
            return
        if isinstance(step, asl.Do):
            execution = self._do(claimed.name, machine, execution, step)
            entries += execution.log
        self._store(claimed, definition, execution, entries, machine)

    def _begun(
        self, machine: asl.Machine, claimed: Claimed
    ) -> tuple[asl.Execution, tuple[asl.HistoryEntry, ...], asl.Step]:
        """The execution as it stands, the history not yet stored, and its next step."""
        execution = self._restored(machine, claimed)
        entries = execution.log if claimed.snapshot is None else ()
        step = asl.next_step(machine, execution, self._ports.clock())
        if isinstance(step, asl.Advance):  # a wait is over: the next state is due as well
            execution = step.execution
            entries += execution.log
            step = asl.next_step(machine, execution, self._ports.clock())
        return execution, entries, step

    def _do(
        self, name: str, machine: asl.Machine, execution: asl.Execution, task: asl.Do
    ) -> asl.Execution:
        """Call a mode. The machine knows an exception by its class name, formatted as a Lambda function
        reports it.
        """
        try:
            result = call(RESOURCES[task.resource], task.payload, self._ports)
        except Exception as error:  # noqa: BLE001 - the state machine decides what becomes of it
            kind, now = type(error).__name__, self._ports.clock()
            log.warning(
                "the state %s of %s failed: %s: %s",
                execution.state,
                name,
                kind,
                error,
                extra={"action": "task_failed", "state": execution.state, "error": str(error)},
            )
            cause = canonical.encode({"errorType": kind, "errorMessage": str(error)})
            return asl.task_failed(machine, execution, kind, cause, now)
        now = self._ports.clock()
        if task.until is not None and now > task.until:
            return asl.task_failed(machine, execution, asl.TIMEOUT, "", now)
        return asl.task_succeeded(machine, execution, result, now)

    def _restored(self, machine: asl.Machine, claimed: Claimed) -> asl.Execution:
        if claimed.snapshot is None:
            return asl.begin(machine, canonical.decode(claimed.given), self._ports.clock())
        text, execution = self._kept.pop(claimed.name, (None, None))
        if execution is None or text != claimed.snapshot:
            stored = canonical.decode(claimed.snapshot)
            execution = msgspec.convert(stored, asl.Execution, strict=False)
        if claimed.wake_at < execution.wake_at:
            return asl.wake(machine, execution, self._ports.clock())
        return execution

    def _store(
        self,
        claimed: Claimed,
        definition: str,
        execution: asl.Execution,
        entries: tuple[asl.HistoryEntry, ...],
        machine: asl.Machine,
    ) -> None:
        step = asl.next_step(machine, execution, self._ports.clock())
        wake_at = step.until if isinstance(step, asl.Sleep) else self._ports.clock()
        kept = msgspec.structs.replace(execution, log=())
        snapshot = canonical.encode(kept)
        self._keep(claimed.name, snapshot, kept)
        self._workflows.store(
            claimed,
            Progress(
                definition=definition,
                snapshot=snapshot,
                status=execution.status,
                state=execution.state,
                wake_at=wake_at,
                waiting_for=_WAITS.get(execution.state) if execution.running else None,
                ended_at=execution.ended_at,
                error=execution.error,
                cause=execution.cause,
                log=[LogEntry(e.at, e.state, e.kind, e.note) for e in entries],
            ),
        )

    def _keep(self, name: str, snapshot: str, execution: asl.Execution) -> None:
        """Valid for as long as the store holds the same."""
        while len(self._kept) >= _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        if execution.running:
            self._kept[name] = (snapshot, execution)

    def _define(self) -> str:
        if not self._is_defined:
            self._workflows.define(self._current, self._text)
            self._is_defined = True
        return self._current

    def _machine(self, definition: str) -> asl.Machine:
        """An execution keeps the definition it began with, whichever version advances it."""
        if definition not in self._machines:
            text = self._workflows.definition(definition)
            self._machines[definition] = asl.parse(text or self._text)
        return self._machines[definition]
