"""Polling: what the state machine learns about a job, and when to poll again."""

from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

from interlock.domain import canonical
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import Launch, launch_of
from interlock.domain.polled import Polled
from interlock.domain.run import Run
from interlock.lifecycle.step import Step, seconds_until

T = TypeVar("T")

SHORTEST = timedelta(seconds=10)
LONGEST = timedelta(seconds=60)


def poll_answer(step: Step, run: Run, now: datetime) -> dict[str, Any]:
    """The output of Trigger and CheckJob; all fields, always."""
    if step.is_current(run):
        return _answer(step, launch_of(run), now)
    return _answer(step, None, now) | {"current": False, "runId": run.run_id or ""}


def running_answer(step: Step, launch: Launch, now: datetime) -> dict[str, Any]:
    """The same, for a job without news."""
    return _answer(step, launch, now)


def ended_answer(step: Step, launch: Launch, ending: JobRecord, now: datetime) -> dict[str, Any]:
    """The same, for a job that has ended: its record is in the job log."""
    over = {"event": ending.event, "exhausted": False, "waitSeconds": 0}
    return _answer(step, launch, now) | over | {"ending": canonical.encode(ending)}


def ending_seen_by(step: Step) -> JobRecord | None:
    """The record that the last poll found or wrote; None after an exhausted poll window."""
    return _carried(step, "ending", JobRecord)


def watched_by(step: Step) -> Launch | None:
    """What the last poll left for this one, to avoid reading the run. Executions started by an older
    version have none.
    """
    return _carried(step, "watched", Launch)


def _carried(step: Step, name: str, kind: type[T]) -> T | None:
    text = step.given.get(name)
    return msgspec.convert(canonical.decode(text), kind, strict=False) if text else None


def _answer(step: Step, launch: Launch | None, now: datetime) -> dict[str, Any]:
    window = step.pipeline.job.poll_window
    polled = None if launch is None else _polled(step, launch).looked(now)
    rest = window - (timedelta(0) if polled is None else polled.counted)
    wait = 0 if launch is None else _wait(step, launch, now, rest)
    return {
        "current": True,
        "launched": launch is not None,
        "runId": "" if launch is None else launch.run_id or "",
        "event": "",
        "exhausted": launch is not None and rest <= timedelta(0),
        "waitSeconds": wait,
        "pollWindowSeconds": int(window.total_seconds()),
        "armSla": False,
        "watched": _watched(launch, polled, wait),
        "ending": "",
    }


def _polled(step: Step, launch: Launch) -> Polled:
    """As the last poll of this execution left it; the first one counts from the launch."""
    before = watched_by(step)
    return (before and before.polled) or Polled(launch.launched_at)


def _watched(launch: Launch | None, polled: Polled | None, wait: int) -> str:
    if launch is None or polled is None:
        return ""
    planned = polled.planned(timedelta(seconds=wait))
    return canonical.encode(msgspec.structs.replace(launch, polled=planned))


def _wait(step: Step, launch: Launch, now: datetime, rest: timedelta) -> int:
    """The interval that the owner set, or half of the time the job has run, within bounds; at once for a job
    that ended within its launch.
    """
    if launch.job.get("finished"):
        return 0
    half = (now - launch.launched_at) / 2
    wait = step.pipeline.job.polled_every or min(max(half, SHORTEST), LONGEST)
    return seconds_until(now + min(wait, rest), now)
