"""Project: all pipelines and calendars of a folder, and the checks between them.

One file that can't be read never stops the others from being checked; where it might be the missing piece,
nothing is reported as missing.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.pipeline import Calendar, Pipeline
from interlock.files.alerts_file import load_alerts
from interlock.files.cascade_circles import knotted, reach
from interlock.files.loaded import LoadedPipeline, Mention, in_order, unreadable
from interlock.files.nodes import Unreadable
from interlock.files.problem import Problem, ProblemKind, printable, spell
from interlock.files.project_files import ProjectFile, find_sources, read_source
from interlock.files.text import load_calendar, load_text, this_year

Progress = Callable[[int, int], None]


class Project(msgspec.Struct, frozen=True):
    """The contents of a project. Only valid pipelines are in it; `files` says where each came from."""

    pipelines: dict[str, Pipeline]
    files: dict[str, str]
    calendars: dict[str, Calendar]
    #: The alert routes; None without an alerts file, or when it has errors.
    alerts: Alerts | None
    problems: tuple[Problem, ...]
    #: The SHA-256 of every file that was read, by its name in the project.
    sources: dict[str, str]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.is_error)


class _Found(msgspec.Struct):
    """A pipeline file and the result of reading it."""

    source: ProjectFile
    loaded: LoadedPipeline
    problems: list[Problem]

    @property
    def file(self) -> str:
        return shown(self.source.path)

    @property
    def id(self) -> str | None:
        return None if self.loaded.own_id is None else self.loaded.own_id.id

    def error(self, mention: Mention, kind: ProblemKind, message: str) -> None:
        self.problems.append(
            Problem(
                path=spell(mention.path),
                kind=kind,
                message=message,
                file=self.file,
                line=mention.line,
                column=mention.column,
            )
        )

    @property
    def is_sound(self) -> bool:
        return not any(problem.is_error for problem in self.problems)


def load_project(
    paths: str | Path | Iterable[str | Path],
    year: int | None = None,
    progress: Progress | None = None,
    without: Collection[str] = (),
) -> Project:
    """Read a project folder, or any files and folders. Country holidays are those around `year`.

    The pipeline files in `without` exist but are not read: nothing is reported about them or their pipelines.
    """
    sources = find_sources([paths] if isinstance(paths, str | Path) else paths)
    hashes: dict[str, str] = {}
    calendars, problems = _load_calendars(sources, hashes)
    alerts = _load_alerts(sources, hashes, problems)
    found = []
    for count, source in enumerate(_pipelines(sources)):
        if progress is not None:
            progress(count, len(sources))
        if str(source.path) in without:
            found.append(_Found(source, LoadedPipeline(None, ()), []))
            continue
        found.append(_load(source, list(calendars.values()), year or this_year(), hashes))
    _check_ids(found)
    _check_upstreams(found)
    _check_cycles(found)
    return _project(found, calendars, alerts, problems, hashes)


def shown(path: Path) -> str:
    """A path, safe to print."""
    return printable(str(path).encode(errors="backslashreplace").decode(), 1000)


def _pipelines(sources: Sequence[ProjectFile]) -> list[ProjectFile]:
    return [source for source in sources if not (source.is_calendar or source.is_alerts)]


def _read(source: ProjectFile, hashes: dict[str, str]) -> bytes:
    data = read_source(source.path)
    hashes[source.name] = hashlib.sha256(data).hexdigest()
    return data


def _load(
    source: ProjectFile, calendars: list[Calendar], year: int, hashes: dict[str, str]
) -> _Found:
    file = shown(source.path)
    try:
        loaded = load_text(_read(source, hashes), file, calendars, year)
    except Unreadable as error:
        loaded = LoadedPipeline(None, (unreadable(error, file),))
    return _Found(source, loaded, list(loaded.problems))


def _load_calendars(
    sources: Sequence[ProjectFile], hashes: dict[str, str]
) -> tuple[dict[str, Calendar], list[Problem]]:
    calendars: dict[str, Calendar] = {}
    problems: list[Problem] = []
    for source in sources:
        if source.is_calendar:
            file = shown(source.path)
            try:
                calendar, noted = load_calendar(_read(source, hashes), file)
            except Unreadable as error:
                calendar, noted = None, (unreadable(error, file),)
            problems += noted
            if calendar is not None and calendar.name in calendars:
                problems.append(_twice("name", calendar.name, file))
            elif calendar is not None:
                calendars[calendar.name] = calendar
    return calendars, problems


def _load_alerts(
    sources: Sequence[ProjectFile], hashes: dict[str, str], problems: list[Problem]
) -> Alerts | None:
    found = None
    for source in sources:
        if source.is_alerts:
            file = shown(source.path)
            try:
                found, noted = load_alerts(_read(source, hashes), file)
            except Unreadable as error:
                found, noted = None, (unreadable(error, file),)
            problems += noted
    return found


def _twice(path: str, name: str, file: str) -> Problem:
    message = f"another file already has the name {name}"
    return Problem(
        path=path, kind=ProblemKind.DUPLICATE, message=message, file=file, line=1, column=1
    )


def _check_ids(found: Sequence[_Found]) -> None:
    """An id belongs to one file."""
    first: dict[str, _Found] = {}
    for each in found:
        own = each.loaded.own_id
        if own is None:
            continue
        earlier = first.setdefault(own.id, each)
        if earlier is not each:
            message = f"{earlier.file} already has this id: give one of the two another"
            each.error(own, ProblemKind.DUPLICATE, message)


def _check_upstreams(found: Sequence[_Found]) -> None:
    """Every upstream pipeline must exist. A file without a readable id may be it."""
    ids = {each.id for each in found}
    if None in ids:
        return
    for each in found:
        for upstream in each.loaded.upstreams if each.source.is_whole else ():
            if upstream.id not in ids:
                each.error(upstream, ProblemKind.BAD_VALUE, f"there is no pipeline {upstream.id}")


def _check_cycles(found: Sequence[_Found]) -> None:
    """No pipeline may wait for itself through others."""
    waits = knotted(
        {each.id: {up.id for up in each.loaded.upstreams} for each in found if each.id is not None}
    )
    for each in found:
        for upstream in each.loaded.upstreams if each.id in waits else ():
            if upstream.id != each.id and each.id in reach(upstream.id, waits):
                message = f"circular dependency: {upstream.id} waits for {each.id}, perhaps through others"
                each.error(upstream, ProblemKind.CONFLICT, message)


def _project(
    found: Sequence[_Found],
    calendars: dict[str, Calendar],
    alerts: Alerts | None,
    problems: list[Problem],
    hashes: dict[str, str],
) -> Project:
    sound = [(each, each.loaded.pipeline) for each in found if each.is_sound]
    return Project(
        pipelines={pipeline.id: pipeline for _, pipeline in sound if pipeline is not None},
        files={pipeline.id: each.file for each, pipeline in sound if pipeline is not None},
        calendars=calendars,
        alerts=alerts,
        problems=(*problems, *_all_problems(found)),
        sources=hashes,
    )


def _all_problems(found: Sequence[_Found]) -> Iterator[Problem]:
    for each in found:
        yield from in_order(each.problems)
