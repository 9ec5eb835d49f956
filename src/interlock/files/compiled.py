"""Compiled: a project as one validated JSON text, to be loaded into a store.

The same files and the same year give the same bytes: sorted keys, no times.
"""

from collections.abc import Iterator
from typing import Any

from interlock import __version__
from interlock.domain import canonical
from interlock.domain.pipeline import Pipeline
from interlock.files.problem import Problem, ProblemKind
from interlock.files.project import Project
from interlock.files.warnings import MOST_TURNS, polls, turns

#: Raised when the shape of the text changes.
FORMAT = 1
LARGEST_CONFIG = 64 * 1024


def compiled(project: Project) -> str:
    """The text. Ask `obstacles` first."""
    document = {
        "format": FORMAT,
        "interlock": __version__,
        "sources": project.sources,
        "pipelines": {name: _entry(each) for name, each in project.pipelines.items()},
        "alerts": project.alerts or {},
    }
    return canonical.encode(document) + "\n"


def obstacles(project: Project) -> tuple[Problem, ...]:
    """What is legal in a file but can't run where compiled configs are deployed."""
    return tuple(
        problem
        for name, pipeline in project.pipelines.items()
        for problem in _obstacles(pipeline, project.files[name])
    )


def _entry(pipeline: Pipeline) -> dict[str, Any]:
    return {"hash": canonical.content_hash(pipeline), "config": pipeline}


def _obstacles(pipeline: Pipeline, file: str) -> Iterator[Problem]:
    size = len(canonical.encode(pipeline).encode())
    if size > LARGEST_CONFIG:
        message = f"the compiled config has {size} bytes; the limit is {LARGEST_CONFIG}"
        yield Problem(path="", kind=ProblemKind.OUT_OF_RANGE, message=message, file=file)
    if polls(pipeline.job) > MOST_TURNS:
        message = f"poll window / pollInterval is more than {MOST_TURNS}"
        yield Problem(
            path="job.pollInterval", kind=ProblemKind.OUT_OF_RANGE, message=message, file=file
        )
    for schedule in pipeline.schedules:
        if turns(schedule.evaluation) > MOST_TURNS:
            message = f"schedule {schedule.id}: window / interval is more than {MOST_TURNS}"
            yield Problem(path="", kind=ProblemKind.OUT_OF_RANGE, message=message, file=file)
