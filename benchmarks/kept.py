"""Kept: what the benchmarks said last, as a table in `results/LATEST.md` and in the README.

A benchmark that was run replaces its own row and leaves the others, each with the day it was measured.
"""

import platform
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LATEST = ROOT / "benchmarks" / "results" / "LATEST.md"
README = ROOT / "README.md"

_HEAD = "| benchmark | to reach | measured | on |\n|---|---|---|---|\n"
_ROW = re.compile(r"^\| (\w+) \| (.*?) \| (.*) \| (\d{4}-\d\d-\d\d) \|$", re.MULTILINE)
_SHOWN = re.compile(r"(?<=<!-- benchmarks -->\n).*?(?=<!-- end of benchmarks -->)", re.DOTALL)


class Row(NamedTuple):
    """What one benchmark said."""

    name: str
    target: str
    line: str
    day: str

    def __str__(self) -> str:
        return f"| {self.name} | {self.target} | {self.line} | {self.day} |"


def keep(fresh: list[Row], order: tuple[str, ...]) -> None:
    """Into both places."""
    by_name = {row.name: row for row in (*rows_in(LATEST.read_text()), *fresh)}
    rows = [by_name[name] for name in order if name in by_name]
    table = _HEAD + "".join(f"{row}\n" for row in rows)
    LATEST.write_text(f"# Benchmarks\n\n{_machine()}\n\n{table}")
    README.write_text(_SHOWN.sub(lambda _: table, README.read_text()))


def rows_in(text: str) -> list[Row]:
    return [Row(*found) for found in _ROW.findall(text)]


def _machine() -> str:
    return (
        f"Measured with Python {platform.python_version()} on {platform.machine()} with two cores;"
        " `make bench` runs them again. The top of each script says what it does."
    )
