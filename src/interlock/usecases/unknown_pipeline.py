"""Unknown pipeline: the error for a name that no pipeline in force has, with the one that was meant."""

from interlock.domain.suggestion import with_suggestion
from interlock.errors import NotFoundError
from interlock.usecases.ports import Ports


def unknown_pipeline(pipeline_id: str, ports: Ports) -> NotFoundError:
    names = [config.pipeline.id for config in ports.pipelines.in_force()]
    return NotFoundError(with_suggestion(f"there is no pipeline {pipeline_id}", pipeline_id, names))
