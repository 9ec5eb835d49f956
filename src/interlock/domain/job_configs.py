"""Job configs: the settings of each type of job, as written under `job.config`.

Like the structs of a pipeline, these are the single source: the reader, the JSON Schema and the adapters all
use them. Where a file may write a thing in two ways (`timeout: 30` or `30s`, a command as text or list,
a body as map or JSON text), the struct holds the one that comes first in the reference; the reader converts
the other, so adapters know only one.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from interlock.domain import duration
from interlock.domain.objection import Objection, ProblemKind, known
from interlock.domain.pipeline import Declared, Span, pattern_form


def _form(form: str, description: str, pattern: str | None = None) -> Meta:
    """Text of a form that the reader checks by name; editors see the pattern."""
    schema = {} if pattern is None else {"pattern": f"^{pattern}$"}
    return Meta(description=description, extra={"form": form}, extra_json_schema=schema)


def _also(rewrite: str, types: list[str], description: str, **extra: Any) -> Meta:
    """A second way of writing, which the reader rewrites into the type at hand."""
    return Meta(
        description=description,
        extra={"also": rewrite, **extra},
        extra_json_schema={"x-type": types},
    )


Name = Annotated[str, _form("name", "Not empty, one line.", r".+")]
GlueName = Annotated[
    str, _form("glue job", "Name of the job, at most 255 characters.", r".{1,255}")
]
Url = Annotated[str, _form("URL", "An http or https address.")]
HttpsUrl = Annotated[str, _form("https URL", "An https address.", r"(https://|\$\{).+")]
Path = Annotated[str, _form("path", "Dotted path into the JSON answer, such as `run.id`.")]
Region = Annotated[
    str,
    pattern_form(
        "region",
        "AWS region; default: the environment's.",
        r"[a-z0-9]+(-[a-z0-9]+)+",
        "an AWS region such as eu-west-1",
    ),
]
RoleArn = Annotated[
    str,
    pattern_form(
        "role ARN",
        "ARN of an IAM role.",
        r"arn:[a-z-]+:iam::[0-9]*:role/[!-~]+",
        "the ARN of an IAM role",
    ),
]
Timeout = Annotated[Span, _also("seconds", ["string", "number"], "A duration, or seconds.")]
Headers = dict[
    Annotated[str, _form("header name", "Name of a header.")],
    Annotated[str, _form("header value", "Its value; `${...}` and `secret://` are replaced.")],
]
SentHeaders = Annotated[
    Headers, Meta(description="In their values `${...}` and `secret://` are replaced.")
]
Argument = Annotated[
    str,
    _also("JSON text", ["string", "number", "boolean"], "Numbers and booleans become JSON text."),
]
JsonMap = Annotated[
    dict[str, Any],
    _also("JSON object", ["object", "string"], "A map, or text holding a JSON object."),
]


class JobConfig(Declared, frozen=True):
    """The common ground of all types."""

    #: Names in maps of the config that are always ours, by the key of the map.
    ours: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: Whether `command`, `cwd` and `env` go to a process as they are: no shell expands them.
    without_shell: ClassVar[bool] = False

    def objections(self) -> Iterator[Objection]:
        """What is wrong between its fields."""
        yield from ()


class AwsConfig(JobConfig, frozen=True, kw_only=True):
    """What every AWS type takes."""

    region: Region | None = None


class Completion(StrEnum):
    """How the end of a job is detected."""

    POLL = "poll"
    RESPONSE = "response"
    EVENT = "event"


class LambdaCompletion(StrEnum):
    """How the end of a function is detected."""

    RESPONSE = "response"
    EVENT = "event"


class Method(StrEnum):
    """Methods of HTTP."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class ActionOnFailure(StrEnum):
    """What EMR does with the cluster after a failed step."""

    CONTINUE = "CONTINUE"
    CANCEL_AND_WAIT = "CANCEL_AND_WAIT"
    TERMINATE_CLUSTER = "TERMINATE_CLUSTER"


class ArgumentsAs(StrEnum):
    """How Databricks receives the arguments."""

    NOTEBOOK_PARAMS = "notebook_params"
    JOB_PARAMETERS = "job_parameters"


class DatabricksVersion(StrEnum):
    """Versions of the Jobs API."""

    V2_1 = "2.1"
    V2_2 = "2.2"


class AirflowVersion(StrEnum):
    """`v1` is Airflow 2, `v2` is Airflow 3."""

    AUTO = "auto"
    V1 = "v1"
    V2 = "v2"


class InvocationType(StrEnum):
    """Whether to wait for a function."""

    REQUEST_RESPONSE = "RequestResponse"
    EVENT = "Event"


class ExecutionClass(StrEnum):
    """Glue's execution classes."""

    STANDARD = "STANDARD"
    FLEX = "FLEX"


class GlueConfig(AwsConfig, frozen=True, kw_only=True):
    """A run of an AWS Glue job."""

    ours: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "arguments": ("--par_day", "--par_hour", "--interlock_token")
    }

    job_name: GlueName
    arguments: Annotated[
        dict[
            Annotated[str, _form("glue argument", "Begins with `--`.", r"--.+")],
            Argument,
        ],
        Meta(description="`--par_day` and `--par_hour` are always ours."),
    ] = field(default_factory=dict)
    worker_type: Annotated[Name | None, Meta(description="Such as `G.1X`.")] = None
    number_of_workers: Annotated[int, Meta(ge=1, description="How many.")] | None = None
    timeout_minutes: Annotated[int, Meta(ge=1, description="Glue's own timeout.")] | None = None
    execution_class: ExecutionClass | None = None
    queuing: Annotated[bool | None, Meta(description="Let Glue queue the run.")] = None
    pass_token: Annotated[
        bool, Meta(description="Pass `--interlock_token`, by which a repeated start is recognised.")
    ] = True
    verify_success: Annotated[
        bool, Meta(description="Check Glue's own analysis before trusting SUCCEEDED.")
    ] = True


class EmrConfig(AwsConfig, frozen=True, kw_only=True):
    """A step on an EMR cluster."""

    cluster_id: Annotated[
        str,
        pattern_form(
            "cluster id",
            "Such as `j-2AXXXXXXGAPLF`.",
            r"j-[0-9A-Za-z]+",
            "the id of a cluster, j-...",
        ),
    ]
    step_name: Annotated[Name | None, Meta(description="Default: the pipeline id.")] = None
    command: Annotated[Name, Meta(description="The jar.")] = "command-runner.jar"
    arguments: Annotated[
        tuple[Argument, ...],
        _also("pairs", ["array", "object"], "A list as is, or a map as `key=value`."),
    ] = ()
    main_class: Annotated[Name | None, Meta(description="Main class of the jar.")] = None
    execution_role_arn: RoleArn | None = None
    action_on_failure: ActionOnFailure = ActionOnFailure.CONTINUE


class SparkSubmit(Declared, frozen=True):
    """A Spark job."""

    entry_point: Annotated[Name, Meta(description="The script or jar.")]
    entry_point_arguments: Annotated[tuple[str, ...], Meta(description="Its arguments.")] = ()
    spark_submit_parameters: Annotated[str | None, Meta(description="`--conf` and the like.")] = (
        None
    )


class Hive(Declared, frozen=True):
    """A Hive query."""

    query: Annotated[Name, Meta(description="The query, or its location.")]
    init_query_file: Annotated[Name | None, Meta(description="Run before the query.")] = None
    parameters: Annotated[str | None, Meta(description="`--hiveconf` and the like.")] = None


class JobDriver(Declared, frozen=True):
    """What EMR Serverless runs: exactly one of the two."""

    spark_submit: SparkSubmit | None = None
    hive: Hive | None = None

    def objections(self) -> Iterator[Objection]:
        if self.spark_submit is None and self.hive is None:
            message = "a jobDriver is sparkSubmit or hive"
            yield Objection(("sparkSubmit",), ProblemKind.MISSING, message)
        elif self.spark_submit is not None and self.hive is not None:
            message = "a jobDriver is sparkSubmit or hive, not both"
            yield Objection(("hive",), ProblemKind.CONFLICT, message)


class EmrServerlessConfig(AwsConfig, frozen=True, kw_only=True):
    """A run of an EMR Serverless application."""

    application_id: Annotated[
        str,
        pattern_form(
            "application id",
            "Id of the application.",
            r"[0-9a-z]{1,64}",
            "the id of an application: 1 to 64 of 0-9 a-z",
        ),
    ]
    execution_role_arn: RoleArn
    job_driver: JobDriver
    job_name: Annotated[Name | None, Meta(description="Default: the pipeline id.")] = None
    configuration_overrides: Annotated[
        dict[str, Any] | None, Meta(description="Passed on as it is.")
    ] = None
    tags: Annotated[dict[str, str], Meta(description="Tags of the run.")] = field(
        default_factory=dict
    )
    execution_timeout_minutes: Annotated[
        Annotated[
            int,
            Meta(
                extra={"ge": 5, "or": 0},
                extra_json_schema={"anyOf": [{"const": 0}, {"minimum": 5}]},
            ),
        ]
        | None,
        Meta(description="0 (none) or at least 5."),
    ] = None


class StepFunctionConfig(AwsConfig, frozen=True, kw_only=True):
    """An execution of a Step Functions state machine."""

    state_machine_arn: Annotated[
        str,
        pattern_form(
            "state machine ARN",
            "ARN of a machine, version or alias.",
            r"arn:[a-z-]+:states:[a-z0-9-]*:[0-9]*:stateMachine:[!-~]+",
            "the ARN of a state machine",
        ),
    ]
    arguments: Annotated[
        dict[str, Any] | None, Meta(description="The input; default: the dates.")
    ] = None


class DatabricksConfig(JobConfig, frozen=True, kw_only=True):
    """A run of a Databricks job."""

    workspace_url: HttpsUrl
    job_id: Annotated[
        int,
        Meta(
            ge=0,
            description="Id of an existing job.",
            extra={"also": "digits"},
            extra_json_schema={"x-type": ["integer", "string"]},
        ),
    ]
    headers: SentHeaders = field(default_factory=dict)
    arguments: Annotated[dict[str, Argument], Meta(description="The parameters of the run.")] = (
        field(default_factory=dict)
    )
    arguments_as: ArgumentsAs = ArgumentsAs.NOTEBOOK_PARAMS
    api_version: Annotated[
        DatabricksVersion, _also("JSON text", ["string", "number"], "Of the Jobs API.")
    ] = DatabricksVersion.V2_1
    timeout: Timeout = "30s"

    def objections(self) -> Iterator[Objection]:
        yield from _of_timeout(self.timeout)
        yield from _of_headers(self.headers)


class Auth(Declared, frozen=True):
    """A user of Airflow."""

    username: Annotated[str, _form("secret text", "Who; `secret://` is replaced.")]
    password: Annotated[str, _form("secret text", "`secret://` is replaced.")]


class AirflowConfig(JobConfig, frozen=True, kw_only=True):
    """A run of an Airflow DAG."""

    url: Annotated[Url, Meta(description="Base URL; a path prefix is kept.")]
    dag_id: Annotated[Name, Meta(description="Id of the DAG.")]
    headers: SentHeaders = field(default_factory=dict)
    auth: Auth | None = None
    body: Annotated[JsonMap | None, Meta(description="The `conf`; default: the dates.")] = None
    timeout: Timeout = "30s"
    api_version: AirflowVersion = AirflowVersion.AUTO

    def objections(self) -> Iterator[Objection]:
        yield from _of_timeout(self.timeout)
        yield from _of_headers(self.headers)


SUCCESS_VALUES = ("success", "succeeded", "completed", "complete", "done", "finished")
FAILURE_VALUES = (
    "failed",
    "failure",
    "error",
    "cancelled",
    "canceled",
    "aborted",
    "timeout",
)


class HttpConfig(JobConfig, frozen=True, kw_only=True):
    """A request, and how to learn its outcome."""

    url: Url
    method: Method = Method.POST
    headers: SentHeaders = field(default_factory=dict)
    body: Annotated[
        Any, Meta(description="Map or list (sent as JSON), or text; default: the dates.")
    ] = None
    timeout: Annotated[
        Timeout,
        Meta(description="For the whole exchange, at most 15m.", extra={"longest": "15m"}),
    ] = "30s"
    run_id_path: Annotated[Path | None, Meta(description="Path of the run id.")] = None
    status_url: Annotated[
        Url | None, Meta(description="Polled with GET; may use `${JOB_RUN_ID}`.")
    ] = None
    status_path: Annotated[Path, Meta(description="Path of the status.")] = "status"
    success_values: Annotated[
        tuple[Name, ...], Meta(description="What means success.", min_length=1)
    ] = SUCCESS_VALUES
    failure_values: Annotated[
        tuple[Name, ...], Meta(description="What means failure; anything else: running.")
    ] = FAILURE_VALUES
    error_path: Annotated[Path | None, Meta(description="Path of the reason.")] = None
    cancel_url: Annotated[Url | None, Meta(description="Called with POST.")] = None
    completion: Annotated[
        Completion | None, Meta(description="Default `poll` with statusUrl, else `response`.")
    ] = None
    follow_redirects: Annotated[bool, Meta(description="307 and 308 only.")] = False
    at_most_once: Annotated[
        bool, Meta(description="Never repeat a start whose outcome is unknown.")
    ] = False

    @property
    def ends_by(self) -> Completion:
        if self.completion is not None:
            return self.completion
        return Completion.RESPONSE if self.status_url is None else Completion.POLL

    def objections(self) -> Iterator[Objection]:
        yield from _of_timeout(self.timeout)
        yield from _of_headers(self.headers)
        if known(self.body) and not isinstance(self.body, dict | list | str | None):
            message = "a body is a map, a list or text"
            yield Objection(("body",), ProblemKind.WRONG_TYPE, message)
        if self.completion is Completion.POLL and self.status_url is None:
            yield Objection(("completion",), ProblemKind.CONFLICT, "poll needs a statusUrl")


class CommandConfig(JobConfig, frozen=True, kw_only=True):
    """A local process."""

    without_shell: ClassVar[bool] = True

    command: Annotated[
        tuple[Annotated[str, _form("argument", "One argument.")], ...],
        Meta(
            min_length=1,
            description="List of arguments, or text that is split by POSIX quoting rules; no shell.",
            extra={"also": "command line"},
            extra_json_schema={"x-type": ["array", "string"]},
        ),
    ]
    timeout: Annotated[Timeout | None, Meta(description="Default: the poll window.")] = None
    cwd: Annotated[Name | None, Meta(description="Default: the project folder.")] = None
    env: Annotated[
        dict[
            Annotated[str, _form("variable", "Name of a variable.", r"[A-Za-z_][A-Za-z0-9_]*")],
            Annotated[str, _form("variable value", "Its value; `secret://` is replaced.")],
        ],
        Meta(description="Added to the environment."),
    ] = field(default_factory=dict)

    def objections(self) -> Iterator[Objection]:
        yield from _of_timeout(self.timeout)


class LambdaConfig(AwsConfig, frozen=True, kw_only=True):
    """A call of a Lambda function."""

    function_name: Annotated[Name, Meta(description="Name or ARN.")]
    qualifier: Annotated[Name | None, Meta(description="Version or alias.")] = None
    payload: Annotated[JsonMap | None, Meta(description="Default: the dates.")] = None
    invocation_type: InvocationType = InvocationType.REQUEST_RESPONSE
    completion: Annotated[
        LambdaCompletion | None,
        Meta(description="Default `response`; required with `Event`."),
    ] = None
    timeout: Annotated[Timeout, Meta(description="At most 14m.", extra={"longest": "14m"})] = "60s"
    at_most_once: Annotated[
        bool, Meta(description="Never repeat a start whose outcome is unknown.")
    ] = False

    @property
    def ends_by(self) -> LambdaCompletion:
        return self.completion or LambdaCompletion.RESPONSE

    def objections(self) -> Iterator[Objection]:
        """Nothing waits for an Event, so the file must say how its end is known."""
        if self.invocation_type is InvocationType.EVENT and self.completion is None:
            message = "must be given with invocationType Event"
            yield Objection(("completion",), ProblemKind.MISSING, message)


def _of_timeout(timeout: str | None) -> Iterator[Objection]:
    if timeout is not None and known(timeout) and not duration.seconds(timeout):
        yield Objection(("timeout",), ProblemKind.OUT_OF_RANGE, "must be more than 0s")


def _of_headers(headers: Mapping[str, str]) -> Iterator[Objection]:
    """Header names are case-insensitive."""
    seen: set[str] = set()
    for name in headers if known(headers) else ():
        if name.lower() in seen:
            yield Objection(("headers", name), ProblemKind.DUPLICATE, "this header is set twice")
        seen.add(name.lower())
