"""Refuse a file: it does not validate, so what is in force stays in force, and its owner is told."""

from collections.abc import Sequence

import msgspec

from interlock.domain.event import EventType, happened, subject
from interlock.files import Problem
from interlock.ports import Ports
from interlock.usecases.claim_event import claim_event


def refuse_file(
    pipeline_id: str | None, config_hash: str, problems: Sequence[Problem], ports: Ports
) -> None:
    """Told once for the same content of the file. Without an id it is the file of alerts."""
    current = None if pipeline_id is None else ports.pipelines.find(pipeline_id)
    about = subject(current.pipeline if current else None)
    shown = [{"path": each.path, "message": each.message, "line": each.line} for each in problems]
    claim_event(
        happened(
            EventType.CONFIG_REJECTED,
            msgspec.structs.replace(about, pipeline_id=pipeline_id),
            ports.clock(),
            f"{'alerts.yaml' if pipeline_id is None else 'the file'} is refused: "
            f"{problems[0].message}",
            parts=(config_hash[:12],),
            problems=shown,
            inForce=current.config_hash if current else "none",
        ),
        ports,
    )
