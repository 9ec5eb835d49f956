"""Samples: pipelines, runs and surroundings for jobs."""

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from interlock.adapters.http.addresses import AllowedHosts
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.references import Secrets
from interlock.domain.check import Check
from interlock.domain.job import Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.pipeline import (
    Identity,
    Job,
    Pipeline,
    Rule,
    Schedule,
    Validation,
)
from interlock.domain.run import RunKey, job_token
from interlock.ports.jobs import Jobs

#: Stands for every secret; nothing that is stored or shown may hold it.
CANARY = 'canary-7f3a-"quoted"-secret'
ENVIRONMENT = {"PATH": os.environ["PATH"], "INTERLOCK_CANARY": CANARY, "INTERLOCK_BASE": "base/é"}

T = TypeVar("T")


def now() -> datetime:
    return datetime.now(UTC)


def a_job(kind: str, **config: Any) -> Pipeline:
    return Pipeline(
        pipeline=Identity("silver-orders"),
        schedules=(Schedule(id="stream"),),
        validation=Validation((Rule("orders", Check.EXISTS),)),
        job=Job(kind, config),
    )


def a_context(attempt: int = 0, label: str = "2026-03-03", **changes: Any) -> JobContext:
    day, _, hour = label.partition("T")
    key = RunKey("silver-orders", "stream", label)
    context = JobContext(
        pipeline=key.pipeline_id,
        schedule=key.schedule_id,
        label=label,
        date=day,
        hour=hour or None,
        attempt=attempt,
        token=job_token("test", key, attempt),
        opened_at=now(),
    )
    return msgspec.structs.replace(context, **changes)


def surroundings(
    state: Path, environment: Mapping[str, str] = ENVIRONMENT, **changes: Any
) -> Surroundings:
    given = {
        "clock": now,
        "environment": environment,
        "secrets": Secrets(environment, state / "secrets"),
        "state": state,
        "project": state,
        "allowed": AllowedHosts.parse("127.0.0.0/8"),
    }
    return Surroundings(**{**given, **changes})


def ending(
    jobs: Jobs, launched: Launched, seconds: float = 20, pause: float = 0.01
) -> Succeeded | Failed:
    """Poll until the job has ended."""

    def ended() -> list[Succeeded | Failed]:
        answer = jobs.poll(launched.metadata)
        return [] if isinstance(answer, Running) else [answer]

    return soon(ended, seconds, pause)[0]


def soon(look: Callable[[], T | None], seconds: float = 20, pause: float = 0.01) -> T:
    """What a look finds, as soon as it finds something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError("it did not come")
