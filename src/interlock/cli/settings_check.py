"""Settings check: every problem of `interlock.toml`, with its line, as `validate` shows it."""

import re
from pathlib import Path

from interlock.errors import ConfigError
from interlock.files import Problem
from interlock.files.problem import ProblemKind
from interlock.wiring.settings import FILE, read_settings

_PLACED = re.compile(r"line (\d+)")
_KEY = re.compile(r"^\s*(?:\[\[?)?\s*(?P<key>[A-Za-z0-9_-]+)")


def settings_problems(project: Path) -> list[Problem]:
    """Without the environment: what the file itself gets wrong."""
    file = project / FILE
    try:
        read_settings(project, {})
    except ConfigError as error:
        said = [line.removeprefix(f"{file}: ").removeprefix(f"{file} ") for line in _lines(error)]
        return [_problem(file, line) for line in said]
    return []


def _lines(error: ConfigError) -> list[str]:
    return str(error).split("\n")


def _problem(file: Path, said: str) -> Problem:
    key, _, rest = said.partition(" ")
    line = _line_of(file, key)
    if line == 0:
        found = _PLACED.search(said)
        line, key, rest = int(found[1]) if found else 0, "", said
    message, _, hint = rest.partition("; ")
    return Problem(
        path=key,
        kind=ProblemKind.BAD_VALUE,
        message=message,
        hint=hint,
        file=str(file),
        line=line,
        column=1 if line else 0,
    )


def _line_of(file: Path, key: str) -> int:
    for number, text in enumerate(
        file.read_text(encoding="utf-8", errors="replace").split("\n"), 1
    ):
        found = _KEY.match(text)
        if found is not None and found["key"] == key:
            return number
    return 0
