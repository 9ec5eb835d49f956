"""Schema: the JSON Schema of a kind of file, for editors."""

import json

import click

from interlock.files import alerts_schema, calendar_schema, pipeline_schema

KINDS = {"pipeline": pipeline_schema, "calendar": calendar_schema, "alerts": alerts_schema}


@click.command("schema")
@click.option(
    "--kind",
    type=click.Choice([*KINDS]),
    default="pipeline",
    show_default=True,
    help="Which kind of file.",
)
def command(kind: str) -> None:
    """Print the JSON Schema of a kind of file.

    Editors check a file that begins with `# yaml-language-server: $schema=PATH` while you type.
    """
    click.echo(json.dumps(KINDS[kind](), indent=2))
