"""`man`: the page has every command and option of the help, and the tools of man accept it."""

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from cli.place import Place
from interlock.cli import app
from interlock.cli.exits import Exit
from interlock.cli.manual import manual


def leaves(group: click.Group, context: click.Context) -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            found += leaves(command, inner)
        else:
            found.append((inner.command_path, command))
    return found


def plain(text: str) -> str:
    return text.replace("\\-", "-").replace("\\&", "").replace("\\(dq", '"').replace("\\e", "\\")


def test_every_command_and_every_option_is_in_the_page() -> None:
    text = plain(manual(app))
    context = click.Context(app, info_name="interlock", **app.context_settings)
    commands = leaves(app, context)
    assert len(commands) > 30
    for path, command in commands:
        section = text.partition(f'.SS "{path} ')[2].partition(".SS ")[0]
        assert section, path
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in section, (path, option.opts)
    assert all(f"\\fB{int(code)}\\fR" in text for code in Exit)


def test_no_line_is_taken_for_a_request_that_it_is_not() -> None:
    known = {".TH", ".SH", ".SS", ".TP", ".PP", ".B"}
    for line in manual(app).splitlines():
        assert line, "an empty line is an empty line of the page"
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in known, line
        assert re.search(r"\\(?![-&efE(])", line) is None, line


@pytest.mark.parametrize(
    "tool",
    [
        ("groff", "-man", "-ww", "-z", "-Tutf8"),
        ("mandoc", "-T", "lint", "-W", "error"),
        ("man", "-l", "-"),
    ],
    ids=lambda tool: tool[0],
)
def test_the_tools_that_show_pages_have_no_objection(tool: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"there is no {tool[0]}")
    done = subprocess.run(tool, input=manual(app), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_page_is_printed_or_installed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert place.run("man").stdout == manual(app)
    shown = place.run("man", "--install").output
    page = tmp_path / "data/man/man1/interlock.1"
    assert f"wrote {page}" in shown and page.read_text(encoding="utf-8") == manual(app)
    monkeypatch.setenv("XDG_DATA_HOME", str(page))
    assert "can't write" in str(place.run("man", "--install").exception)
