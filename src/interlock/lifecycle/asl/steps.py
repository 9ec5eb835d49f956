"""Step: what an execution does next, and the outcome; functions of its snapshot and `now`."""

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from interlock.domain import canonical
from interlock.lifecycle.asl.execution_record import (
    Advance,
    Do,
    Ended,
    Execution,
    ExecutionStatus,
    Sleep,
    Step,
)
from interlock.lifecycle.asl.machine import Machine
from interlock.lifecycle.asl.moves import deadline, earliest, enter, fail, leave
from interlock.lifecycle.asl.state_errors import UNREADABLE_RESULT, Fault
from interlock.lifecycle.asl.states import State, Task, Wait


def begin(machine: Machine, given: Any, now: datetime) -> Execution:
    """An execution at its first Task or Wait, or already at its end."""
    fresh = Execution(
        status=ExecutionStatus.RUNNING,
        state=machine.start_at,
        data=None,
        started_at=now,
        entered_at=now,
        wake_at=now,
    )
    return enter(machine, fresh, machine.start_at, _as_json(given), now)


def next_step(machine: Machine, execution: Execution, now: datetime) -> Step:
    """What to do now. Asking twice gives the same answer: this function has no state."""
    if not execution.running:
        return Ended(execution)
    if _overdue(machine, execution, now):
        return Advance(execution.moving().timed_out(now))
    if now < execution.wake_at:
        return Sleep(execution.wake_at)
    state = machine.states[execution.state]
    if isinstance(state, Wait):
        return Advance(_awake(machine, execution.moving(), state, now))
    return _call(machine, execution, _task(machine, execution), now)


def task_succeeded(machine: Machine, execution: Execution, result: Any, now: datetime) -> Execution:
    """Continue with a task's result. A result that is not JSON counts as the task's failure."""
    if not execution.running:
        return execution
    if _overdue(machine, execution, now):
        return execution.moving().timed_out(now)
    task = _task(machine, execution)
    try:
        output = task.answered(execution.data, _received(result))
    except Fault as fault:
        return fail(machine, execution.moving(), task, fault, now)
    return leave(machine, execution.moving(), task, output, now)


def task_failed(
    machine: Machine, execution: Execution, error: str, cause: str, now: datetime
) -> Execution:
    """Continue after a task raised, by the class name of the exception."""
    if not execution.running:
        return execution
    if _overdue(machine, execution, now):
        return execution.moving().timed_out(now)
    task = _task(machine, execution)
    return fail(machine, execution.moving(), task, Fault(error, cause), now)


def wake(machine: Machine, execution: Execution, now: datetime) -> Execution:
    """Cut a Wait short. The pause before a retry keeps its length, counted from now if the clock that set it
    was ahead.
    """
    if not execution.running:
        return execution
    state = machine.states[execution.state]
    pause = timedelta(0) if isinstance(state, Wait) else _longest_pause(state, execution)
    if execution.wake_at <= now + pause:
        return execution
    return replace(execution.moving(), wake_at=now + pause)


def _longest_pause(task: State, execution: Execution) -> timedelta:
    """The longest pause that the retries so far can have requested."""
    retriers = task.retry if isinstance(task, Task) else ()
    spent = zip(retriers, execution.retries, strict=False)
    return max((retrier.delay(n - 1) for retrier, n in spent if n), default=timedelta(0))


def _awake(machine: Machine, execution: Execution, wait: Wait, now: datetime) -> Execution:
    try:
        output = wait.given(wait.taken(execution.data))
    except Fault as fault:
        return execution.failed(fault.error, fault.cause, now)
    return leave(machine, execution, wait, output, now)


def _call(machine: Machine, execution: Execution, task: Task, now: datetime) -> Do | Advance:
    try:
        payload = task.asked(execution.data)
    except Fault as fault:
        return Advance(fail(machine, execution.moving(), task, fault, now))
    until = deadline(machine, execution)
    if task.timeout_seconds is not None:
        until = earliest(now + timedelta(seconds=task.timeout_seconds), until)
    return Do(task.resource, payload, until)


def _task(machine: Machine, execution: Execution) -> Task:
    state = machine.states[execution.state]
    if not isinstance(state, Task):
        raise ValueError(f"{execution.state} is not a Task")
    return state


def _overdue(machine: Machine, execution: Execution, now: datetime) -> bool:
    over = deadline(machine, execution)
    return over is not None and now >= over


def _received(result: Any) -> Any:
    try:
        return _as_json(result)
    except (TypeError, ValueError) as error:
        raise Fault(UNREADABLE_RESULT, f"Not JSON: {error}") from error


def _as_json(value: Any) -> Any:
    """The value as a store returns it: exact numbers, and no shared references."""
    return canonical.decode(canonical.encode(value))
