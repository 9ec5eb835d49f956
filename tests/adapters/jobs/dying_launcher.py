"""Controllers that are killed at the n-th step of a launch, one after another, until one lives.

`python -m adapters.jobs.dying_launcher FOLDER FIRST EVERY`: the n-th launches attempt n. On stdout a
letter for each: whether it was killed, or lived.
"""

import itertools
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from adapters.jobs.job_samples import a_context, a_job, surroundings
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.command.supervisors import COMMAND
from interlock.domain.pipeline import Pipeline

SOURCES = str(Path(COMMAND[-1]).parent)


def marking(folder: Path) -> Pipeline:
    """A job that leaves a mark each time it is started."""
    script = 'echo x >> "marks/$INTERLOCK_ATTEMPT"'
    return a_job("command", command=["/bin/sh", "-c", script], cwd=str(folder))


def launch_and_die(folder: Path, step: int) -> None:
    taken = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal taken
        if event == "c_call" and frame.f_code.co_filename.startswith(SOURCES):
            taken += 1
            if taken == step:
                os.kill(os.getpid(), signal.SIGKILL)

    jobs = JobsByType(surroundings(folder))
    sys.setprofile(count)
    jobs.launch(marking(folder), a_context(step))
    os._exit(0)


def main(folder: Path, first: int, every: int) -> None:
    for step in itertools.count(first, every):
        child = os.fork()
        if child == 0:
            launch_and_die(folder, step)
        _, status = os.waitpid(child, 0)
        os.write(1, b"k" if os.WIFSIGNALED(status) else b"l")
        if not os.WIFSIGNALED(status):
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
