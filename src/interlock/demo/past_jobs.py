"""Past jobs: the commands of the demo, run at once and on record as if they had taken their time then."""

import os
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from interlock.adapters.jobs.command.exit_codes import judged
from interlock.adapters.jobs.command.job_folder import CommandEnded, JobFolder
from interlock.adapters.jobs.command.supervisor import BOTH, EXIT, STDERR, STDOUT
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.ports.engine import Clock

_TOLD_LINES = 20
_LONGEST_SECONDS = 30
_USUAL = timedelta(minutes=4)
#: How long the jobs of some pipelines took; the others took a few minutes.
_TOOK = {
    "card-settlement": timedelta(seconds=50),
    "crypto-gold": timedelta(seconds=0.4),
    "clickstream-report": timedelta(seconds=0.3),
    "clickstream-sessions": timedelta(seconds=3),
    "fraud-scores": timedelta(seconds=6),
}


class PastJobs:
    """Leaves what the adapter of commands leaves, so that a server finds each job and its output. Every job
    has ended by `until`.
    """

    def __init__(self, state: Path, clock: Clock, until: datetime) -> None:
        self._state, self._clock, self._until = state, clock, until
        self._ends: dict[str, datetime] = {}

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        folder = JobFolder(self._state, context.token)
        if folder.claim():
            began = self._clock()
            ends = min(began + _TOOK.get(pipeline.id, _USUAL), max(began, self._until))
            self._ends[context.token] = ends
            _run(folder, pipeline.job.config["command"], context, began, ends)
        return Launched(context.token, {"token": context.token})

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        if JobFolder(self._state, context.token).ending() is None:
            return Absent()
        return Launched(context.token, {"token": context.token})

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        ended = JobFolder(self._state, metadata["token"]).ending()
        if ended is None or self._clock() < ended.at:
            return Running()
        return judged(ended)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return False

    def next_end(self) -> datetime | None:
        """When the next job ends."""
        return min(self._ends.values(), default=None)

    def end(self, now: datetime) -> bool:
        """Whether any job has ended by now; each is counted once."""
        over = [token for token, at in self._ends.items() if at <= now]
        for token in over:
            del self._ends[token]
        return bool(over)


def _run(
    folder: JobFolder, argv: list[str], context: JobContext, began: datetime, ends: datetime
) -> None:
    facts = {
        "INTERLOCK_LABEL": context.label,
        "INTERLOCK_DATE": context.date,
        "INTERLOCK_ATTEMPT": str(context.attempt),
        "DEMO_PAUSE": "0",
    }
    done = subprocess.run(  # noqa: S603 - a command of the demo's own files
        [word.replace("$${", "${") for word in argv],  # as the adapter of commands reads them
        check=False,
        capture_output=True,
        env={**os.environ, **facts},
        timeout=_LONGEST_SECONDS,
    )
    tail = (done.stdout + done.stderr).decode(errors="replace").splitlines()[-_TOLD_LINES:]
    ended = CommandEnded(
        code=done.returncode,
        signal=None,
        wish=None,
        began_at=began.timestamp(),
        ended_at=ends.timestamp(),
        message=(done.stderr.decode(errors="replace").splitlines() or [""])[-1],
        tail="\n".join(tail) if done.returncode else "",
    )
    files: dict[str, bytes] = {
        STDOUT: done.stdout,
        STDERR: done.stderr,
        BOTH: done.stdout + done.stderr,
        EXIT: msgspec.json.encode(ended),
    }
    for name, content in files.items():
        (folder.path / name).write_bytes(content)
