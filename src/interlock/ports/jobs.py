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
from interlock.domain.job_output import JobOutput, OutputRequest
from interlock.domain.pipeline import Pipeline


class Jobs(Protocol):
    """The outside workloads."""

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        """Start the job once. Raises LaunchError; never retries by itself."""
        ...

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """The job started under the context's token, if the platform can tell."""
        ...

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        """The state of the job. Raises TransientError when the platform does not answer."""
        ...

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        """Ask the job to stop, and return whether that was possible. Never raises."""
        ...


class JobOutputs(Protocol):
    """What jobs printed, for people."""

    def read(self, wanted: OutputRequest) -> JobOutput:
        """What is kept of it, without secrets. Never raises for a job that kept nothing."""
        ...
