"""Execution: the progress of one run through a machine, and its next step.

A snapshot of plain values: the driver may die after storing any of them and lose nothing.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.lifecycle.asl.state_errors import TIMEOUT


class ExecutionStatus(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"


class EntryKind(StrEnum):
    ENTERED = "entered"
    RETRIED = "retried"
    CAUGHT = "caught"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed-out"


class HistoryEntry(msgspec.Struct, frozen=True):
    """A line of an execution's history."""

    at: datetime
    state: str
    kind: EntryKind
    note: str = ""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """An execution rests in a Task, a Wait or its last state. `data` is the input of that state, and the
    output once it has SUCCEEDED. Snapshots share it, so it must not be changed.
    """

    status: ExecutionStatus
    state: str
    data: Any
    started_at: datetime
    entered_at: datetime
    wake_at: datetime  # nothing to do before this
    ended_at: datetime | None = None
    retries: tuple[int, ...] = ()  # of the current task, for each of its retriers
    error: str | None = None
    cause: str | None = None
    log: tuple[HistoryEntry, ...] = ()  # of the latest move only; append it to the stored history

    @property
    def running(self) -> bool:
        return self.status is ExecutionStatus.RUNNING

    def moving(self) -> "Execution":
        """At the beginning of a move, with an empty log."""
        return replace(self, log=())

    def noted(self, kind: EntryKind, now: datetime, note: str = "") -> "Execution":
        return replace(self, log=(*self.log, HistoryEntry(now, self.state, kind, note)))

    def entered(self, state: str, data: Any, retriers: Sequence[Any], now: datetime) -> "Execution":
        """In a new state, with no retry spent yet."""
        moved = replace(
            self,
            state=state,
            data=data,
            retries=(0,) * len(retriers),
            entered_at=now,
            wake_at=now,
        )
        return moved.noted(EntryKind.ENTERED, now)

    def succeeded(self, output: Any, now: datetime) -> "Execution":
        ended = replace(self, status=ExecutionStatus.SUCCEEDED, data=output, ended_at=now)
        return ended.noted(EntryKind.SUCCEEDED, now)

    def failed(self, error: str, cause: str, now: datetime) -> "Execution":
        ended = replace(self, status=ExecutionStatus.FAILED, error=error, cause=cause, ended_at=now)
        return ended.noted(EntryKind.FAILED, now, error)

    def timed_out(self, now: datetime) -> "Execution":
        ended = replace(self, status=ExecutionStatus.TIMED_OUT, error=TIMEOUT, ended_at=now)
        return ended.noted(EntryKind.TIMED_OUT, now)


class Do(msgspec.Struct, frozen=True):
    """Call a task's resource, then call `task_succeeded` or `task_failed`.

    A task that has not returned by `until` has failed with States.Timeout.
    """

    resource: str
    payload: Any
    until: datetime | None


class Advance(msgspec.Struct, frozen=True):
    """Store this execution and ask again."""

    execution: Execution


class Sleep(msgspec.Struct, frozen=True):
    """Nothing to do before `until`."""

    until: datetime


class Ended(msgspec.Struct, frozen=True):
    """Nothing left to do."""

    execution: Execution


Step = Do | Advance | Sleep | Ended
