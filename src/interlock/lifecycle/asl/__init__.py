"""ASL: a pure interpreter of the part of the Amazon States Language that our state machine uses.

It has no clock and does no work. `next_step` says what is to be done; its driver does that, tells the
outcome, and stores each Execution it gets back before it asks again.
"""

from interlock.lifecycle.asl.execution import (
    Advance,
    Do,
    Ended,
    Entry,
    EntryKind,
    Execution,
    ExecutionStatus,
    Sleep,
    Step,
)
from interlock.lifecycle.asl.faults import TIMEOUT
from interlock.lifecycle.asl.machine import Machine, parse
from interlock.lifecycle.asl.steps import begin, next_step, task_failed, task_succeeded, wake

__all__ = [
    "TIMEOUT",
    "Advance",
    "Do",
    "Ended",
    "Entry",
    "EntryKind",
    "Execution",
    "ExecutionStatus",
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
