"""File watcher: submits the project's files for adoption, again after each change.

An invalid file is refused, and the previous version stays in force. A file is read once its write is
certainly over (`domain/sightings.py`), and a pipeline is retired only when its file is certainly gone
(`domain/missing.py`).
"""

import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from interlock.domain import canonical
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.config import RefusedConfig
from interlock.domain.missing import Present
from interlock.domain.sightings import Stamp
from interlock.files import Problem, Project, load_project, load_text
from interlock.files.nodes import Unreadable
from interlock.files.problem import by_file
from interlock.files.project_files import ALERTS, CALENDARS, PIPELINES, Walk, read_source
from interlock.ports.stores import MissingFiles
from interlock.runtime.written_files import WrittenFiles
from interlock.usecases.follow_files import Follower, want_files
from interlock.usecases.ports import Ports
from interlock.usecases.refuse_file import refusal, refuse_file

log = logging.getLogger(__name__)

#: An impossible timestamp: such a file counts as changed just now.
_EVER = datetime.max.replace(tzinfo=UTC)
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class UnusableFiles(msgspec.Struct, frozen=True):
    """The files of a project that are refused."""

    files: tuple[RefusedConfig, ...] = ()
    #: The problem with the alerts file; empty when it is valid.
    alerts: str = ""


class FileWatcher:
    """Watches one project. Not thread-safe."""

    def __init__(
        self,
        project: Path,
        ports: Ports,
        missing: MissingFiles,
        use_alerts: Callable[[Alerts | None], None] = lambda alerts: None,
        note: Callable[[UnusableFiles], None] = lambda refused: None,
        written: WrittenFiles | None = None,
    ) -> None:
        """`missing` outlives this process; `note` is called after each load with the refused files, and
        `written` learns where the others are.
        """
        self._project = project
        self._ports = ports
        self._use_alerts = use_alerts
        self._note = note
        self._written = written or WrittenFiles()
        self._looked: Mapping[str, Stamp] = {}
        self._follower = Follower(self._load, missing, ports)

    @property
    def has_read(self) -> bool:
        """Whether the files have been read once."""
        return self._follower.has_read

    def until_due(self) -> float | None:
        """The seconds until a changed file may be read, if there is one."""
        now = self._ports.clock()
        due = self._follower.next_due(now)
        return None if due is None else (due - now).total_seconds()

    def look(self) -> bool:
        """Load the files if any of them has changed and is stable since. Whether it loaded."""
        self._looked = stamps = _stamps(self._project)
        return self._follower.look(stamps, {} if self.has_read else _changed_at(stamps))

    def _load(self, unsettled: Collection[str]) -> Present:
        if not (self._project / PIPELINES).is_dir():
            log.error(
                "%s has no folder %s: the configs in force stay in force",
                self._project,
                PIPELINES,
                extra={"action": "no_pipelines"},
            )
            return Present((), is_there=False)
        project, unsettled = self._read(frozenset(unsettled))
        self._written.note(self._project, project)
        wanted = {name: canonical.as_json(each) for name, each in project.pipelines.items()}
        want_files(wanted, self._ports)
        refused: list[str | None] = []
        files = tuple(self._refuse(project, refused))
        wrong = [each for each in project.errors if _is_alerts(Path(each.file), self._project)]
        if not wrong:
            self._use_alerts(project.alerts)
        self._note(UnusableFiles(files, _first(wrong[0]) if wrong else ""))
        log.info(
            "pipelines loaded: %d, files refused: %d",
            len(wanted),
            len(files),
            extra={"action": "files_loaded"},
        )
        ids = {*wanted, *(each for each in refused if each is not None)}
        return Present(ids, is_known=None not in refused and not unsettled)

    def _read(self, unsettled: frozenset[str]) -> tuple[Project, frozenset[str]]:
        """The files as they were looked at. A file that changes meanwhile may be in the middle of a write:
        it is left for the next look.
        """
        while True:
            project, found = load_project(self._project, without=unsettled), _stamps(self._project)
            paths = found.keys() | self._looked.keys()
            moved = {path for path in paths if found.get(path) != self._looked.get(path)}
            if moved <= unsettled:
                return project, unsettled
            unsettled |= moved

    def _refuse(self, project: Project, ids: list[str | None]) -> Iterator[RefusedConfig]:
        """Each invalid file. Adds pipeline ids to `ids`; None for a file without a readable id."""
        for file, problems in by_file(project.errors).items():
            for problem in problems:
                log.error("%s", problem, extra={"action": "file_refused"})
            named = [self._within(problem) for problem in problems]
            if _is_calendar(Path(file), self._project):
                yield refusal(None, named)  # the pipelines that name it are refused separately
                continue
            pipeline_id, digest = _identity(Path(file))
            if _is_alerts(Path(file), self._project):
                yield refusal(None, named)
                refuse_file(None, digest, named, self._ports)
                continue
            yield refusal(pipeline_id, named)
            ids.append(pipeline_id)
            if pipeline_id is not None:
                refuse_file(pipeline_id, digest, named, self._ports)

    def _within(self, problem: Problem) -> Problem:
        """The problem, with its file relative to the project, so that the project's location stays
        private.
        """
        file = Path(problem.file)
        if not file.is_relative_to(self._project):
            return problem
        return msgspec.structs.replace(problem, file=str(file.relative_to(self._project)))


def _first(problem: Problem) -> str:
    where = f"line {problem.line}: {problem.path}" if problem.path else f"line {problem.line}"
    return f"{where}: {problem.message}"


def _stamps(project: Path) -> dict[str, Stamp]:
    """A fingerprint of each file; an unreadable file has a fingerprint that matches no other."""
    walk = Walk()
    for folder in (PIPELINES, CALENDARS):
        walk.enter(os.fspath(project / folder))
    found = [(entry.path, entry.stat) for entry in walk.files]
    found.append((ALERTS, (project / ALERTS).stat))
    stamps: dict[str, Stamp] = dict.fromkeys(walk.denied, ())
    for path, stat in found:
        try:
            about = stat()
        except FileNotFoundError:
            continue
        except OSError:
            stamps[path] = ()
        else:
            stamps[path] = (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
    return stamps


def _changed_at(stamps: Mapping[str, Stamp]) -> dict[str, datetime]:
    """When each file was last changed, according to its timestamp."""
    return {
        path: _instant(max(stamp[:2])) if stamp else _LONG_AGO for path, stamp in stamps.items()
    }


def _instant(nanoseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(nanoseconds / 10**9, UTC)
    except (OverflowError, ValueError, OSError):
        return _EVER


def _is_calendar(file: Path, project: Path) -> bool:
    return file.is_relative_to(project / CALENDARS)


def _is_alerts(file: Path, project: Path) -> bool:
    return file == project / ALERTS


def _identity(file: Path) -> tuple[str | None, str]:
    """The id in an invalid file, if it can be read, and the hash of its bytes."""
    try:
        text = read_source(file)
    except Unreadable:
        return None, ""
    own = load_text(text, str(file)).own_id
    return None if own is None else own.id, canonical.content_hash(text.hex())
