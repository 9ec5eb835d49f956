"""Move: an execution passing from state to state, until it rests in a Task, a Wait or an end."""

from datetime import datetime, timedelta
from typing import Any, assert_never

from msgspec.structs import replace

from interlock.lifecycle.asl.execution_record import EntryKind, Execution
from interlock.lifecycle.asl.machine import Machine
from interlock.lifecycle.asl.state_errors import NO_CHOICE, Fault, matches
from interlock.lifecycle.asl.states import Catcher, Choice, Fail, Pass, Succeed, Task, Wait


def enter(machine: Machine, execution: Execution, name: str, data: Any, now: datetime) -> Execution:
    """Enter a state, and pass through states that do not wait."""
    state = machine.states[name]
    retriers = state.retry if isinstance(state, Task) else ()
    entered = execution.entered(name, data, retriers, now)
    try:
        match state:
            case Task():
                return entered
            case Wait():
                return _rest(machine, entered, now, state.pause(data))
            case Pass():
                return leave(machine, entered, state, state.passed(data), now)
            case Choice():
                return _choose(machine, entered, state, now)
            case Succeed():
                return entered.succeeded(state.given(state.taken(data)), now)
            case Fail():
                return entered.failed(state.error, state.cause, now)
            case _:
                assert_never(state)
    except Fault as fault:
        return entered.failed(fault.error, fault.cause, now)


def leave(
    machine: Machine, execution: Execution, state: Task | Pass | Wait, output: Any, now: datetime
) -> Execution:
    if state.next is None:
        return execution.succeeded(output, now)
    return enter(machine, execution, state.next, output, now)


def fail(
    machine: Machine, execution: Execution, task: Task, fault: Fault, now: datetime
) -> Execution:
    """Retry the task later, go where its fault is caught, or end as FAILED: in that order."""
    retried = _retry(machine, execution, task, fault, now)
    if retried is not None:
        return retried
    for catcher in task.catch:
        if matches(catcher.error_equals, fault.error):
            return _catch(machine, execution, catcher, fault, now)
    return execution.failed(fault.error, fault.cause, now)


def deadline(machine: Machine, execution: Execution) -> datetime | None:
    """When the machine itself times out."""
    return None if machine.timeout is None else execution.started_at + machine.timeout


def earliest(moment: datetime, other: datetime | None) -> datetime:
    return moment if other is None else min(moment, other)


def _choose(machine: Machine, execution: Execution, choice: Choice, now: datetime) -> Execution:
    chosen = choice.chosen(execution.data)
    if chosen is None:
        raise Fault(NO_CHOICE, f"No rule of {execution.state} holds, and it has no Default.")
    output = choice.given(choice.taken(execution.data))
    return enter(machine, execution, chosen, output, now)


def _retry(
    machine: Machine, execution: Execution, task: Task, fault: Fault, now: datetime
) -> Execution | None:
    """The same task, later; None if the first retrier that covers the fault is exhausted, or none covers
    it.
    """
    for n, retrier in enumerate(task.retry):
        if not matches(retrier.error_equals, fault.error):
            continue
        spent = execution.retries[n]
        if spent >= retrier.max_attempts:
            return None
        retries = (*execution.retries[:n], spent + 1, *execution.retries[n + 1 :])
        noted = replace(execution, retries=retries).noted(EntryKind.RETRIED, now, fault.error)
        return _rest(machine, noted, now, retrier.delay(spent))
    return None


def _catch(
    machine: Machine, execution: Execution, catcher: Catcher, fault: Fault, now: datetime
) -> Execution:
    data = execution.data
    if catcher.result_path is not None:
        told = {"Error": fault.error, "Cause": fault.cause}
        try:
            data = catcher.result_path.write(data, told)
        except Fault as worse:
            return execution.failed(worse.error, worse.cause, now)
    noted = execution.noted(EntryKind.CAUGHT, now, fault.error)
    return enter(machine, noted, catcher.next, data, now)


def _rest(machine: Machine, execution: Execution, now: datetime, pause: timedelta) -> Execution:
    """Asleep for a while, but not past the instant at which the machine times out."""
    return replace(execution, wake_at=earliest(now + pause, deadline(machine, execution)))
