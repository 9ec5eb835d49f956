"""Try a job: launch it once for real and follow it to its end. It creates no run, no row and no event."""

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum

import msgspec

from interlock.domain.cron import cron_grain
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.job_configs import Completion
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.partition import Grain, Label, label_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.run import RunKey, trial_token
from interlock.domain.zones import zone
from interlock.errors import LaunchError, TransientError
from interlock.ports.jobs import Jobs
from interlock.usecases.job_context import context_of

#: Waits a while; False when the time is up.
Waiting = Callable[[], bool]


class Part(StrEnum):
    """What a trial does, in this order."""

    LAUNCH = "launch"
    FIND = "find"
    POLL = "poll"
    END = "end"


class TrialStep(msgspec.Struct, frozen=True):
    """The result of one part. `is_good` is False for what would harm an attempt."""

    part: Part
    message: str
    is_good: bool = True


def trial_context(
    pipeline: Pipeline, schedule: Schedule, date: str | None, now: datetime, instance: str
) -> JobContext:
    """As for a first attempt, under a token that no attempt ever has. ValueError for an invalid date."""
    label = _present(schedule, now) if date is None else Label.parse(date)
    key = RunKey(pipeline.id, schedule.id, str(label))
    return context_of(key, 0, trial_token(instance, key, now), now)


def try_job(
    pipeline: Pipeline, context: JobContext, jobs: Jobs, wait: Waiting
) -> Iterator[TrialStep]:
    """Yields each part as it is done. The last one is good if the job succeeded."""
    try:
        launched = jobs.launch(pipeline, context)
    except LaunchError as error:
        doubt = "; it may have started anyway" if error.maybe_started else ""
        yield TrialStep(Part.LAUNCH, f"{error.category}: {error}{doubt}", False)
        return
    yield TrialStep(Part.LAUNCH, f"started, run id {launched.run_id}")
    yield _look(pipeline, context, launched, jobs)
    if _tells_itself(pipeline) and not launched.finished:
        yield TrialStep(Part.END, "the job reports its own end, which a trial does not receive")
        return
    yield from _follow(launched, jobs, wait)


def _present(schedule: Schedule, now: datetime) -> Label:
    grain = Grain.DAY if schedule.cron is None else cron_grain(schedule.cron)
    return label_at(now, zone(schedule.timezone), grain)


def _look(pipeline: Pipeline, context: JobContext, launched: Launched, jobs: Jobs) -> TrialStep:
    """Whether an unrecorded start would be recognised."""
    try:
        found = jobs.find(pipeline, context)
    except (LaunchError, TransientError) as error:
        return TrialStep(Part.FIND, f"the lookup failed: {error}", False)
    if isinstance(found, Launched):
        same = found.run_id == launched.run_id
        message = "found again by its token" if same else f"found another one: {found.run_id}"
        return TrialStep(Part.FIND, message, same)
    return TrialStep(Part.FIND, _UNFOUND[type(found)])


_UNFOUND: dict[type[Absent | CannotTell], str] = {
    Absent: "not listed under its token: a repeat is recognised only if the platform supports tokens",
    CannotTell: "this job can't be looked up: a start of unknown outcome is repeated,"
    " unless atMostOnce says otherwise",
}


def _tells_itself(pipeline: Pipeline) -> bool:
    config = msgspec.convert(pipeline.job.config, JOB_KINDS[pipeline.job.type].config)
    return getattr(config, "ends_by", None) == Completion.EVENT


def _follow(launched: Launched, jobs: Jobs, wait: Waiting) -> Iterator[TrialStep]:
    told = None
    while True:
        step = _polled(launched, jobs)
        if step.part is Part.END:
            yield step
            return
        if step != told:
            yield step
        told = step
        if not wait():
            yield TrialStep(Part.END, "it has not ended yet, and continues unwatched", False)
            return


def _polled(launched: Launched, jobs: Jobs) -> TrialStep:
    try:
        answer = jobs.poll(launched.metadata)
    except TransientError as error:
        return TrialStep(Part.POLL, f"no answer, trying again: {error}", False)
    match answer:
        case Running(message, unseen):
            return TrialStep(Part.POLL, message or "running", not unseen)
        case Succeeded(message):
            return TrialStep(Part.END, f"succeeded: {message}" if message else "succeeded")
        case Failed(category, message):
            kind = "stopped" if answer.stopped else f"failed ({category or 'unknown kind'})"
            return TrialStep(Part.END, f"{kind}: {message}", False)
