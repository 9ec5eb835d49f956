"""Project: the pipelines of the flows in a folder of their own, and the command line at work in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DECLARED = Path(__file__).parent / "project"


@dataclass(frozen=True)
class Project:
    """A folder that may change while the flows run."""

    folder: Path

    @property
    def pipelines(self) -> Path:
        return self.folder / "pipelines"

    @property
    def compiled(self) -> Path:
        return self.folder / "build" / "pipelines.json"

    def compile(self) -> None:
        self.interlock("compile", "-o", str(self.compiled))

    def interlock(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """What a command says; a failure is reported with all of it."""
        done = subprocess.run(
            [sys.executable, "-m", "interlock", "--project", str(self.folder), *arguments],
            env={"PATH": os.environ["PATH"], **(environment or {})},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def withdraw(self, pipeline: str) -> None:
        (self.pipelines / f"{pipeline}.yaml").unlink()

    def describe(self, pipeline: str, words: str) -> None:
        """A change of the file that changes nothing of what runs."""
        path = self.pipelines / f"{pipeline}.yaml"
        path.write_text(path.read_text().replace("{ id: ", f"{{ description: {words}, id: "))


def copied_to(folder: Path) -> Project:
    shutil.copytree(_DECLARED, folder)
    (folder / "build").mkdir()
    return Project(folder)
