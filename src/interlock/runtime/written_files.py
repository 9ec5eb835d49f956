"""Written files: the file of each pipeline as its owner wrote it, for people to read."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from interlock.files import Project
from interlock.files.nodes import Unreadable
from interlock.files.project_files import read_source

#: The longest text shown.
LONGEST = 64 * 1024


class WrittenFile(msgspec.Struct, frozen=True):
    """A pipeline file: its name in the project, and its text."""

    name: str
    text: str
    #: Whether it has changed since it was last read, so that it may not be in force yet.
    has_changed: bool = False


class WrittenFiles:
    """Where the pipelines of a project were found when its files were last read."""

    def __init__(self) -> None:
        self._project = Path()
        self._paths: Mapping[str, str] = {}
        self._hashes: Mapping[str, str] = {}

    def note(self, folder: Path, project: Project) -> None:
        self._project, self._paths, self._hashes = folder, project.files, project.sources

    def of(self, pipeline_id: str) -> WrittenFile | None:
        """None where the file is not at hand: on another machine, or gone since."""
        path = self._paths.get(pipeline_id)
        if path is None:
            return None
        try:
            data = read_source(Path(path))
        except Unreadable:
            return None
        name = self._name(Path(path))
        text = data.decode(errors="replace")
        shown = text if len(text) <= LONGEST else text[:LONGEST] + "\n…"
        changed = self._hashes.get(name) != hashlib.sha256(data).hexdigest()
        return WrittenFile(name, shown, changed)

    def _name(self, path: Path) -> str:
        """Relative to the project, so that the project's location stays private."""
        inside = path.is_relative_to(self._project)
        return path.relative_to(self._project).as_posix() if inside else path.name
