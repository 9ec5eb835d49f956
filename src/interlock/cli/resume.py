"""Resume: resume a paused pipeline, after showing what that starts."""

import click
import msgspec

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.shown import count, document, lines
from interlock.domain.config import Config
from interlock.operations.requests import NewResume
from interlock.usecases.pause import Foreseen


class ResumeAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What the resume starts, and the config afterwards; none in a dry run."""

    would_start: list[Foreseen]
    config: Config | None


@click.command("resume")
@click.argument("pipeline")
@click.option("--dry-run", is_flag=True, help="Only show what would start.")
@click.option("--reason", default="", help="Recorded with your name.")
@json_option(ResumeAnswer)
@click.pass_obj
def command(options: Options, pipeline: str, dry_run: bool, reason: str, as_json: bool) -> None:
    """Resume PIPELINE. Shows what will start first, then handles every date of the pause."""
    with acting(options) as backend:
        foreseen = backend.queries.would_resume(pipeline).items
        paused = backend.queries.why(pipeline).items[0].paused
        if not as_json:
            click.echo(f"{pipeline}: {count(len(foreseen), 'date')} to start")
            lines("  ", [f"{each.date} ({each.schedule_id}): {each.why}" for each in foreseen])
        wanted = NewResume(reason=reason)
        config = None if dry_run else backend.commands.resume(pipeline, wanted)
        if as_json:
            document(ResumeAnswer(would_start=foreseen, config=config))
        elif not dry_run:
            click.echo(f"{pipeline}: {'resumed' if paused else 'was not paused'}")
        if not dry_run:
            backend.say_if_unserved()
