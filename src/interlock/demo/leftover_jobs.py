"""Leftover jobs: a command outlives its controller, and the demo must leave none behind."""

import time
from pathlib import Path

from interlock.adapters.jobs.command.job_folder import CommandEnded, JobFolder

_PATIENCE = 10.0
_PAUSE = 0.05


def end_jobs(state: Path) -> None:
    """Ask every command that still runs to end, and wait for it, for some seconds at most."""
    running = [folder for folder in _folders(state) if folder.ask_to_end()]
    until = time.monotonic() + _PATIENCE
    while running and time.monotonic() < until:
        time.sleep(_PAUSE)
        running = [each for each in running if not isinstance(each.look(), CommandEnded)]


def _folders(state: Path) -> list[JobFolder]:
    return [JobFolder(state, path.name) for path in sorted((state / "jobs").glob("*"))]
