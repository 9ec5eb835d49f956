"""Project: the pipelines that are attacked, and the job that writes down when it began and ended."""

import time
from dataclasses import dataclass
from pathlib import Path

#: Shorter than many a stop: the job ends in time, and the server wakes after its deadline.
SHORT_SLA = 6
LONG_SLA = 45
#: A start that was refused twice is tried again after 30 and 60 s, and its end is polled for after 10 s.
REMOTE_SLA = 120

#: The rule on `final` stands last: a file that is cut off before it is valid, and lets too much pass.
PIPELINE = """\
pipeline: {{id: {name}, owner: attack}}
{schedule}
{sla}
job:
  type: {job}
  maxRetries: 8
validation:
  rules:
    - {{key: landed, check: gte, field: count, value: 10}}
    - {{key: landed, check: equals, field: final, value: "yes"}}
"""

SCHEDULE = """\
schedule:
  id: stream
  trigger: {key: landed, check: exists}
  evaluation: {window: 15s, interval: 5s}"""

COMMAND = """command
  config:
    command: [/bin/sh, {script}, "{seconds}"]"""

HTTP = """http
  config:
    url: {platform}/runs
    statusUrl: {platform}/runs/${{RUN_ID}}
    timeout: 2s"""

#: The book is appended to in one write each time, and synced. The clock of the job is the real one.
JOB = """\
unset LD_PRELOAD
line() {{
  printf '%s %s %s %s %s %s\\n' "$1" "$INTERLOCK_JOB_TOKEN" "$INTERLOCK_PIPELINE" \\
    "$INTERLOCK_LABEL" "$INTERLOCK_ATTEMPT" "$(date +%s.%N)" |
    dd of={book} oflag=append conv=notrunc,fsync status=none
}}
line begin || exit 75
sleep "$1"
line end || exit 75
"""


@dataclass(frozen=True)
class Pipeline:
    """What the books must know about it."""

    name: str
    labels: str = "days"
    max_duration: float | None = None
    #: The minute of the hour at which every open label is due.
    minute: int | None = None
    remote: bool = False
    edited: bool = False
    seconds: str = "0.2"

    def text(self, folder: Path, platform: str) -> str:
        job = HTTP.format(platform=platform)
        if not self.remote:
            job = COMMAND.format(script=folder / "job.sh", seconds=self.seconds)
        return PIPELINE.format(name=self.name, schedule=SCHEDULE, sla=self._sla(), job=job)

    def _sla(self) -> str:
        if self.max_duration is not None:
            return f"sla: {{maxDuration: {self.max_duration:.0f}s}}"
        if self.minute is not None:
            return f'sla: {{deadline: ":{self.minute:02}"}}'
        return "# no deadline"


def attacked() -> tuple[Pipeline, ...]:
    """The pipelines of the server that every trouble is made for."""
    minute = (time.gmtime().tm_min + 1) % 60
    return (
        Pipeline("orders", max_duration=SHORT_SLA),
        Pipeline("hours", labels="hours", max_duration=LONG_SLA, seconds="1.5"),
        Pipeline("minutes", labels="minutes", minute=minute),
        Pipeline("remote", max_duration=REMOTE_SLA, remote=True),
        Pipeline("edited", edited=True),
    )


def out_of_time() -> tuple[Pipeline, ...]:
    """The pipelines of the server whose clock is moved: a deadline would mean nothing there."""
    return (Pipeline("clocked"), Pipeline("clocked-hours", labels="hours", seconds="1"))


def make_project(folder: Path, pipelines: tuple[Pipeline, ...], platform: str) -> None:
    (folder / "pipelines").mkdir(parents=True)
    (folder / ".interlock").mkdir(mode=0o700)
    (folder / "job.sh").write_text(JOB.format(book=folder / "launched"))
    (folder / "launched").touch()
    for each in pipelines:
        (folder / "pipelines" / f"{each.name}.yaml").write_text(each.text(folder, platform))
