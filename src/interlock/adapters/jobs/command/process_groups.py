"""Process groups: whether one is still the one that a job began, and ending it.

The system may have given the pid to another process since. A group is ours if its first process began when
we recorded that it did, or if any process in it carries the token of the job. If the system tells neither,
the group is not ours.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from interlock.adapters.jobs.command.supervisor import began

_PROC = Path("/proc")


def is_ours(group: int, began_at: str, token: str) -> bool:
    """Whether any process of the group that a job began is still there."""
    members = tuple(_members(group))
    if group in members:
        return began_at != "-" and began(group) == began_at
    return any(_carries(pid, token) for pid in members)


def end(group: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.killpg(group, number)


def _members(group: int) -> Iterator[int]:
    """The living ones: a zombie can't be ended."""
    for entry in _PROC.glob("[0-9]*"):
        try:
            state, _, of_group, *_ = (entry / "stat").read_bytes().rpartition(b")")[2].split()
        except (OSError, ValueError):
            continue
        if int(of_group) == group and state not in (b"Z", b"X"):
            yield int(entry.name)


def _carries(pid: int, token: str) -> bool:
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"INTERLOCK_JOB_TOKEN={token}".encode() in variables
