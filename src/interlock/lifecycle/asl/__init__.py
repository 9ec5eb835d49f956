"""ASL: a pure interpreter of the part of the Amazon States Language that our state machine uses.

It has no clock and does no work. `next_step` says what to do; the driver does it, reports the outcome,
and stores each Execution it gets back before it asks again.
"""

from interlock.lifecycle.asl.execution_record import (
    Advance,
    Do,
    Ended,
    EntryKind,
    Execution,
    ExecutionStatus,
    HistoryEntry,
    Sleep,
    Step,
)
from interlock.lifecycle.asl.machine import Machine, parse
from interlock.lifecycle.asl.state_errors import TIMEOUT
from interlock.lifecycle.asl.steps import begin, next_step, task_failed, task_succeeded, wake

__all__ = [
    "TIMEOUT",
    "Advance",
    "Do",
    "Ended",
    "EntryKind",
    "Execution",
    "ExecutionStatus",
    "HistoryEntry",
    "Machine",
    "Sleep",
    "Step",
    "begin",
    "next_step",
    "parse",
    "task_failed",
    "task_succeeded",
    "wake",
]
