"""Job: try a pipeline's job once, for real, or show what it would send."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import click

from interlock.cli.exits import Exit, interruptible
from interlock.cli.file_problems import in_lines
from interlock.cli.options import Options
from interlock.cli.shown import document, lines
from interlock.domain import duration
from interlock.domain.job import JobContext
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.errors import ConfigError, NotFoundError
from interlock.files import load_project
from interlock.usecases.try_job import TrialStep, trial_context, try_job
from interlock.wiring.local_backend import make_folder, utc_now
from interlock.wiring.open_jobs import open_jobs, open_previews, open_secrets
from interlock.wiring.settings import Settings, read_settings

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


@click.group("job")
def command() -> None:
    """Try the job of a pipeline."""


@command.command()
@click.argument("pipeline")
@click.option("--date", metavar="DATE", help="The date of the run; default: the current one.")
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option(
    "--dry-run", is_flag=True, help="Print the request with secrets masked; launch nothing."
)
@click.option("--yes", is_flag=True, help="Launch without confirmation.")
@click.option(
    "--wait", metavar="SPAN", help="How long to follow the job; default: its poll window."
)
@click.pass_obj
def test(
    options: Options,
    pipeline: str,
    date: str | None,
    schedule: str | None,
    dry_run: bool,
    yes: bool,
    wait: str | None,
) -> None:
    """Launch PIPELINE's job once, for real, and report each step.

    Opens no run, and never uses the token of an attempt. Exits 1 unless the job succeeds.
    """
    settings = read_settings(Path(options.project), os.environ)
    wanted = _pipeline(options, pipeline)
    context = _context(wanted, schedule, date, settings)
    if dry_run:
        with closing(open_previews(settings, utc_now)) as jobs:
            document({"type": wanted.job.type, **jobs.preview(wanted, context)})
        return
    patience = wanted.job.poll_window if wait is None else _span(wait)
    if not yes:
        _ask(wanted, context)
    make_folder(settings)
    with interruptible("a job that started continues"):
        sys.exit(_try(wanted, context, settings, patience.total_seconds()))


def _pipeline(options: Options, pipeline_id: str) -> Pipeline:
    """From the file, whether it is in force or not."""
    project = load_project(options.project)
    if pipeline_id in project.pipelines:
        return project.pipelines[pipeline_id]
    if project.errors:
        in_lines(project.errors, len(project.sources))
    raise NotFoundError(f"no valid file declares the pipeline {pipeline_id} in {options.project}")


def _context(
    pipeline: Pipeline, schedule_id: str | None, date: str | None, settings: Settings
) -> JobContext:
    schedule = _schedule(pipeline, schedule_id)
    try:
        return trial_context(pipeline, schedule, date, utc_now(), settings.instance)
    except ValueError as error:
        raise ConfigError(f"--date: {error}") from error


def _schedule(pipeline: Pipeline, schedule_id: str | None) -> Schedule:
    for schedule in pipeline.schedules:
        if schedule_id in (None, schedule.id):
            return schedule
    known = ", ".join(schedule.id for schedule in pipeline.schedules)
    raise NotFoundError(f"{pipeline.id} has no schedule {schedule_id}; it has: {known}")


def _span(text: str) -> timedelta:
    try:
        return duration.parse(text)
    except ValueError as error:
        raise ConfigError(f"--wait: {error}") from error


def _ask(pipeline: Pipeline, context: JobContext) -> None:
    what = f"the {pipeline.job.type} job of {pipeline.id} for {context.label}"
    click.confirm(f"This launches {what}, for real. Continue?", abort=True, err=True)


def _try(pipeline: Pipeline, context: JobContext, settings: Settings, patience: float) -> Exit:
    from rich.console import Console

    click.echo(f"{pipeline.id} {context.label}: {pipeline.job.type} job, token {context.token}")
    began = time.monotonic()
    last: TrialStep | None = None
    with (
        closing(open_jobs(settings, open_secrets(settings), utc_now)) as jobs,
        Console(stderr=True).status("") as status,
    ):
        wait = _waiting(began, patience, status.update)
        for last in try_job(pipeline, context, jobs, wait):
            _show(last, time.monotonic() - began)
    return Exit.FINE if last is not None and last.is_good else Exit.FOUND_PROBLEMS


def _waiting(began: float, patience: float, tell: Callable[[str], None]) -> Callable[[], bool]:
    """Pauses grow over time; on a terminal, progress is shown."""

    def wait() -> bool:
        passed = time.monotonic() - began
        left = patience - passed
        tell(f"followed for {passed:.0f} s; Ctrl-C stops following, not the job")
        time.sleep(max(0.0, min(left, _LONGEST_PAUSE, max(_FIRST_PAUSE, passed / 4))))
        return left > 0

    return wait


def _show(step: TrialStep, seconds: float) -> None:
    colour = None if step.is_good else "red"
    lines(f"  {step.part:<6} {seconds:6.1f} s  ", [step.message], colour)
