"""Workshop: a copy of the project in which a recipe of CONTRIBUTING is followed, to the letter.

What the recipe says to write is put into the copy, and nothing else. The tests of what came of it then run
in the copy, in a process of their own.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NEEDED = ("src", "tests", "docs", "deploy")


class Workshop:
    """The copy, until the test is over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        for name in _NEEDED:
            shutil.copytree(ROOT / name, self.folder / name, symlinks=True)
        shutil.copy(ROOT / "pyproject.toml", self.folder)

    def add(self, path: str, text: str, *, before: str) -> None:
        """Write some lines into a file, before the one place where others stand."""
        file = self.folder / path
        whole = file.read_text(encoding="utf-8")
        assert whole.count(before) == 1, f"{path} has {whole.count(before)} times {before!r}"
        file.write_text(whole.replace(before, f"{text.strip(chr(10))}\n{before}"), encoding="utf-8")

    def tries(self, module: str) -> None:
        """Run the tests of a module of this folder in the copy. They must pass, and none may be skipped."""
        path = f"tests/recipes/{module}"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        assert "skipped" not in done.stdout, done.stdout
