"""Surroundings: what the wiring passes to every job adapter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from interlock.adapters.http.addresses import NOWHERE, AllowedHosts
from interlock.adapters.jobs.counter import Counter
from interlock.adapters.secrets.references import Secrets
from interlock.ports.engine import Clock

#: What a call that is about to be stopped keeps for itself.
RESERVE = timedelta(seconds=10)


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
    #: Makes the clients of AWS; None: as the SDK does, from the environment.
    aws_client: Callable[..., Any] | None = None
    #: Successes of Glue that could not be verified.
    unverified: Counter = field(default_factory=Counter)

    def bounded(self, timeout: timedelta) -> timedelta:
        """No longer than this call may still take."""
        if self.time_left is None:
            return timeout
        return min(timeout, max(timedelta(), self.time_left() - RESERVE))
