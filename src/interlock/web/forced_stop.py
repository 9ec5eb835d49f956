"""Forced stop: the end of a process that was asked to stop and can't.

A thread that is started while memory runs out may die before it reports to the thread that started it, which
then waits forever. If that is the main thread, or one that holds a lock, no orderly stop comes to its end.
"""

import faulthandler
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

#: An orderly stop takes a few seconds; service managers wait for 90.
STOP_WITHIN = 30.0


def force_stop_after(seconds: float) -> None:
    """End the process after that time if it is still there. Needs no memory and no other thread: the kernel
    interrupts whatever the main thread waits for.

    The exit code is that of a stop on request. Nothing is lost: every step is durable before it counts, and
    the next start repeats what was under way.
    """
    signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _end(_number: int, _frame: FrameType | None) -> None:
    with suppress(Exception):
        sys.stderr.write("interlock: did not stop in time and ends now; its threads were at:\n")
        sys.stderr.flush()
        faulthandler.dump_traceback()
    os._exit(0)
