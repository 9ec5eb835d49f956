"""Dry run: a job adapter that only says what it would do."""

from collections.abc import Mapping
from typing import Any

from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline


class DryJobs:
    """Says what it would launch, and ends at once."""

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        would = {"type": pipeline.job.type, "config": pipeline.job.config, "date": context.label}
        return Launched("dry-run", {"wouldLaunch": would}, finished=True)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        return Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        return Succeeded()

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return False
