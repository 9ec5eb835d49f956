"""Readable config: the config in force, for callers that can do without one."""

from interlock.domain.config import Config
from interlock.errors import UnreadableError
from interlock.usecases.ports import Ports


def readable_config(pipeline_id: str, ports: Ports) -> Config | None:
    """None for a pipeline that does not exist, and for one whose stored config can't be read."""
    try:
        return ports.pipelines.find(pipeline_id)
    except UnreadableError:
        return None
