"""Glue jobs: a run of an AWS Glue job. Its success is believed when Glue's own analysis has no objection."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import without_run_id
from interlock.adapters.jobs.ages import check_age, earliest, is_before
from interlock.adapters.jobs.aws.glue_analysis import GlueAnalysis
from interlock.adapters.jobs.aws.job_requests import Aws, AwsRequest, given
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.adapters.secrets.texts import dates, run_values
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.job_configs import GlueConfig
from interlock.domain.pipeline import Pipeline

TOKEN = "--interlock_token"  # noqa: S105 - the name of an argument
MOST_RUNS = 200

STATES = {
    "STARTING": Meaning.RUNNING,
    "RUNNING": Meaning.RUNNING,
    "STOPPING": Meaning.RUNNING,
    "WAITING": Meaning.RUNNING,
    "SUCCEEDED": Meaning.SUCCEEDED,
    "FAILED": Meaning.FAILED,
    "TIMEOUT": Meaning.TIMEOUT,
    "STOPPED": Meaning.STOPPED,
    "ERROR": Meaning.PERMANENT,  # the job was deleted
    "EXPIRED": Meaning.TRANSIENT,
}


class GlueHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """All that polling and cancelling need."""

    job_name: str
    run_id: str
    region: str | None = None
    verify: bool = True


class GlueJobs:
    """Glue takes no token: a start that was not recorded is found by an argument."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._aws = Aws(surroundings)
        self._analysis = GlueAnalysis(self._aws, surroundings)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        return self._request(pipeline, context).shown()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        answer = self._aws.send(self._request(pipeline, context))
        run_id = answer.get("JobRunId")
        if not run_id:
            raise without_run_id("Glue")
        return self._launched(self._config(pipeline, context), run_id)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        config = self._config(pipeline, context)
        if not config.pass_token:
            return CannotTell()
        ours = [
            run
            for run in self._runs_since(earliest(context.opened_at), config)
            if run.get("Arguments", {}).get(TOKEN) == context.token
        ]
        if not ours:
            return Absent()
        first = min(
            ours, key=lambda run: run.get("Attempt", 0)
        )  # the others are Glue's own retries
        check_age(first.get("StartedOn"), context.opened_at)
        return self._launched(config, first["Id"])

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, GlueHandle)
        answer = self._aws.call(
            "glue:GetJobRun", handle.region, JobName=handle.job_name, RunId=handle.run_id
        )
        run = answer["JobRun"]
        state = run["JobRunState"]
        meaning = meaning_of("glue", state, STATES)
        if meaning is Meaning.SUCCEEDED and handle.verify:
            return self._analysis.confirmed(run, handle.run_id, handle.region)
        return judged(meaning, state, run.get("ErrorMessage", ""), run.get("CompletedOn"))

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, GlueHandle)
        answer = self._aws.call(
            "glue:BatchStopJobRun",
            handle.region,
            JobName=handle.job_name,
            JobRunIds=[handle.run_id],
        )
        return bool(answer.get("SuccessfulSubmissions"))

    def _config(self, pipeline: Pipeline, context: JobContext) -> GlueConfig:
        return self._aws.config(pipeline, context, GlueConfig)

    def _request(self, pipeline: Pipeline, context: JobContext) -> AwsRequest:
        """Never with the member JobRunId, which means: retry that run."""
        config = self._config(pipeline, context)
        params = given(
            JobName=config.job_name,
            Arguments=_arguments(config, context),
            WorkerType=config.worker_type,
            NumberOfWorkers=config.number_of_workers,
            Timeout=config.timeout_minutes,
            ExecutionClass=config.execution_class,
            JobRunQueuingEnabled=config.queuing,
        )
        return AwsRequest("glue:StartJobRun", params, config.region)

    def _launched(self, config: GlueConfig, run_id: str) -> Launched:
        handle = GlueHandle(config.job_name, run_id, config.region, config.verify_success)
        return Launched(run_id, msgspec.to_builtins(handle))

    def _runs_since(self, since: datetime, config: GlueConfig) -> Iterator[dict[str, Any]]:
        """The newest first."""
        asked = {"JobName": config.job_name, "MaxResults": MOST_RUNS}
        for page in self._aws.pages("glue:GetJobRuns", config.region, "NextToken", **asked):
            runs = page.get("JobRuns", [])
            yield from runs
            if any(is_before(run.get("StartedOn"), since) for run in runs):
                return


def _arguments(config: GlueConfig, context: JobContext) -> dict[str, str]:
    """Ours win over the file's."""
    ours = {f"--{name}": value for name, value in dates(run_values(context)).items()}
    if config.pass_token:
        ours[TOKEN] = context.token
    return {**config.arguments, **ours}
