"""Job context: what a job may be told about its run, with the token of its attempt."""

from interlock.domain.partition import Label
from interlock.domain.run import Run, job_token
from interlock.ports import JobContext, Ports


def job_context(run: Run, ports: Ports) -> JobContext:
    label = Label.parse(run.key.date)
    return JobContext(
        pipeline=run.key.pipeline_id,
        schedule=run.key.schedule_id,
        label=run.key.date,
        date=str(Label(label.day)),
        hour=None if label.hour is None else f"{label.hour:02}",
        attempt=run.attempt,
        token=job_token(ports.instance, run.key, run.attempt),
        opened_at=run.opened_at,
    )
