"""Run output: what the job of an attempt printed, and how far the attempt is."""

from typing import Literal

import msgspec

from interlock.domain.job_output import JobOutput, OutputPart, OutputRequest
from interlock.domain.job_record import JobRecord
from interlock.domain.run import Run, job_token
from interlock.errors import NotFoundError
from interlock.ports.jobs import JobOutputs
from interlock.usecases.job_ending import ENDINGS
from interlock.usecases.ports import Ports

#: `waiting` for its start, `running`, or `ended`.
OutputState = Literal["waiting", "running", "ended"]


class RunOutput(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The kept part of an attempt's output. The text is from byte `start` to byte `end` of its stream."""

    pipeline_id: str
    schedule_id: str
    date: str
    attempt: int
    job_type: str | None
    run_id: str | None
    state: OutputState
    #: Known once it has ended.
    succeeded: bool | None
    #: Why the attempt failed.
    failure: str | None
    stream: str
    text: str
    start: int
    end: int
    size: int
    kept_from: int
    sizes: dict[str, int]
    exit_code: int | None
    signal: int | None
    link: str | None
    note: str

    @property
    def is_growing(self) -> bool:
        """Whether there may be more to read."""
        return self.state != "ended" or self.end < self.size


def run_output(
    run: Run, attempt: int | None, part: OutputPart, ports: Ports, outputs: JobOutputs
) -> RunOutput:
    """Without an attempt, of the last one that started. Raises NotFoundError for one that there is not."""
    records = ports.job_log.of_run(run.key)
    wanted = _last_started(run) if attempt is None else attempt
    if wanted > run.attempt:
        raise NotFoundError(f"{run.key} has no attempt {wanted}: the last is attempt {run.attempt}")
    own = [record for record in records if record.attempt == wanted]
    is_current = wanted == run.attempt
    run_id = run.run_id if is_current else next((r.run_id for r in own if r.run_id), None)
    launched = run.launched_at is not None if is_current else True
    found = (
        JobOutput()
        if not launched
        else outputs.read(
            OutputRequest(
                job_type=run.job_type or "",
                token=job_token(ports.instance, run.key, wanted),
                run_id=run_id,
                job=run.job,
                part=part,
            )
        )
    )
    ending = next((record for record in own if record.event in ENDINGS), None)
    is_over = ending is not None or found.ended or not is_current or not run.is_open
    failure = run.failure.message if is_current and run.failure is not None else _error(ending)
    return RunOutput(
        pipeline_id=run.key.pipeline_id,
        schedule_id=run.key.schedule_id,
        date=run.key.date,
        attempt=wanted,
        job_type=run.job_type,
        run_id=run_id,
        state="ended" if is_over else "running" if launched else "waiting",
        succeeded=_succeeded(run, ending, found) if is_over else None,
        failure=failure,
        stream=part.stream,
        text=found.text,
        start=found.start,
        end=found.end,
        size=found.size,
        kept_from=found.kept_from,
        sizes=found.sizes,
        exit_code=found.exit_code,
        signal=found.signal,
        link=found.link,
        note=_note(run, found, launched=launched),
    )


def _last_started(run: Run) -> int:
    """A retry that waits for its rules has printed nothing yet; the attempt before it has."""
    return run.attempt if run.launched_at is not None or not run.attempt else run.attempt - 1


def _succeeded(run: Run, ending: JobRecord | None, found: JobOutput) -> bool:
    if ending is not None:
        return ending.event == "success"
    if found.ended:
        return found.exit_code == 0
    return run.completed_at is not None


def _error(ending: JobRecord | None) -> str | None:
    return None if ending is None or ending.event == "success" else ending.error


def _note(run: Run, found: JobOutput, *, launched: bool) -> str:
    if not launched:
        return "the job has not started"
    return "a dry run starts no job" if run.key.dry else found.note
