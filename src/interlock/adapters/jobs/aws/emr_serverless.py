"""EMR Serverless jobs: a run of an application, with our token as its client token."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import PlatformError, without_run_id
from interlock.adapters.jobs.ages import ALREADY_USED, earliest, is_too_old
from interlock.adapters.jobs.aws.job_requests import Aws, AwsRequest, given, is_marked, marked
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.domain import canonical
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import EmrServerlessConfig, JobDriver
from interlock.domain.pipeline import Pipeline

MOST_RUNS = 50
CONFLICT = "ConflictException"

STATES = {
    "SUBMITTED": Meaning.RUNNING,
    "PENDING": Meaning.RUNNING,
    "SCHEDULED": Meaning.RUNNING,
    "QUEUED": Meaning.RUNNING,
    "RUNNING": Meaning.RUNNING,
    "CANCELLING": Meaning.RUNNING,
    "SUCCESS": Meaning.SUCCEEDED,
    "FAILED": Meaning.FAILED,
    "CANCELLED": Meaning.STOPPED,
}
#: A run that took too long is cancelled too. Not verified against the real service.
TIMED_OUT = re.compile(r"timed?[ -]?out", re.IGNORECASE)


class EmrServerlessHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """All that polling and cancelling need; `opened_at` to tell whether the run is ours."""

    application_id: str
    run_id: str
    opened_at: datetime
    region: str | None = None


class EmrServerlessJobs:
    """The platform knows our token, but not for a documented time, so runs are also found by name."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._aws = Aws(surroundings)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        return _request(self._config(pipeline, context), context).shown()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = self._config(pipeline, context)
        try:
            answer = self._aws.send(_request(config, context))
        except PlatformError as error:
            found = self._found(config, context) if error.code == CONFLICT else None
            if found is None:
                raise
            return found
        if not answer.get("jobRunId"):
            raise without_run_id("EMR Serverless")
        return _launched(config, context, answer["jobRunId"])

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        return self._found(self._config(pipeline, context), context) or Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, EmrServerlessHandle)
        answer = self._aws.call("emr-serverless:GetJobRun", handle.region, **_place(handle))
        run = answer["jobRun"]
        state, said = run["state"], run.get("stateDetails", "")
        if is_too_old(run.get("createdAt"), handle.opened_at):
            return judged(Meaning.PERMANENT, state, ALREADY_USED)
        meaning = meaning_of("emr-serverless", state, STATES)
        if meaning is Meaning.STOPPED and TIMED_OUT.search(said):
            meaning = Meaning.TIMEOUT
        return judged(meaning, state, said, run.get("endedAt"))

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, EmrServerlessHandle)
        answer = self._aws.call("emr-serverless:CancelJobRun", handle.region, **_place(handle))
        return bool(answer.get("jobRunId"))

    def _config(self, pipeline: Pipeline, context: JobContext) -> EmrServerlessConfig:
        config = self._aws.config(pipeline, context, EmrServerlessConfig)
        return msgspec.structs.replace(config, job_name=config.job_name or pipeline.id)

    def _found(self, config: EmrServerlessConfig, context: JobContext) -> Launched | None:
        for run in self._runs_since(earliest(context.opened_at), config):
            if is_marked(run.get("name"), context.token):
                return _launched(config, context, run["id"])
        return None

    def _runs_since(self, since: datetime, config: EmrServerlessConfig) -> Iterator[dict[str, Any]]:
        pages = self._aws.pages(
            "emr-serverless:ListJobRuns",
            config.region,
            "nextToken",
            applicationId=config.application_id,
            createdAtAfter=since,
            maxResults=MOST_RUNS,
        )
        for page in pages:
            yield from page.get("jobRuns", [])


def _request(config: EmrServerlessConfig, context: JobContext) -> AwsRequest:
    assert config.job_name is not None
    params = given(
        applicationId=config.application_id,
        clientToken=context.token,
        executionRoleArn=config.execution_role_arn,
        jobDriver=_driver(config.job_driver),
        configurationOverrides=config.configuration_overrides,
        tags=config.tags or None,
        executionTimeoutMinutes=config.execution_timeout_minutes,
        name=marked(config.job_name, context.token),
    )
    return AwsRequest("emr-serverless:StartJobRun", params, config.region)


def _driver(driver: JobDriver) -> dict[str, Any]:
    written = {"sparkSubmit": driver.spark_submit, "hive": driver.hive}
    return {
        name: {key: value for key, value in canonical.as_json(each).items() if value}
        for name, each in written.items()
        if each is not None
    }


def _launched(config: EmrServerlessConfig, context: JobContext, run_id: str) -> Launched:
    handle = EmrServerlessHandle(config.application_id, run_id, context.opened_at, config.region)
    return Launched(run_id, msgspec.to_builtins(handle))


def _place(handle: EmrServerlessHandle) -> dict[str, str]:
    return {"applicationId": handle.application_id, "jobRunId": handle.run_id}
