"""Zone of a pipeline: the time zone of its days."""

from zoneinfo import ZoneInfo

from interlock.domain.zones import zone
from interlock.errors import NotFoundError
from interlock.usecases.ports import Ports


def zone_of(pipeline_id: str, ports: Ports) -> ZoneInfo:
    """That of its first schedule. Raises NotFoundError."""
    config = ports.pipelines.find(pipeline_id)
    if config is None or config.is_retired:
        raise NotFoundError(f"there is no pipeline {pipeline_id}")
    return zone(config.pipeline.schedules[0].timezone)
