"""Loaded: the result of reading one pipeline, and how to read one from any form."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from interlock.domain.pipeline import Calendar, Pipeline, holiday_calendar
from interlock.files.authored import PipelineFile
from interlock.files.checks import CHECKS
from interlock.files.contradictions import check_contradictions
from interlock.files.nodes import Node, Scalar, Unreadable
from interlock.files.pipeline_checks import (
    Library,
    check_calendars,
    check_pipeline,
    placed_schedules,
    upstreams,
)
from interlock.files.problem import Path, Problem, ProblemKind
from interlock.files.problem_collector import BROKEN, At, ProblemCollector, known
from interlock.files.reader import reader
from interlock.files.scalars import is_nothing
from interlock.files.warnings import warn

Part = TypeVar("Part", bound=msgspec.Struct)
Written = TypeVar("Written", bound=PipelineFile)


class Mention(msgspec.Struct, frozen=True):
    """The id of a pipeline, and where it is written."""

    id: str
    path: Path
    line: int
    column: int


class LoadedPipeline(msgspec.Struct, frozen=True):
    """A pipeline, or None when there are errors; every problem; and what other files need to know about
    it.
    """

    pipeline: Pipeline | None
    problems: tuple[Problem, ...]
    own_id: Mention | None = None
    upstreams: tuple[Mention, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.is_error)


def load(
    node: Node, kind: type[Written], library: Callable[[Written], Library], file: str = ""
) -> LoadedPipeline:
    """Read a whole pipeline, with every check."""
    reading = ProblemCollector(file, CHECKS)
    written = read_whole(kind, node, reading)
    if written is None:
        return LoadedPipeline(None, tuple(reading.problems))
    at = At(reading, node, ())
    check_pipeline(written, at)
    calendars = check_calendars(written, library(written), at)
    pipeline = None
    if reading.is_sound:
        check_contradictions(written, at)
    if reading.is_sound:
        pipeline = _assembled(written, calendars)
        warn(written, calendars, at)
    waits_for = tuple(_mention(upstream, path, at) for path, upstream in upstreams(written))
    return LoadedPipeline(pipeline, in_order(reading.problems), _own_id(written, at), waits_for)


def read_whole(kind: type[Part], node: Node, reading: ProblemCollector) -> Part | None:
    """The struct of a whole file, possibly with BROKEN parts; None if the file holds none."""
    if isinstance(node, Scalar) and is_nothing(node):
        reading.error((), node, ProblemKind.MISSING, "the file is empty")
        return None
    value: Any = reader(kind)(node, (), reading)
    return None if value is BROKEN else value


def unreadable(error: Unreadable, file: str = "") -> Problem:
    """The one problem of a file that can't be read at all."""
    return Problem(
        path="",
        kind=ProblemKind.BAD_VALUE,
        message=str(error),
        hint=error.hint,
        file=file,
        line=error.line,
        column=error.column,
    )


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """As written in the file."""
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _assembled(written: PipelineFile, calendars: dict[str, Calendar]) -> Pipeline:
    return Pipeline(
        pipeline=written.pipeline,
        schedules=tuple(schedule for _, schedule in placed_schedules(written)),
        validation=written.validation,
        job=written.job,
        sla=written.sla,
        post_run=written.post_run,
        dry_run=written.dry_run,
        calendars=calendars,
        holidays_until=_holidays_until(calendars.values()),
    )


def _holidays_until(calendars: Iterable[Calendar]) -> str | None:
    """The end of the last year for which every country's holidays are written in."""
    countries = (each for each in calendars if each.name.startswith(holiday_calendar("")))
    return min((f"{max(each.dates)[:4]}-12-31" for each in countries if each.dates), default=None)


def _own_id(written: PipelineFile, at: At) -> Mention | None:
    """Available even when other parts of the file are invalid."""
    own = written.pipeline.id
    return _mention(own, ("pipeline", "id"), at) if known(own) else None


def _mention(name: str, path: Path, at: At) -> Mention:
    node = at.inner(*path).node
    return Mention(name, path, node.line, node.column)
