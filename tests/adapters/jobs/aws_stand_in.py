"""A stand-in for AWS: real clients of boto3, whose requests and answers are held against AWS's own models.

Nothing is sent. It keeps jobs by our token, and can refuse, hide them, or lose its answer.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, ClassVar

import boto3  # type: ignore[import-untyped]
from botocore.awsrequest import AWSResponse  # type: ignore[import-untyped]
from botocore.response import StreamingBody  # type: ignore[import-untyped]
from botocore.validate import validate_parameters  # type: ignore[import-untyped]

REGION = "eu-west-1"
Params = dict[str, Any]
Operation = Callable[[Params], Params]


class Refused(Exception):  # noqa: N818 - an answer, not a mistake
    """What AWS says instead of yes."""

    def __init__(self, code: str, message: str = "no", status: int = 400) -> None:
        super().__init__(code)
        self.code, self.message, self.status = code, message, status


class AwsStandIn:
    """One account. Services are the classes below; `calls` is all that was asked of them."""

    def __init__(self, **services: Any) -> None:
        self.services = services
        self.calls: list[tuple[str, Params]] = []
        self.configs: list[tuple[str, str | None, Any]] = []
        #: Asked before every operation; what it raises is the answer.
        self.fault: Callable[[str, Params], None] = lambda operation, params: None
        #: Asked after it: the job is started and the answer is lost.
        self.lost: Callable[[str, Params], None] = lambda operation, params: None
        #: Whether answers say of which request they are.
        self.request_id = True

    def client(self, service: str, region: str | None, config: Any) -> Any:
        self.configs.append((service, region, config))
        made = _session().client(service, region_name=region or REGION, config=config)
        made.meta.events.register_first("before-parameter-build.*.*", _remember)
        made.meta.events.register_first("before-call.*.*", self._answer)
        return made

    def asked(self, operation: str) -> list[Params]:
        return [params for name, params in self.calls if name == operation]

    def _answer(self, model: Any, context: Params, **rest: Any) -> tuple[Any, Params]:
        service, params = model.service_model.service_name, context["given"]
        name = f"{service}:{model.name}"
        self.calls.append((name, params))
        try:
            self.fault(name, params)
            answer = getattr(self.services[service.replace("-", "_")], model.name)(params)
            self.lost(name, params)
        except Refused as refused:
            return _response(refused.status), _refusal(refused)
        _check(answer, model)
        about: Params = {"HTTPStatusCode": 200}
        if self.request_id:
            about["RequestId"] = f"request-{len(self.calls)}"
        return _response(200), {**answer, "ResponseMetadata": about}


@cache
def _session() -> Any:
    return boto3.session.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )


def _remember(params: Params, context: Params, **rest: Any) -> None:
    context["given"] = dict(params)


def _response(status: int) -> Any:
    return AWSResponse(None, status, {}, None)


def _refusal(refused: Refused) -> Params:
    return {
        "Error": {"Code": refused.code, "Message": refused.message},
        "ResponseMetadata": {"HTTPStatusCode": refused.status},
    }


def _check(answer: Params, model: Any) -> None:
    """A stand-in that says what AWS could not say proves nothing."""
    plain = {name: value for name, value in answer.items() if name != "Payload"}
    validate_parameters(plain, model.output_shape)


class _Service:
    """The jobs of one service, by their ids."""

    #: The state that each fate ends in, and what is said of it.
    fates: ClassVar[dict[str, tuple[str, str]]]
    gone = "ResourceNotFoundException"

    def __init__(self) -> None:
        self.jobs: dict[str, Params] = {}
        self.starts: Counter[str] = Counter()
        #: When jobs begin, from now; they end ten seconds later.
        self.began = timedelta(seconds=-40)

    def begin(self, token: str, fate: str, **more: Any) -> str:
        self.starts[token] += 1
        state, said = self.fates[fate]
        began = datetime.now(UTC) + self.began
        number = f"{len(self.jobs) + 1:017}"
        self.jobs[number] = {
            "id": number, "token": token, "state": state, "said": said,
            "began": began, "ended": began + timedelta(seconds=10), **more,
        }  # fmt: skip
        return number

    def job(self, number: str) -> Params:
        if number not in self.jobs:
            raise Refused(self.gone)
        return self.jobs[number]

    def stop(self, number: str, running: str, stopped: str) -> bool:
        if self.job(number)["state"] != running:
            return False
        self.jobs[number] |= {"state": stopped, "said": ""}
        return True

    def newest(self) -> list[Params]:
        return sorted(self.jobs.values(), key=lambda job: job["id"], reverse=True)


class GlueService(_Service):
    """Jobs are called like their fates."""

    gone = "EntityNotFoundException"
    fates: ClassVar[dict[str, tuple[str, str]]] = {
        "succeed": ("SUCCEEDED", ""),
        "fail": ("FAILED", "AnalysisException: no column x"),
        "time-out": ("TIMEOUT", ""),
        "hang": ("RUNNING", ""),
    }
    #: How many runs a page has.
    page = 200

    def StartJobRun(self, params: Params) -> Params:  # noqa: N802 - names of AWS
        arguments = params["Arguments"]
        token = arguments.get("--interlock_token", "")
        number = self.begin(token, params["JobName"], name=params["JobName"], arguments=arguments)
        return {"JobRunId": number}

    def GetJobRun(self, params: Params) -> Params:  # noqa: N802
        return {"JobRun": self._shown(self.job(params["RunId"]))}

    def GetJobRuns(self, params: Params) -> Params:  # noqa: N802
        runs = [self._shown(job) for job in self.newest() if job["name"] == params["JobName"]]
        first = int(params.get("NextToken", 0))
        following = first + min(self.page, params["MaxResults"])
        answer: Params = {"JobRuns": runs[first:following]}
        return answer if following >= len(runs) else {**answer, "NextToken": str(following)}

    def BatchStopJobRun(self, params: Params) -> Params:  # noqa: N802
        [number] = params["JobRunIds"]
        about = {"JobName": params["JobName"], "JobRunId": number}
        if self.stop(number, "RUNNING", "STOPPED"):
            return {"SuccessfulSubmissions": [about]}
        return {"Errors": [about]}

    def _shown(self, job: Params) -> Params:
        shown = {
            "Id": job["id"],
            "Attempt": job.get("attempt", 0),
            "JobName": job["name"],
            "StartedOn": job["began"],
            "CompletedOn": job["ended"],
            "JobRunState": job["state"],
            "Arguments": job["arguments"],
            "ErrorMessage": job["said"],
            "GlueVersion": "5.0",
        }
        return {**shown, **job.get("more", {})}


class LogsService:
    """Log streams by group and stream: pages of messages."""

    def __init__(self) -> None:
        self.streams: dict[tuple[str, str], list[list[str]]] = {}

    def FilterLogEvents(self, params: Params) -> Params:  # noqa: N802
        [stream] = params["logStreamNames"]
        pages = self.streams.get((params["logGroupName"], stream))
        if pages is None:
            raise Refused("ResourceNotFoundException")
        number = int(params.get("nextToken", 0))
        answer: Params = {"events": [{"message": message} for message in pages[number]]}
        return answer if number + 1 == len(pages) else {**answer, "nextToken": str(number + 1)}


class EmrService(_Service):
    """The first argument of a step is its fate."""

    gone = "InvalidRequestException"
    fates: ClassVar[dict[str, tuple[str, str]]] = {
        "succeed": ("COMPLETED", ""),
        "fail": ("FAILED", "ClassNotFoundException: x"),
        "time-out": ("FAILED", ""),
        "hang": ("RUNNING", ""),
    }
    page = 50

    def AddJobFlowSteps(self, params: Params) -> Params:  # noqa: N802
        [step] = params["Steps"]
        token = _mark(step["Name"])
        fate = step["HadoopJarStep"]["Args"][0]
        return {"StepIds": [self.begin(token, fate, name=step["Name"])]}

    def ListSteps(self, params: Params) -> Params:  # noqa: N802
        first = int(params.get("Marker", 0))
        steps = [self._shown(job) for job in self.newest()]
        answer: Params = {"Steps": steps[first : first + self.page]}
        more = first + self.page < len(steps)
        return {**answer, "Marker": str(first + self.page)} if more else answer

    def DescribeStep(self, params: Params) -> Params:  # noqa: N802
        return {"Step": self._shown(self.job(params["StepId"]))}

    def CancelSteps(self, params: Params) -> Params:  # noqa: N802
        [number] = params["StepIds"]
        done = self.stop(number, "RUNNING", "CANCELLED")
        status = {"StepId": number, "Status": "SUBMITTED" if done else "FAILED"}
        return {"CancelStepsInfoList": [status]}

    def _shown(self, job: Params) -> Params:
        status: Params = {
            "State": job["state"],
            "Timeline": {"CreationDateTime": job["began"], "EndDateTime": job["ended"]},
        }
        if job["said"]:
            status["FailureDetails"] = {"Reason": "Unknown Error.", "Message": job["said"]}
        return {"Id": job["id"], "Name": job["name"], "Status": status}


class EmrServerlessService(_Service):
    """The entry point of a run is its fate."""

    fates: ClassVar[dict[str, tuple[str, str]]] = {
        "succeed": ("SUCCESS", ""),
        "fail": ("FAILED", "ModuleNotFoundError: No module named 'x'"),
        "time-out": ("CANCELLED", "Job run timed out after 5 minutes"),
        "hang": ("RUNNING", ""),
    }

    def StartJobRun(self, params: Params) -> Params:  # noqa: N802
        token = params["clientToken"]
        known = [job["id"] for job in self.jobs.values() if job["token"] == token]
        fate = params["jobDriver"]["sparkSubmit"]["entryPoint"]
        number = known[0] if known else self.begin(token, fate, name=params["name"])
        arn = f"arn:aws:emr-serverless:{REGION}:123456789012:/applications/a/jobruns/{number}"
        return {"applicationId": params["applicationId"], "jobRunId": number, "arn": arn}

    def ListJobRuns(self, params: Params) -> Params:  # noqa: N802
        since = params["createdAtAfter"]
        runs = [self._shown(job, "id") for job in self.newest() if job["began"] >= since]
        first = int(params.get("nextToken", 0))
        following = first + params["maxResults"]
        answer: Params = {"jobRuns": runs[first:following]}
        return answer if following >= len(runs) else {**answer, "nextToken": str(following)}

    def GetJobRun(self, params: Params) -> Params:  # noqa: N802
        job = self.job(params["jobRunId"])
        driver = {"jobDriver": {"sparkSubmit": {"entryPoint": "x"}}}
        ended = {"endedAt": job["ended"]}
        return {"jobRun": {**self._shown(job, "jobRunId"), **driver, **ended}}

    def CancelJobRun(self, params: Params) -> Params:  # noqa: N802
        number = params["jobRunId"]
        if not self.stop(number, "RUNNING", "CANCELLED"):
            raise Refused("ValidationException", "the run has ended")
        return {"applicationId": params["applicationId"], "jobRunId": number}

    def _shown(self, job: Params, number: str) -> Params:
        return {
            "applicationId": "app",
            number: job["id"],
            "name": job["name"],
            "arn": f"arn:aws:emr-serverless:{REGION}:123456789012:/applications/app/jobruns/1",
            "createdBy": "arn:aws:iam::123456789012:role/caller",
            "createdAt": job["began"],
            "updatedAt": job["ended"],
            "executionRole": "arn:aws:iam::123456789012:role/spark",
            "state": job["state"],
            "stateDetails": job["said"] or "-",
            "releaseLabel": "emr-7.5.0",
        }


class StepFunctionsService(_Service):
    """Machines are called like the fates of their executions."""

    gone = "ExecutionDoesNotExist"
    kind = "STANDARD"
    fates: ClassVar[dict[str, tuple[str, str]]] = {
        "succeed": ("SUCCEEDED", ""),
        "fail": ("FAILED", "States.Permissions"),
        "time-out": ("TIMED_OUT", ""),
        "hang": ("RUNNING", ""),
    }

    def DescribeStateMachine(self, params: Params) -> Params:  # noqa: N802
        return {
            "stateMachineArn": params["stateMachineArn"],
            "name": "machine",
            "definition": "{}",
            "roleArn": "arn:aws:iam::123456789012:role/machine",
            "type": self.kind,
            "creationDate": datetime.now(UTC),
        }

    def StartExecution(self, params: Params) -> Params:  # noqa: N802
        machine, name = params["stateMachineArn"].split(":")[6], params["name"]
        arn = f"arn:aws:states:{REGION}:123456789012:execution:{machine}:{name}"
        same = [job for job in self.jobs.values() if job["arn"] == arn]
        if same and (same[0]["state"] != "RUNNING" or same[0]["input"] != params["input"]):
            raise Refused("ExecutionAlreadyExists")
        if not same:
            self.begin(name[-35:], machine, arn=arn, input=params["input"])
        began = (same or self.newest())[0]["began"]
        return {"executionArn": arn, "startDate": began}

    def DescribeExecution(self, params: Params) -> Params:  # noqa: N802
        job = self._by_arn(params["executionArn"])
        answer = {
            "executionArn": job["arn"],
            "stateMachineArn": job["arn"].replace(":execution:", ":stateMachine:"),
            "name": job["arn"].rpartition(":")[2],
            "status": job["state"],
            "startDate": job["began"],
            "stopDate": job["ended"],
        }
        error, _, cause = job["said"].partition(": ")
        return {**answer, "error": error, "cause": cause} if error else answer

    def StopExecution(self, params: Params) -> Params:  # noqa: N802
        job = self._by_arn(params["executionArn"])
        if not self.stop(job["id"], "RUNNING", "ABORTED"):
            raise Refused("ValidationException", "the execution has ended")
        return {"stopDate": datetime.now(UTC)}

    def _by_arn(self, arn: str) -> Params:
        for job in self.jobs.values():
            if job["arn"] == arn:
                return job
        raise Refused(self.gone)


class LambdaService:
    """Functions are called like their fates."""

    def __init__(self) -> None:
        self.starts: Counter[str] = Counter()
        self.errors: dict[str, tuple[str, str]] = {
            "fail": ("Runtime.ImportModuleError", "Unable to import module 'app'"),
            "time-out": ("Sandbox.Timedout", "2026-03-03T10:00:00Z Task timed out after 3.00 s"),
        }

    def Invoke(self, params: Params) -> Params:  # noqa: N802
        self.starts[json.loads(params["Payload"])["interlock"]["token"]] += 1
        if params.get("InvocationType") == "Event":
            return {"StatusCode": 202, "Payload": _stream(b"")}
        kind, text = self.errors.get(params["FunctionName"], ("", ""))
        if not kind:
            return {"StatusCode": 200, "Payload": _stream(b'{"ok": true}')}
        said = json.dumps({"errorType": kind, "errorMessage": text}).encode()
        return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": _stream(said)}


class SecretsService:
    """Secrets by their ARN."""

    def __init__(self, **secrets: str) -> None:
        self.secrets = secrets

    def GetSecretValue(self, params: Params) -> Params:  # noqa: N802
        name = params["SecretId"].rpartition(":")[2]
        if name not in self.secrets:
            raise Refused("ResourceNotFoundException")
        return {"ARN": params["SecretId"], "SecretString": self.secrets[name]}


def _mark(name: str) -> str:
    found = re.search(r"\[(il-[0-9a-f]{32})\]$", name)
    return found[1] if found else ""


def _stream(body: bytes) -> Any:
    return StreamingBody(io.BytesIO(body), len(body))
