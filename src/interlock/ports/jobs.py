"""Jobs: the outside workloads."""

from collections.abc import Mapping
from typing import Any, Protocol

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


class Jobs(Protocol):
    """The outside workloads."""

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        """Start the job once. Raises LaunchError; never retries by itself."""
        ...

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """The job that was started under the context's token, if the platform can tell."""
        ...

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        """The state of the job. Raises TransientError when its platform does not answer."""
        ...

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        """Ask the job to stop. Returns whether that was possible. Never raises."""
        ...
