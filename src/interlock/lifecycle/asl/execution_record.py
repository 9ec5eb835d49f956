"""Execution: how far one run through a machine has come, and what is to be done next.

A snapshot of plain values: whoever drives it may die after storing any of them and lose nothing.
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
    """An execution rests in a Task, a Wait or its last state. `data` is what that state was given,
    and the output once it has SUCCEEDED; snapshots have it in common, so nobody changes it.
    """

    status: ExecutionStatus
    state: str
    data: Any
    started_at: datetime
    entered_at: datetime
    wake_at: datetime  # nothing is to be done before
    ended_at: datetime | None = None
    retries: tuple[int, ...] = ()  # of the current task, for each of its retriers
    error: str | None = None
    cause: str | None = None
    log: tuple[
        HistoryEntry, ...
    ] = ()  # of the latest move only: to be appended where history is kept

    @property
    def running(self) -> bool:
        return self.status is ExecutionStatus.RUNNING

    def moving(self) -> "Execution":
        """At the beginning of a move: its log starts anew."""
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
    """Call a task's resource, then tell `task_succeeded` or `task_failed`.

    One that has not answered by `until` has failed with States.Timeout.
    """

    resource: str
    payload: Any
    until: datetime | None


class Advance(msgspec.Struct, frozen=True):
    """Store this execution and ask again."""

    execution: Execution


class Sleep(msgspec.Struct, frozen=True):
    """Nothing is to be done before `until`."""

    until: datetime


class Ended(msgspec.Struct, frozen=True):
    """Nothing is to be done any more."""

    execution: Execution


Step = Do | Advance | Sleep | Ended
