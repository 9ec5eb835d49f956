"""AWS jobs: what launches and polls jobs from a function, within the time that an invocation has left."""

import os
from pathlib import Path

from interlock.adapters.jobs.addresses import AllowedHosts
from interlock.adapters.jobs.aws_secrets import fetch_secret
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.secrets import Secrets
from interlock.adapters.jobs.surroundings import Surroundings
from interlock.ports import Clock, Jobs
from interlock.wiring.aws import TimeLeft
from interlock.wiring.jobs import JobsByPipeline

#: The one folder that a function may write to.
_STATE = Path("/tmp/interlock")  # noqa: S108 - it is nobody else's there


def aws_jobs(time_left: TimeLeft, clock: Clock) -> Jobs:
    environment = dict(os.environ)
    return JobsByPipeline(
        JobsByType(
            Surroundings(
                clock=clock,
                environment=environment,
                secrets=Secrets(environment, fetch=fetch_secret),
                state=_STATE,
                project=_STATE,
                allowed=AllowedHosts.parse(environment.get("INTERLOCK_ALLOW_HOSTS", "")),
                time_left=time_left,
            )
        )
    )
