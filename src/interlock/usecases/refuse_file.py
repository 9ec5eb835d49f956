"""Refuse a file: it is invalid, so the config in force stays, and an event reports it."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain.config import Config, RefusedConfig
from interlock.domain.event import Event, EventType, happened, subject
from interlock.files import Problem
from interlock.usecases.claim_event import claim_event
from interlock.usecases.ports import Ports


def refuse_file(
    pipeline_id: str | None, config_hash: str, problems: Sequence[Problem], ports: Ports
) -> None:
    """Published once per content of the file. Without an id it is the alerts file."""
    current = None if pipeline_id is None else ports.pipelines.find(pipeline_id)
    name = "alerts.yaml" if pipeline_id is None else "the file"
    claim_event(rejected(pipeline_id, config_hash, problems, current, ports.clock(), name), ports)


def rejected(
    pipeline_id: str | None,
    config_hash: str,
    problems: Sequence[Problem],
    current: Config | None,
    at: datetime,
    name: str,
) -> Event:
    """The event of a refusal. Its message has the first problem with its position, its detail has them
    all.
    """
    about = subject(current.pipeline if current else None)
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return happened(
        EventType.CONFIG_REJECTED,
        msgspec.structs.replace(about, pipeline_id=pipeline_id),
        at,
        f"{name} is refused: {problems[0]}{rest}",
        parts=(config_hash[:12],),
        problems=[_shown(each) for each in problems],
        inForce=current.config_hash if current else "none",
    )


def refusal(pipeline_id: str | None, problems: Sequence[Problem]) -> RefusedConfig:
    """The refusal, for people who look later."""
    first = problems[0]
    return RefusedConfig(
        pipeline_id=pipeline_id,
        message=f"{first.message}; {first.hint}" if first.hint else first.message,
        path=first.path,
        file=first.file,
        line=first.line,
        more=len(problems) - 1,
    )


def _shown(problem: Problem) -> dict[str, str | int]:
    found: dict[str, str | int] = {"path": problem.path, "message": problem.message}
    return {**found, "file": problem.file, "line": problem.line} if problem.file else found
