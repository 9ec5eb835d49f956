"""Polling: what the state machine is told about a job, and when to look again."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import canonical
from interlock.domain.launch import Launch, launch_of
from interlock.domain.run import Run
from interlock.lifecycle.step import Step, seconds_until

SHORTEST = timedelta(seconds=10)
LONGEST = timedelta(seconds=60)


def poll_answer(step: Step, run: Run, now: datetime, event: str = "") -> dict[str, Any]:
    """The data that Trigger and CheckJob leave behind; all fields, always."""
    if step.is_current(run):
        return _answer(step, launch_of(run), now, event)
    return _answer(step, None, now, "") | {"current": False, "runId": run.run_id or ""}


def running_answer(step: Step, launch: Launch, now: datetime) -> dict[str, Any]:
    """The same, of a job of which there is nothing new."""
    return _answer(step, launch, now, "")


def watched_by(step: Step) -> Launch | None:
    """What the last look left for this one, so that it need not read the run. An execution that was
    started by an older version has none.
    """
    text = step.given.get("watched")
    return msgspec.convert(canonical.decode(text), Launch) if text else None


def _answer(step: Step, launch: Launch | None, now: datetime, event: str) -> dict[str, Any]:
    window = step.pipeline.job.poll_window
    window_end = now if launch is None else launch.launched_at + window
    waits = launch is not None and not event
    return {
        "current": True,
        "launched": launch is not None,
        "runId": "" if launch is None else launch.run_id or "",
        "event": event,
        "exhausted": waits and now >= window_end,
        "waitSeconds": 0 if launch is None or event else _wait(launch, now, window_end),
        "pollWindowSeconds": int(window.total_seconds()),
        "armSla": False,
        "watched": "" if launch is None else canonical.encode(launch),
    }


def _wait(launch: Launch, now: datetime, window_end: datetime) -> int:
    """Half the time it has run, within bounds; at once for a job that ended inside its launch."""
    if launch.job.get("finished"):
        return 0
    half = (now - launch.launched_at) / 2
    wait = min(max(half, SHORTEST), LONGEST)
    return min(seconds_until(now + wait, now), seconds_until(window_end, now))
