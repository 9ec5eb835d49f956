"""Manual: the declarations of the commands as a page for `man`, in roff."""

from collections.abc import Iterator

import click

from interlock import __version__
from interlock.cli.exits import EXITS

_ABOUT = (
    "Interlock is a safety controller for data pipelines. Sensors report the state of your data, rules say"
    " what must be true, and Interlock starts a job when the rules hold: once, on time, with the evidence on"
    " record."
)
_VARIABLES = {
    "INTERLOCK_URL": "The server to ask, anywhere; without it, the state file of the project.",
    "INTERLOCK_TOKEN": "The token for that server.",
    "NO_COLOR": "Print without colours.",
}


def manual(app: click.Group) -> str:
    """The whole page: the program, its options, and every command with its own."""
    context = click.Context(app, info_name="interlock", **app.context_settings)
    lines = [
        f'.TH INTERLOCK 1 "" "Interlock {__version__}" "User Commands"',
        ".SH NAME",
        "interlock \\- start a job only when its inputs are proven ready",
        ".SH SYNOPSIS",
        ".B interlock",
        r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]...",
        ".SH DESCRIPTION",
        _escaped(_ABOUT),
        ".SH OPTIONS",
        *_options(app, context),
        ".SH COMMANDS",
        *_commands(app, context),
        ".SH EXIT STATUS",
        *_items({str(int(code)): said for code, said in EXITS.items()}),
        ".SH ENVIRONMENT",
        *_items(_VARIABLES),
        ".SH FILES",
        *_items(
            {
                "interlock.toml": "The settings of the project.",
                "pipelines/*.yaml": "One file per pipeline.",
                ".interlock/": "The state of a local server.",
            }
        ),
    ]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Each command below the group; a group within it is only the way to its commands."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)
            continue
        words = " ".join((inner.command_path, *command.collect_usage_pieces(inner)))
        yield f'.SS "{_escaped(words)}"'
        yield from _paragraphs(command.help or "")
        yield from _options(command, inner)


def _paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _escaped(" ".join(part.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Its arguments stand in its usage, and every command has --help."""
    own = command.get_params(context) if context.parent is None else command.params
    records = (each.get_help_record(context) for each in own if isinstance(each, click.Option))
    return _items(dict(record for record in records if record is not None))


def _items(found: dict[str, str]) -> Iterator[str]:
    for name, said in found.items():
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _escaped(" ".join(said.split()))


def _escaped(text: str) -> str:
    """Roff reads a backslash anywhere, and a point or an apostrophe at the start of a line, as its own. A
    minus sign can be copied; a hyphen of the typesetter can't.
    """
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
