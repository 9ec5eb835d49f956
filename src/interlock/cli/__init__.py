"""Command line: parse, call one thing, render.

Each command is its own module, imported when it is called: `interlock --help` imports none of them.
"""

import os
import sys
from typing import NoReturn

import click

from interlock import __version__
from interlock.cli.command_table import LazyCommands
from interlock.cli.exits import Exit, Interrupted
from interlock.cli.options import Options
from interlock.errors import InterlockError, TransientError, UnavailableError


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--project",
    default=".",
    metavar="DIR",
    help="The project folder; default: the current folder.",
)
@click.option(
    "--backend",
    type=click.Choice(["local", "aws"]),
    default="local",
    help="The backend to use: this machine, or the AWS installation named in interlock.toml.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, prog_name="interlock", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context, project: str, backend: str, debug: bool) -> None:
    """Interlock starts a job only when its inputs are proven ready: once, on time, with proof."""
    context.obj = Options(project, debug, backend)
    if os.environ.get("NO_COLOR"):
        context.color = False


def main() -> None:
    """The entry point. Errors are one or two lines; `--debug` adds the traceback."""
    try:
        sys.exit(app.main(standalone_mode=False, prog_name="interlock") or Exit.FINE)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (Interrupted, KeyboardInterrupt) as error:
        _end_interrupted(str(error))
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # at a question, or before the command
            _end_interrupted("")
        click.echo("Aborted!", err=True)
        sys.exit(Exit.FOUND_PROBLEMS)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has closed the pipe
        sys.exit(Exit.FOUND_PROBLEMS)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"interlock: {_sentence(error)}", err=True)
        sys.exit(_exit_for(error))


def _end_interrupted(goes_on: str) -> NoReturn:
    """One line, below the ^C that a terminal shows."""
    start = "\n" if sys.stderr.isatty() else ""
    rest = f"; {goes_on}" if goes_on else ""
    click.echo(f"{start}interlock: interrupted{rest}", err=True)
    sys.exit(Exit.INTERRUPTED)


def _exit_for(error: Exception) -> Exit:
    return (
        Exit.UNREACHABLE
        if isinstance(error, UnavailableError | TransientError | MemoryError)
        else Exit.FOUND_PROBLEMS
    )


def _sentence(error: Exception) -> str:
    from interlock.cli.shown import printable  # imported here to keep `--help` fast

    if isinstance(error, InterlockError):
        return "\n".join(map(printable, str(error).split("\n")))
    if isinstance(error, MemoryError):
        return "out of memory; free some memory and try again"
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"{printable(reason)}\nThis is a bug in Interlock; run the command with --debug for the traceback."
