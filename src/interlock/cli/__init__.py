"""Command line: parse, call one thing, render.

Each command is a module of its own, imported when it is called: `interlock --help` imports none.
"""

import os
import sys

import click

from interlock import __version__
from interlock.cli.command_table import LazyCommands
from interlock.cli.exits import Exit
from interlock.cli.options import Options
from interlock.errors import InterlockError, TransientError, UnavailableError


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--project",
    default=".",
    metavar="DIR",
    help="The project folder; default: here.",
)
@click.option(
    "--backend",
    type=click.Choice(["local", "aws"]),
    default="local",
    help="The home to talk to: this machine's, or the one on AWS that interlock.toml names.",
)
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.version_option(__version__, prog_name="interlock", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context, project: str, backend: str, debug: bool) -> None:
    """Interlock: a job starts when its inputs are proven ready; once, on time, with proof."""
    context.obj = Options(project, debug, backend)
    if os.environ.get("NO_COLOR"):
        context.color = False


def main() -> None:
    """The entry of the command line. Errors are one or two lines; `--debug` shows the rest."""
    try:
        app(standalone_mode=True, prog_name="interlock")
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has left; there is nobody to tell
        sys.exit(Exit.FOUND_PROBLEMS)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"interlock: {_sentence(error)}", err=True)
        sys.exit(_exit_for(error))


def _exit_for(error: Exception) -> Exit:
    return (
        Exit.UNREACHABLE
        if isinstance(error, UnavailableError | TransientError)
        else Exit.FOUND_PROBLEMS
    )


def _sentence(error: Exception) -> str:
    from interlock.cli.shown import printable  # only now: `--help` does not wait for it

    if isinstance(error, InterlockError):
        return "\n".join(map(printable, str(error).split("\n")))
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"{printable(reason)}\nThis is a fault of Interlock itself; --debug shows where."
