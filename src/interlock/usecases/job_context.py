"""Job context: what a job may know about its run, with the token of its attempt."""

from datetime import datetime

from interlock.domain.job import JobContext
from interlock.domain.partition import Label
from interlock.domain.run import Run, RunKey, job_token
from interlock.usecases.ports import Ports


def job_context(run: Run, ports: Ports) -> JobContext:
    token = job_token(ports.instance, run.key, run.attempt)
    return context_of(run.key, run.attempt, token, run.opened_at)


def context_of(key: RunKey, attempt: int, token: str, opened_at: datetime) -> JobContext:
    label = Label.parse(key.date)
    return JobContext(
        pipeline=key.pipeline_id,
        schedule=key.schedule_id,
        label=key.date,
        date=str(Label(label.day)),
        hour=None if label.hour is None else f"{label.hour:02}",
        attempt=attempt,
        token=token,
        opened_at=opened_at,
    )
