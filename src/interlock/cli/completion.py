"""Completion: the script that completes commands and options in a shell, printed or installed."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from interlock.cli.installed_file import install as install_file
from interlock.errors import ConfigError

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_INTERLOCK_COMPLETE"
#: Where each shell looks by itself: below the home folder.
_PLACES = {
    "bash": ".local/share/bash-completion/completions/interlock",
    "zsh": ".zfunc/_interlock",
    "fish": ".config/fish/completions/interlock.fish",
}
_NEXT = {
    "bash": "Open a new shell; it needs the package bash-completion.",
    "zsh": "Add to ~/.zshrc, if it is not there: fpath+=~/.zfunc; autoload -Uz compinit && compinit",
    "fish": "Open a new shell.",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write the script to where the shell looks for it.")
def command(shell: str | None, install: bool) -> None:
    """Print the script that completes commands in SHELL; without SHELL, in the one of $SHELL."""
    chosen = shell or _own_shell()
    script = _script(chosen)
    if not install:
        click.echo(script)
        return
    install_file(Path.home() / _PLACES[chosen], script, _NEXT[chosen])


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise ConfigError(f"name the shell: interlock completion {'|'.join(SHELLS)}")
    return name


def _script(shell: str) -> str:
    from interlock.cli import app

    found = get_completion_class(shell)
    assert found is not None
    return found(app, {}, "interlock", _VARIABLE).source()
