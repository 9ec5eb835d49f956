"""Lambda jobs: a call of a function, which ends within the launch or tells its end itself.

Lambda takes no token and can't be asked about a call: at least once.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import without_run_id
from interlock.adapters.jobs.aws.job_clients import platform_errors
from interlock.adapters.jobs.aws.job_requests import Aws, AwsRequest, given, region_of
from interlock.adapters.jobs.classification import LOOKED_AT
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged
from interlock.adapters.secrets.texts import dates, run_values
from interlock.domain import canonical, duration
from interlock.domain.job import CannotTell, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import InvocationType, LambdaCompletion, LambdaConfig
from interlock.domain.pipeline import Pipeline

LARGEST_ANSWER = 64 * 1024
_TEN = timedelta(seconds=10)
ANSWERED, ACCEPTED, FAILED = "answered", "accepted", "failed"

#: Names of errors that Lambda itself reports. Not verified against the real service.
TYPES = {
    "Sandbox.Timedout": Meaning.TIMEOUT,
    "Runtime.OutOfMemory": Meaning.TRANSIENT,
    "Runtime.ImportModuleError": Meaning.PERMANENT,
    "Runtime.HandlerNotFound": Meaning.PERMANENT,
    "Runtime.UserCodeSyntaxError": Meaning.PERMANENT,
}
WORDS = {"Task timed out": Meaning.TIMEOUT, "signal: killed": Meaning.TRANSIENT}


class LambdaHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """All that is known of the call: Lambda can't be asked later."""

    state: str
    ended_at: datetime | None = None
    meaning: Meaning = Meaning.SUCCEEDED
    message: str = ""


class LambdaJobs:
    """At least once: the function can look at `interlock.token`."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._aws = Aws(surroundings)
        self._given = surroundings

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        request = _request(self._config(pipeline, context), context)
        payload = canonical.decode(request.params["Payload"])
        return AwsRequest(
            request.operation, {**request.params, "Payload": payload}, request.region
        ).shown()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = self._config(pipeline, context)
        answer = self._aws.send(_request(config, context), self._seconds(config))
        run_id = answer.get("ResponseMetadata", {}).get("RequestId")
        if not run_id:
            raise without_run_id("Lambda")
        handle = self._handle(config, answer)
        finished = handle.meaning is not Meaning.RUNNING
        return Launched(run_id, msgspec.to_builtins(handle), finished)

    def find(self, pipeline: Pipeline, context: JobContext) -> CannotTell:
        return CannotTell()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, LambdaHandle)
        return judged(handle.meaning, handle.state, handle.message, handle.ended_at)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return False

    def _config(self, pipeline: Pipeline, context: JobContext) -> LambdaConfig:
        config = self._aws.config(pipeline, context, LambdaConfig)
        region = region_of(config.function_name, config.region)
        return msgspec.structs.replace(config, region=region)

    def _seconds(self, config: LambdaConfig) -> int:
        """In whole tens where the call is bounded, so that few clients are made."""
        wanted = duration.parse(config.timeout)
        bounded = self._given.bounded(wanted)
        seconds = wanted if bounded == wanted else bounded // _TEN * _TEN
        return max(1, int(seconds.total_seconds()))

    def _handle(self, config: LambdaConfig, answer: Mapping[str, Any]) -> LambdaHandle:
        now = self._given.clock()
        if answer.get("FunctionError"):
            meaning, message = _failure(_body(answer))
            said = self._given.secrets.mask(message).encode()[:LOOKED_AT]
            return LambdaHandle(FAILED, now, meaning, said.decode(errors="ignore"))
        state = ACCEPTED if config.invocation_type is InvocationType.EVENT else ANSWERED
        if config.ends_by is LambdaCompletion.EVENT:
            return LambdaHandle(state, None, Meaning.RUNNING, "the job will write its own record")
        return LambdaHandle(state, now, message="it answered")


def _request(config: LambdaConfig, context: JobContext) -> AwsRequest:
    values = run_values(context)
    payload = dates(values) if config.payload is None else config.payload
    params = given(
        FunctionName=config.function_name,
        Qualifier=config.qualifier,
        InvocationType=config.invocation_type,
        Payload=canonical.encode({**payload, "interlock": _about(context)}).encode(),
    )
    return AwsRequest("lambda:Invoke", params, config.region)


def _about(context: JobContext) -> dict[str, Any]:
    names = ("pipeline", "schedule", "date", "hour", "label", "attempt", "token")
    return {name: getattr(context, name) for name in names}


def _body(answer: Mapping[str, Any]) -> bytes:
    with platform_errors("Invoke"):
        body: bytes = answer["Payload"].read(LARGEST_ANSWER)
        return body


def _failure(body: bytes) -> tuple[Meaning, str]:
    """What the function, or Lambda itself, says of its failure."""
    try:
        said = canonical.decode(body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return Meaning.FAILED, body.decode(errors="replace")
    kind, text = str(said.get("errorType", "")), str(said.get("errorMessage", ""))
    by_words = (meaning for words, meaning in WORDS.items() if words in text)
    meaning = TYPES.get(kind) or next(by_words, Meaning.FAILED)
    return meaning, ": ".join(part for part in (kind, text) if part)
