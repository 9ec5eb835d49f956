"""Quick: the checks of what was changed since main, for those who are changing it.

    python tests/quick.py [--list]      (in the project)

The form of the changed files, the types (from the cache), and the tests beside what changed: of
src/interlock/a/b.py those are tests/a/test_b*.py and what in tests/a imports it, or else all of tests/a.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("src/interlock"), Path("tests")
BASE = "main"


def main(arguments: list[str]) -> int:
    changed = [path for path in _changed() if path.suffix == ".py" and (ROOT / path).is_file()]
    tests = sorted({str(test) for path in changed for test in beside(path)})
    if "--list" in arguments:
        sys.stdout.write("".join(f"{test}\n" for test in tests))
        return 0
    return max((_run(*command) for command in _commands([*map(str, changed)], tests)), default=0)


def beside(changed: Path) -> list[Path]:
    """Those beside a file, which is named from the root of the project."""
    if changed.is_relative_to(TESTS):
        return [changed] if changed.name.startswith("test_") else _users(changed, changed.parent)
    if not changed.is_relative_to(SOURCE):
        return []
    inside = changed.relative_to(SOURCE)
    folder = TESTS / inside.parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return _users(changed, folder)


def _users(changed: Path, folder: Path) -> list[Path]:
    """The tests of a folder that are named after a file or import it; all of them when none does."""
    top = TESTS if changed.is_relative_to(TESTS) else SOURCE.parent
    parts = changed.relative_to(top).with_suffix("").parts
    package, name = ".".join(parts[:-1]), parts[-1]
    imports = re.compile(
        rf"^\s*(from {re.escape('.'.join(parts))} |import {re.escape('.'.join(parts))}\b"
        rf"|from {re.escape(package)} import .*\b{name}\b)",
        re.MULTILINE,
    )
    own = "glob" if folder == TESTS else "rglob"
    there = [path.relative_to(ROOT) for path in getattr(ROOT / folder, own)("test_*.py")]
    found = [
        path
        for path in there
        if path.name.startswith(f"test_{name}") or imports.search((ROOT / path).read_text())
    ]
    return found or there


def _changed() -> Iterator[Path]:
    """Committed since main or not, and new files too."""
    base = _git("merge-base", "HEAD", BASE) or ["HEAD"]
    for command in (("diff", "--name-only", *base), ("ls-files", "--others", "--exclude-standard")):
        yield from map(Path, _git(*command))


def _git(*arguments: str) -> list[str]:
    found = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.splitlines()


def _commands(changed: list[str], tests: list[str]) -> Iterator[tuple[str, ...]]:
    if changed:
        yield "ruff", "check", *changed
        yield "ruff", "format", "--check", *changed
    yield ("mypy",)
    if tests:
        yield "pytest", "-q", "-n", "auto", "--dist", "worksteal", *tests


def _run(tool: str, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-m", tool, *arguments], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
