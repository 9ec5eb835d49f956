"""Job checks: parse a job's config by the struct of its type, and check its parts against each other."""

from datetime import timedelta
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from interlock.domain import duration, job_forms
from interlock.domain.job_configs import JobConfig
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.pipeline import Job
from interlock.files.nodes import Map, Node, scalars
from interlock.files.problem import ProblemKind
from interlock.files.problem_collector import BROKEN, At, known
from interlock.files.reader import read_anything, reader
from interlock.files.scalars import meaning

SHORTEST_POLL = timedelta(seconds=10)
LONGEST_POLL = timedelta(minutes=10)


def check_job(job: Job, at: At) -> None:
    """Parse the config for the job's type; without a valid type there is nothing to check."""
    _check_poll_interval(job, at)
    if not known(job.config):
        return
    node, path = at.given("config"), (*at.path, "config")
    if node is None:
        if known(job.type) and _needs_config(JOB_KINDS[job.type].config):
            at.error("config", ProblemKind.MISSING, f"a job of type {job.type} needs its settings")
        return
    if not known(job.type):
        _check_loosely(node, at)
        return
    config = reader(JOB_KINDS[job.type].config)(node, path, at.reading)
    _refuse_own_settings(node, at)
    force_setattr(job, "config", _given(config, node) if isinstance(node, Map) else BROKEN)


def _check_poll_interval(job: Job, at: At) -> None:
    every = job.poll_interval
    if every is None or not known(every):
        return
    if not SHORTEST_POLL <= duration.parse(every) <= LONGEST_POLL:
        at.error("pollInterval", ProblemKind.OUT_OF_RANGE, "must be from 10s to 10m")
    elif known(job.job_poll_window_seconds) and duration.parse(every) > job.poll_window:
        longest = duration.spell(job.poll_window)
        at.error(
            "pollInterval", ProblemKind.OUT_OF_RANGE, f"must be at most the poll window, {longest}"
        )


def _needs_config(kind: type[JobConfig]) -> bool:
    return any(field.required for field in _fields(kind))


@lru_cache(maxsize=64)
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _check_loosely(node: Node, at: At) -> None:
    """For a job without a valid type, check only what is wrong in any map: duplicate keys."""
    if isinstance(node, Map):
        read_anything(node, (*at.path, "config"), at.reading)


def _refuse_own_settings(node: Node, at: At) -> None:
    for path, scalar in scalars(node, (*at.path, "config")):
        value = meaning(scalar)
        name = job_forms.own_setting_in(value) if isinstance(value, str) else None
        if name is not None:
            message = f"{name} is a setting of Interlock itself and can't be used in files"
            at.reading.error(path, scalar, ProblemKind.BAD_VALUE, message, "choose another name")


def _given(config: JobConfig, node: Map) -> dict[str, Any]:
    """The settings as written, as plain values. The struct adds the defaults."""
    return {
        field.encode_name: _plain(getattr(config, field.name))
        for field in _fields(type(config))
        if field.encode_name in node.items and getattr(config, field.name) is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        pairs = ((each.encode_name, getattr(value, each.name)) for each in _fields(type(value)))
        return {name: _plain(each) for name, each in pairs if each is not None}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.value if hasattr(value, "value") else value
