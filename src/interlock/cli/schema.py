"""Schema: the JSON Schema of a kind of file, for editors, or of what a command prints, for programs."""

import json

import click

from interlock.cli.json_answers import answer_schema, commands_answering
from interlock.errors import ConfigError
from interlock.files import alerts_schema, calendar_schema, pipeline_schema

KINDS = {"pipeline": pipeline_schema, "calendar": calendar_schema, "alerts": alerts_schema}


@click.command("schema")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--kind",
    type=click.Choice([*KINDS]),
    default="pipeline",
    show_default=True,
    help="Which kind of file.",
)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], kind: str) -> None:
    """Print the JSON Schema of a kind of file, or of what COMMAND prints with --json.

    Editors check a file that begins with `# yaml-language-server: $schema=PATH` while you type.
    """
    found = _answer(context, " ".join(words)) if words else KINDS[kind]()
    click.echo(json.dumps(found, indent=2))


def _answer(context: click.Context, name: str) -> dict[str, object]:
    from interlock.cli import app
    from interlock.domain.suggestion import did_you_mean

    commands = dict(commands_answering(app, context))
    if name not in commands:
        hint = did_you_mean(name, commands) or f"those that do: {', '.join(commands)}"
        raise ConfigError(f"{name} is no command that prints JSON; {hint}")
    return answer_schema(name, commands[name])
