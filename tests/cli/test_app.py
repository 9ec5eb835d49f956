"""The command line as a whole: help without imports, short errors, honest exit codes."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from interlock import __version__
from interlock.cli import app
from interlock.cli.command_table import COMMANDS


def interlock(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "interlock", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_help_names_every_command_and_imports_none() -> None:
    code = (
        "import sys; from interlock.cli import app; app(['--help'], standalone_mode=False);"
        "print(sorted(n for n in sys.modules if n.startswith(('interlock.files', 'msgspec', 'yaml',"
        " 'rich', 'interlock.domain'))))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.splitlines()[-1] == "[]"
    for name, (_, line) in COMMANDS.items():
        assert name in found.stdout and line in found.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module_and_a_help(name: str) -> None:
    command = import_module(f"interlock.cli.{COMMANDS[name][0]}").command
    assert isinstance(command, click.Command)
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0 and result.output.startswith("Usage: ")


def test_the_version_is_that_of_the_package() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"interlock {__version__}\n"


def test_an_unknown_command_is_wrong_use() -> None:
    result = interlock("validat")
    assert result.returncode == 2
    assert "there is no command 'validat'; did you mean validate?" in result.stderr


def test_an_error_is_a_line_or_two_and_debug_shows_the_rest(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    short = interlock("init", str(tmp_path))
    assert short.returncode == 1
    assert len(short.stderr.splitlines()) == 2
    assert "Traceback" not in short.stderr
    assert "Traceback" in interlock("--debug", "init", str(tmp_path)).stderr


def test_a_command_that_finds_no_memory_says_so_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text("#" * 50_000_000)
    code = (
        "import resource, sys, interlock.cli.validate, interlock.wiring.settings;"
        "pages = int(open('/proc/self/statm').read().split()[0]);"
        "resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + 20_000_000,) * 2);"
        f"sys.argv = ['interlock', '--project', {str(tmp_path)!r}, 'validate'];"
        "from interlock.cli import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert found.returncode == 3
    assert found.stderr == "interlock: out of memory; free some memory and try again\n"


def test_a_reader_that_leaves_early_is_no_error_to_speak_of(tmp_path: Path) -> None:
    command = f"{sys.executable} -m interlock schema | head -c 1"
    result = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert result.stderr == ""
