"""Project files: which files make up a project, and their bytes, read safely.

A project is a folder with `pipelines/`, and optionally `calendars/` and `alerts.yaml`. Single files and
folders of files can be checked as well; inside a project, they can use its calendars.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from interlock.errors import ConfigError
from interlock.files.nodes import Unreadable

PIPELINES = "pipelines"
CALENDARS = "calendars"
ALERTS = "alerts.yaml"
LARGEST = 1024 * 1024
#: Far more than any project has: a folder with more files is probably the wrong one.
MOST_FILES = 50_000
DEEPEST_FOLDER = 32

_ENDINGS = (".yaml", ".yml")


class ProjectFile(msgspec.Struct, frozen=True):
    """A file of a project: where it lies, what the project calls it, what it holds."""

    path: Path
    name: str
    is_calendar: bool = False
    is_alerts: bool = False
    #: Whether all pipelines of its project are read too.
    is_whole: bool = False


class Walk:
    """The YAML files of a folder and of those below it, hidden ones left out.

    Follows links, and enters each real folder once, but never those above the first. So a link to a folder
    above makes no loop, and brings in nothing that lies next to it.
    """

    def __init__(self, most: int = MOST_FILES, deepest: int = DEEPEST_FOLDER) -> None:
        self._most, self._deepest = most, deepest
        self.files: list[os.DirEntry[str]] = []
        #: What could not be listed.
        self.denied: list[str] = []
        self._entered: set[tuple[int, int]] = set()

    def enter(self, folder: str) -> None:
        """Raises ConfigError beyond a limit."""
        for above in Path(os.path.realpath(folder)).parents:
            with suppress(OSError):
                self._is_new(os.stat(above))
        self._enter(folder, 0)

    def _enter(self, folder: str, depth: int) -> None:
        try:
            about = os.stat(folder)
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self.denied.append(folder)
            return
        if not self._is_new(about):
            return
        if depth > self._deepest:
            raise ConfigError(f"{folder}: folders are nested more than {self._deepest} deep")
        folders = []
        for entry in entries:
            if _is_folder(entry):
                folders.append(entry.path)
            elif entry.name.endswith(_ENDINGS) and not entry.name.startswith("."):
                self.files.append(entry)
        if len(self.files) > self._most:
            raise ConfigError(f"{folder}: more than {self._most} files")
        for path in folders:
            self._enter(path, depth + 1)

    def _is_new(self, about: os.stat_result) -> bool:
        place = about.st_dev, about.st_ino
        is_new = place not in self._entered
        self._entered.add(place)
        return is_new


def find_sources(paths: Iterable[str | Path]) -> list[ProjectFile]:
    """Every file that the paths refer to, once each, calendars first."""
    found: dict[str, ProjectFile] = {}
    for path in map(Path, paths):
        for source in _sources(path):
            place = _place(source.path)
            if place not in found or (source.is_whole and not found[place].is_whole):
                found[place] = source
    return sorted(found.values(), key=lambda source: (not source.is_calendar, str(source.path)))


def read_source(path: Path) -> bytes:
    """The bytes of a file. Raises Unreadable; never reads more than a pipeline file may hold."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("not a file that can be read")
        if about.st_size > LARGEST:
            raise Unreadable(f"larger than {LARGEST // 1024} KiB")
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"can't be read: {reason.lower()}") from None


def _place(path: Path) -> str:
    """The same for every path to one file."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def _sources(path: Path) -> Iterator[ProjectFile]:
    if not path.is_dir():
        root = _project_of(path)
        yield _source(path, root, is_whole=False)
    elif (path / PIPELINES).is_dir() or (path / CALENDARS).is_dir():
        root = path
        yield from _within(path / PIPELINES, path, is_whole=True)
        if (path / ALERTS).exists():
            yield _source(path / ALERTS, path, is_whole=True)
    else:
        root = _project_of(path / "any")
        yield from _within(path, root, is_whole=path.absolute().name == PIPELINES)
    yield from _within(root / CALENDARS, root, is_whole=True)


def _within(folder: Path, root: Path, is_whole: bool) -> Iterator[ProjectFile]:
    """The files of a folder, and what in it can't be listed."""
    if not folder.is_dir():
        return
    walk = Walk()
    walk.enter(os.fspath(folder))
    for path in (*(entry.path for entry in walk.files), *walk.denied):
        yield _source(Path(path), root, is_whole)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _source(path: Path, root: Path, is_whole: bool) -> ProjectFile:
    name = Path(os.path.relpath(path, root))
    inside = name if name.parts[0] != ".." else path
    is_calendar = CALENDARS in inside.parts[:-1]
    return ProjectFile(
        path,
        inside.as_posix(),
        is_calendar=is_calendar,
        is_alerts=path.name == ALERTS and PIPELINES not in inside.parts and not is_calendar,
        is_whole=is_whole,
    )


def _project_of(path: Path) -> Path:
    """The folder that holds `pipelines/` or `calendars/`, seen from a file below; else its own."""
    for folder in path.absolute().parents:
        if folder.name in (PIPELINES, CALENDARS):
            return Path(os.path.relpath(folder.parent))
    return path.parent
