"""Jobs by type: which adapter serves a pipeline's job. A dry run is served by the one that does nothing."""

from collections.abc import Mapping
from typing import Any

from interlock.adapters.jobs.dry_run import DryJobs
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.pipeline import Pipeline
from interlock.ports.jobs import Jobs


class JobsByPipeline:
    """The port, over a dry-run adapter and a real one."""

    def __init__(self, real: Jobs) -> None:
        self._real = real
        self._dry = DryJobs()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        return self._of(pipeline).launch(pipeline, context)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        return self._of(pipeline).find(pipeline, context)

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        return (self._dry if "wouldLaunch" in metadata else self._real).poll(metadata)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return (self._dry if "wouldLaunch" in metadata else self._real).cancel(metadata)

    def _of(self, pipeline: Pipeline) -> Jobs:
        return self._dry if pipeline.dry_run else self._real
