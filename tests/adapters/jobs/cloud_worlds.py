"""Cloud worlds: platforms elsewhere, each as a stand-in."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from adapters.jobs.airflow_stand_in import AirflowStandIn
from adapters.jobs.aws_stand_in import (
    AwsStandIn,
    EmrServerlessService,
    EmrService,
    GlueService,
    LambdaService,
    LogsService,
    Refused,
    StepFunctionsService,
)
from adapters.jobs.databricks_stand_in import JOBS, DatabricksStandIn
from adapters.jobs.job_samples import CANARY, a_job, surroundings
from adapters.jobs.stand_in import Reply, Seen, serving
from adapters.jobs.worlds import Made, World
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.domain.pipeline import Pipeline

ROLE = "arn:aws:iam::123456789012:role/spark"


class AirflowWorld(Made):
    """Airflow, of either version."""

    def __init__(self, given: Surroundings, stand_in: AirflowStandIn) -> None:
        super().__init__(given)
        self.stand_in = stand_in

    def pipeline(self, fate: str) -> Pipeline:
        if fate == "say-secret":
            self.stand_in.fault = _echo
        dag = {"time-out": "fail", "say-secret": "hang"}.get(fate, fate)
        auth = {"username": "interlock", "password": "secret://env/INTERLOCK_CANARY"}
        return a_job("airflow", url=self.stand_in.url, dagId=dag, auth=auth)

    def starts(self, token: str) -> int:
        return self.stand_in.starts[token]

    def hide(self, token: str) -> None:
        self.stand_in.fault = lambda seen: Reply(404) if seen.method == "GET" else None


def _echo(seen: Seen) -> Reply | None:
    """Returns the request of a run, with the password."""
    if seen.method != "GET" or "dagRuns" not in seen.path:
        return None
    said = f"{seen.headers['authorization']} is not {CANARY}"
    return Reply(400, said.encode())


class DatabricksWorld(Made):
    """A workspace."""

    def __init__(self, given: Surroundings, stand_in: DatabricksStandIn) -> None:
        super().__init__(given)
        self.stand_in = stand_in

    def pipeline(self, fate: str) -> Pipeline:
        headers = {"Authorization": "Bearer secret://env/INTERLOCK_CANARY"}
        url = self.stand_in.url
        return a_job("databricks", workspaceUrl=url, jobId=JOBS[fate], headers=headers)

    def starts(self, token: str) -> int:
        return self.stand_in.starts[token]

    def hide(self, token: str) -> None:
        self.stand_in.fault = lambda seen: Reply(403, b"{}")


class AwsWorld(Made):
    """A service of AWS. No config of these holds a secret; one that is said is masked all the same."""

    service: Any
    #: Makes the secret known, and a state in which it is said.
    says: ClassVar[tuple[str, str]] = ("FAILED", f"bad {CANARY}")

    def __init__(self, given: Surroundings, **services: Any) -> None:
        self.aws = AwsStandIn(**services)
        self.service = next(iter(services.values()))
        super().__init__(_with_client(given, self.aws))

    def pipeline(self, fate: str) -> Pipeline:
        if fate == "say-secret":
            self.given.secrets.get("env/INTERLOCK_CANARY")
            self.service.fates = {**self.service.fates, fate: self.says}
        return self.sample(fate)

    def sample(self, fate: str) -> Pipeline:
        raise NotImplementedError

    def starts(self, token: str) -> int:
        count: int = self.service.starts[token]
        return count

    def hide(self, token: str) -> None:
        def deny(operation: str, params: dict[str, Any]) -> None:
            raise Refused("AccessDeniedException", "not allowed", 403)

        self.aws.fault = deny


class GlueWorld(AwsWorld):
    """AWS Glue, and the logs in which it explains itself."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, glue=GlueService(), logs=LogsService())

    def sample(self, fate: str) -> Pipeline:
        return a_job("glue", jobName=fate)


class EmrWorld(AwsWorld):
    """A cluster."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, emr=EmrService())

    def sample(self, fate: str) -> Pipeline:
        return a_job("emr", clusterId="j-1", arguments=[fate])


class EmrServerlessWorld(AwsWorld):
    """An application."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, emr_serverless=EmrServerlessService())

    def sample(self, fate: str) -> Pipeline:
        driver = {"sparkSubmit": {"entryPoint": fate}}
        return a_job("emr-serverless", applicationId="app", executionRoleArn=ROLE, jobDriver=driver)


class StepFunctionWorld(AwsWorld):
    """State machines."""

    says = ("FAILED", f"Oops: bad {CANARY}")

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, stepfunctions=StepFunctionsService())

    def sample(self, fate: str) -> Pipeline:
        arn = f"arn:aws:states:eu-west-1:123456789012:stateMachine:{fate}"
        return a_job("step-function", stateMachineArn=arn)


class LambdaWorld(AwsWorld):
    """Functions."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, **{"lambda": LambdaService()})

    def pipeline(self, fate: str) -> Pipeline:
        if fate == "say-secret":
            self.given.secrets.get("env/INTERLOCK_CANARY")
            self.service.errors[fate] = ("KeyError", CANARY)
        completion = "event" if fate == "hang" else "response"
        return a_job("lambda", functionName=fate, completion=completion)


def _with_client(given: Surroundings, aws: AwsStandIn) -> Surroundings:
    return surroundings(given.state, secrets=given.secrets, aws_client=aws.client)


def aws(
    kind: Callable[[Surroundings], AwsWorld],
) -> Callable[[Path], AbstractContextManager[World]]:
    @contextmanager
    def opened(folder: Path) -> Iterator[World]:
        yield kind(surroundings(folder))

    return opened


def airflow(version: str) -> Callable[[Path], AbstractContextManager[World]]:
    @contextmanager
    def opened(folder: Path) -> Iterator[World]:
        stand_in = AirflowStandIn(version=version, user=("interlock", CANARY))
        with serving(stand_in=stand_in):
            world = AirflowWorld(surroundings(folder), stand_in)
            yield world
            world.close()

    return opened


@contextmanager
def databricks(folder: Path) -> Iterator[World]:
    stand_in = DatabricksStandIn(token=CANARY)
    with serving(stand_in=stand_in):
        world = DatabricksWorld(surroundings(folder), stand_in)
        yield world
        world.close()
