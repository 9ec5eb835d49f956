"""AWS jobs: what launches and polls jobs from a function, within the time that an invocation has left."""

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.adapters.http.addresses import AllowedHosts
from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.references import Secrets, UnreadSecrets
from interlock.ports.engine import Clock
from interlock.ports.jobs import Jobs
from interlock.wiring.aws_ports import TimeLeft

if TYPE_CHECKING:
    from interlock.adapters.jobs.outputs import OutputsByType

#: The one folder that a function may write to.
_STATE = Path("/tmp/interlock")  # noqa: S108 - a function shares it with no other user


def aws_outputs(clock: Clock) -> "OutputsByType":
    """What can be told of the output of jobs that functions started. No secret is read for it."""
    from interlock.adapters.jobs.outputs import OutputsByType  # only where people ask

    surroundings = Surroundings(
        clock=clock,
        environment=dict(os.environ),
        secrets=UnreadSecrets(),
        state=_STATE,
        project=_STATE,
        time_left=timedelta,
    )
    return OutputsByType(surroundings)


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
