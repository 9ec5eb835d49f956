"""Job kinds: one row for each job type. A file, a launch, the reference and the tests all read it.

The config struct and the adapter are named, not imported: a function that only routes readings starts
without them, and a type whose extra is missing can still be validated. Nothing here imports the pipeline,
which checks `job.type` against these rows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from interlock.domain.job_configs import JobConfig


class Promises(msgspec.Struct, frozen=True, kw_only=True):
    """What the platform lets us promise. The contract suite of jobs holds each type to its row."""

    #: How a repeated start is recognised, and whether an attempt has one job; for the reader of the docs.
    recognised_by: str
    one_job: str
    #: A launch that is repeated without a look may start a second job.
    at_least_once: bool = False
    #: A job can be found again by its token alone.
    findable: bool = True
    #: A job need not be found: a repeated launch gives the same one.
    is_idempotent: bool = False
    #: What the platform tells of an end.
    says_why: bool = True
    says_timeout: bool = True
    says_stopped: bool = True
    #: The platform can be asked about a job, and asked to end it.
    is_asked: bool = True


class Right(msgspec.Struct, frozen=True):
    """An IAM action, the kind of resource that AWS checks it against, and whether it only looks."""

    action: str
    on: str
    looks: bool = False


class LogsLink(msgspec.Struct, frozen=True):
    """A template over the metadata of a job. Of several, the first whose condition and names are met wins."""

    template: str
    #: The name and the value that the metadata must have.
    when: tuple[str, str] | None = None


class JobKind(msgspec.Struct, frozen=True, kw_only=True):
    """A job type: everything that the rest of Interlock has to know about it."""

    name: str
    #: `module:Name` of the struct of `job.config`, and of the adapter, which is made of its surroundings.
    config_path: str
    adapter_path: str
    promises: Promises
    #: The extra that brings what the adapter imports.
    extra: str | None = None
    #: What a job needs on AWS. The Terraform module grants exactly this.
    rights: tuple[Right, ...] = ()
    #: AWS services that start jobs and take no token: the SDK must not repeat a call by itself.
    never_repeated: tuple[str, ...] = ()
    #: Where the platform shows the logs of a job.
    logs: tuple[LogsLink, ...] = ()

    @property
    def config(self) -> "type[JobConfig]":
        found: type[JobConfig] = loaded(self.config_path)
        return found


def loaded(path: str) -> Any:
    """What `module:Name` names. Raises ImportError."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


_CONFIGS = "interlock.domain.job_configs"
_JOBS = "interlock.adapters.jobs"
_CONSOLE = "https://{region}.console.aws.amazon.com"

JOB_KINDS: dict[str, JobKind] = {
    kind.name: kind
    for kind in (
        JobKind(
            name="http",
            config_path=f"{_CONFIGS}:HttpConfig",
            adapter_path=f"{_JOBS}.http:HttpJobs",
            extra="server",
            promises=Promises(
                recognised_by="a `statusUrl` with the token in it, and the header `Idempotency-Key`",
                one_job="with such a `statusUrl` yes, else it is up to the receiver",
            ),
        ),
        JobKind(
            name="command",
            config_path=f"{_CONFIGS}:CommandConfig",
            adapter_path=f"{_JOBS}.command.command_jobs:CommandJobs",
            promises=Promises(recognised_by="a folder and a lock under the token", one_job="yes"),
        ),
        JobKind(
            name="airflow",
            config_path=f"{_CONFIGS}:AirflowConfig",
            adapter_path=f"{_JOBS}.airflow:AirflowJobs",
            extra="server",
            promises=Promises(
                recognised_by="the id of the DAG run",
                one_job="yes",
                says_why=False,
                says_timeout=False,
                says_stopped=False,
            ),
            logs=(
                LogsLink("{url}/dags/{dagId}/grid?dag_run_id={runId}", ("apiVersion", "v1")),
                LogsLink("{url}/dags/{dagId}/runs/{runId}"),
            ),
        ),
        JobKind(
            name="glue",
            config_path=f"{_CONFIGS}:GlueConfig",
            adapter_path=f"{_JOBS}.aws.glue:GlueJobs",
            extra="aws",
            promises=Promises(
                recognised_by="the argument `--interlock_token`",
                one_job="yes; with `passToken: false` at least one",
                at_least_once=True,
            ),
            rights=(
                Right("glue:StartJobRun", "job"),
                Right("glue:GetJobRun", "job", looks=True),
                Right("glue:GetJobRuns", "job", looks=True),
                Right("glue:BatchStopJobRun", "job"),
                Right("logs:FilterLogEvents", "log-group", looks=True),
            ),
            never_repeated=("glue",),
            logs=(
                LogsLink(
                    f"{_CONSOLE}/gluestudio/home?region={{region}}#/job/{{jobName}}/run/{{runId}}"
                ),
            ),
        ),
        JobKind(
            name="emr",
            config_path=f"{_CONFIGS}:EmrConfig",
            adapter_path=f"{_JOBS}.aws.emr:EmrJobs",
            extra="aws",
            promises=Promises(
                recognised_by="the name of the step",
                one_job="yes",
                at_least_once=True,
                says_timeout=False,
                says_stopped=False,
            ),
            rights=(
                Right("elasticmapreduce:AddJobFlowSteps", "cluster"),
                Right("elasticmapreduce:ListSteps", "cluster", looks=True),
                Right("elasticmapreduce:DescribeStep", "cluster", looks=True),
                Right("elasticmapreduce:CancelSteps", "cluster"),
            ),
            never_repeated=("emr",),
            logs=(
                LogsLink(f"{_CONSOLE}/emr/home?region={{region}}#/clusterDetails/{{clusterId}}"),
            ),
        ),
        JobKind(
            name="emr-serverless",
            config_path=f"{_CONFIGS}:EmrServerlessConfig",
            adapter_path=f"{_JOBS}.aws.emr_serverless:EmrServerlessJobs",
            extra="aws",
            promises=Promises(
                recognised_by="`clientToken` of the platform, and the name of the run",
                one_job="yes",
            ),
            rights=(
                Right("emr-serverless:StartJobRun", "applications"),
                Right("emr-serverless:ListJobRuns", "applications", looks=True),
                Right("emr-serverless:GetJobRun", "jobruns", looks=True),
                Right("emr-serverless:CancelJobRun", "jobruns"),
            ),
            logs=(
                LogsLink(
                    f"{_CONSOLE}/cloudwatch/home?region={{region}}#logsV2:log-groups/log-group/"
                    "$252Faws$252Femr-serverless$3FlogStreamNameFilter$3Dapplications$252F"
                    "{applicationId}$252Fjobs$252F{runId}"
                ),
            ),
        ),
        JobKind(
            name="step-function",
            config_path=f"{_CONFIGS}:StepFunctionConfig",
            adapter_path=f"{_JOBS}.aws.step_function:StepFunctionJobs",
            extra="aws",
            promises=Promises(
                recognised_by="the name of the execution", one_job="yes, for 90 days"
            ),
            rights=(
                Right("states:StartExecution", "stateMachine"),
                Right("states:DescribeStateMachine", "stateMachine"),
                Right("states:DescribeExecution", "execution", looks=True),
                Right("states:StopExecution", "execution"),
            ),
            logs=(
                LogsLink(
                    f"{_CONSOLE}/states/home?region={{region}}#/v2/executions/details/{{runId}}"
                ),
            ),
        ),
        JobKind(
            name="databricks",
            config_path=f"{_CONFIGS}:DatabricksConfig",
            adapter_path=f"{_JOBS}.databricks:DatabricksJobs",
            extra="server",
            promises=Promises(
                recognised_by="`idempotency_token` of the platform",
                one_job="yes",
                is_idempotent=True,
            ),
            logs=(LogsLink("{workspaceUrl}/#job/{jobId}/run/{runId}"),),
        ),
        JobKind(
            name="lambda",
            config_path=f"{_CONFIGS}:LambdaConfig",
            adapter_path=f"{_JOBS}.aws.aws_lambda:LambdaJobs",
            extra="aws",
            promises=Promises(
                recognised_by="nothing",
                one_job="at least one",
                at_least_once=True,
                findable=False,
                is_asked=False,
            ),
            rights=(Right("lambda:InvokeFunction", "function"),),
            never_repeated=("lambda",),
        ),
    )
}
