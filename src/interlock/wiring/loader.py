"""Loader: the project's files become what their owners want in force; a changed file is wanted anew.

A file that does not validate is refused, and the version before it stays in force. A pipeline is taken
away only when its file is surely gone: not while some file can't be read, which might be the one.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from interlock.domain import canonical
from interlock.domain.alerts import Alerts
from interlock.files import Problem, Project, load_project, load_text
from interlock.files.nodes import Unreadable
from interlock.files.problem import by_file
from interlock.files.sources import ALERTS, CALENDARS, PIPELINES, read_source
from interlock.ports import Ports, Refusal, Wanted
from interlock.usecases.refuse_file import refusal, refuse_file

log = logging.getLogger(__name__)

#: What tells one state of a folder from another, without reading a file.
Stamps = Mapping[str, tuple[int, int, int]]


class Refused(msgspec.Struct, frozen=True):
    """What of a project can't be used now."""

    files: tuple[Refusal, ...] = ()
    #: What is wrong with the file of alerts; nothing when it is sound.
    alerts: str = ""


class Loader:
    """Looks at one project. Not for several threads at once."""

    def __init__(
        self,
        project: Path,
        ports: Ports,
        use_alerts: Callable[[Alerts | None], None] = lambda alerts: None,
        note: Callable[[Refused], None] = lambda refused: None,
    ) -> None:
        """`note` is told after each load what was refused."""
        self._project = project
        self._ports = ports
        self._use_alerts = use_alerts
        self._note = note
        self._seen: Stamps | None = None

    def look(self) -> bool:
        """Load the files if any of them has changed since the last look. Whether that was so."""
        stamps = dict(_stamps(self._project))
        if stamps == self._seen:
            return False
        self._load()
        self._seen = stamps
        return True

    def _load(self) -> None:
        if not (self._project / PIPELINES).is_dir():
            log.warning(
                "%s has no folder %s: what is in force stays so",
                self._project,
                PIPELINES,
                extra={"action": "no_pipelines"},
            )
            return
        project = load_project(self._project)
        wanted = {name: canonical.as_json(each) for name, each in project.pipelines.items()}
        for pipeline_id, config in wanted.items():
            self._want(pipeline_id, config)
        refused: list[str | None] = []
        files = tuple(self._refuse(project, refused))
        wrong = [each for each in project.errors if _is_alerts(Path(each.file), self._project)]
        if not wrong:
            self._use_alerts(project.alerts)
        self._note(Refused(files, f"line {wrong[0].line}: {wrong[0].message}" if wrong else ""))
        if None not in refused:
            self._take_away({*wanted, *refused})
        log.info(
            "pipelines loaded: %d, files refused: %d",
            len(wanted),
            len(files),
            extra={"action": "files_loaded"},
        )

    def _want(self, pipeline_id: str, config: object) -> None:
        digest = canonical.content_hash(config)
        before = self._ports.pipelines.wanted(pipeline_id)
        if before is None or before.config_hash != digest or before.config is None:
            now = self._ports.clock()
            self._ports.pipelines.want(Wanted(pipeline_id, config, digest, now))

    def _refuse(self, project: Project, ids: list[str | None]) -> Iterator[Refusal]:
        """Each file that is wrong. `ids` gets those of pipelines; None for one that does not say its id."""
        for file, problems in by_file(project.errors).items():
            for problem in problems:
                log.error("%s", problem, extra={"action": "file_refused"})
            named = [self._within(problem) for problem in problems]
            if _is_calendar(Path(file), self._project):
                yield refusal(None, named)  # the pipelines that name it are refused themselves
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
        """The problem, with its file as the project names it: the folder of the project is our own affair."""
        file = Path(problem.file)
        if not file.is_relative_to(self._project):
            return problem
        return msgspec.structs.replace(problem, file=str(file.relative_to(self._project)))

    def _take_away(self, kept: set[str | None]) -> None:
        for config in self._ports.pipelines.in_force():
            name = config.pipeline.id
            if name not in kept:
                self._ports.pipelines.want(
                    Wanted(name, None, config.config_hash, self._ports.clock())
                )


def _stamps(project: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for folder in (PIPELINES, CALENDARS):
        yield from _stamps_in(os.fspath(project / folder))
    try:
        about = (project / ALERTS).stat()
    except OSError:
        return
    yield ALERTS, (about.st_mtime_ns, about.st_size, about.st_ino)


def _stamps_in(folder: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir():
                yield from _stamps_in(entry.path)
            elif entry.name.endswith((".yaml", ".yml")):
                about = entry.stat()
                yield entry.path, (about.st_mtime_ns, about.st_size, about.st_ino)
        except OSError:
            yield entry.path, (0, 0, 0)


def _is_calendar(file: Path, project: Path) -> bool:
    return file.is_relative_to(project / CALENDARS)


def _is_alerts(file: Path, project: Path) -> bool:
    return file == project / ALERTS


def _identity(file: Path) -> tuple[str | None, str]:
    """The id that a wrong file gives itself, if it can be told, and the hash of its bytes."""
    try:
        text = read_source(file)
    except Unreadable:
        return None, ""
    own = load_text(text, str(file)).own_id
    return None if own is None else own.id, canonical.content_hash(text.hex())
