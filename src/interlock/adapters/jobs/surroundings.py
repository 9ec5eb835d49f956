"""Surroundings: what the adapters of jobs are given by whoever wires them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from interlock.adapters.jobs.addresses import NOWHERE, AllowedHosts
from interlock.adapters.jobs.secrets import Secrets
from interlock.ports import Clock


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The controller's settings, read once. No adapter looks at the environment by itself."""

    clock: Clock
    environment: Mapping[str, str] = field(repr=False)
    secrets: Secrets
    #: Where the jobs of this machine keep their folders, and where they run.
    state: Path
    project: Path
    allowed: AllowedHosts = NOWHERE
    ca_file: Path | None = None
    #: Supervisors that wait for a command beforehand, so that it starts a little sooner.
    spares: int = 0
    #: In a function that may be stopped: how long it has left. A command then runs within the call.
    time_left: Callable[[], timedelta] | None = None
