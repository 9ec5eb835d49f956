"""Polling: what the state machine is told about a job, and when to look again."""

from datetime import datetime, timedelta
from typing import Any

from interlock.domain.run import Run, Status
from interlock.lifecycle.step import Step, seconds_until

SHORTEST = timedelta(seconds=10)
LONGEST = timedelta(seconds=60)


def poll_answer(step: Step, run: Run, now: datetime, event: str = "") -> dict[str, Any]:
    """The data that Trigger and CheckJob leave behind; all fields, always."""
    window = step.pipeline.job.poll_window
    current = step.is_current(run)
    launched = current and run.status is Status.RUNNING
    window_end = (run.launched_at or now) + window
    exhausted = launched and not event and now >= window_end
    return {
        "current": current,
        "launched": launched,
        "runId": run.run_id or "",
        "event": event,
        "exhausted": exhausted,
        "waitSeconds": _wait(run, now, window_end) if launched and not event else 0,
        "pollWindowSeconds": int(window.total_seconds()),
        "armSla": False,
    }


def _wait(run: Run, now: datetime, window_end: datetime) -> int:
    """Half the time it has run, within bounds; at once for a job that ended inside its launch."""
    if run.job.get("finished"):
        return 0
    half = (now - (run.launched_at or now)) / 2
    wait = min(max(half, SHORTEST), LONGEST)
    return min(seconds_until(now + wait, now), seconds_until(window_end, now))
