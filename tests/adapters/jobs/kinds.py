"""Kinds: the types of jobs that must keep the contract. A new type is a new row, and a world for it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from adapters.jobs.cloud_worlds import (
    EmrServerlessWorld,
    EmrWorld,
    GlueWorld,
    LambdaWorld,
    StepFunctionWorld,
    airflow,
    aws,
    databricks,
)
from adapters.jobs.job_samples import a_job, surroundings
from adapters.jobs.stand_in import Reply, StandIn, serving
from adapters.jobs.worlds import Made, World
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.domain.pipeline import JobType, Pipeline


@dataclass(frozen=True)
class Kind:
    """A type, and what may be expected of it."""

    name: str
    open: Callable[[Path], AbstractContextManager[World]]
    #: A repeated launch may start a second job; the type's page says so.
    at_least_once: bool = False
    #: It can be found again by its token alone.
    findable: bool = True
    #: It need not be found: a launch again gives the same job.
    is_idempotent: bool = False
    #: What its platform tells of an end.
    says_why: bool = True
    says_timeout: bool = True
    says_stopped: bool = True
    #: An outside platform can be asked about it, and to end it.
    is_asked: bool = True

    @property
    def type(self) -> JobType:
        return JobType(self.name.partition(" ")[0])


class CommandWorld(Made):
    """Processes of this machine."""

    def pipeline(self, fate: str) -> Pipeline:
        script = f'echo x >> "$MARKS/$INTERLOCK_JOB_TOKEN"; {_SCRIPTS[fate]}'
        env = {"MARKS": str(self.given.state / "marks"), "KEY": "secret://env/INTERLOCK_CANARY"}
        timeout = "300ms" if fate == "time-out" else "1m"
        command = ["/bin/sh", "-c", script]
        return a_job(JobType.COMMAND, command=command, env=env, timeout=timeout)

    def starts(self, token: str) -> int:
        try:
            return len((self.given.state / "marks" / token).read_text().split())
        except FileNotFoundError:
            return 0

    def hide(self, token: str) -> None:
        rmtree(self.given.state / "jobs" / token)

    def stored(self) -> bytes:
        paths = (self.given.state / "jobs").rglob("*")
        return b"".join(path.read_bytes() for path in paths if path.is_file())


_SCRIPTS = {
    "succeed": "true",
    "fail": 'echo "it broke" >&2; exit 65',
    "time-out": "exec sleep 60",
    "hang": "exec sleep 60",
    "say-secret": 'echo "my key is $KEY" | tee /dev/stderr; exit 3',
}


class HttpWorld(Made):
    """A server that starts jobs."""

    def __init__(self, given: Surroundings, stand_in: StandIn) -> None:
        super().__init__(given)
        self.stand_in = stand_in

    def pipeline(self, fate: str) -> Pipeline:
        url = self.stand_in.url
        if fate == "say-secret":
            self.stand_in.fault = lambda seen: _echo(seen.headers) if seen.method == "GET" else None
        return a_job(
            JobType.HTTP,
            url=f"{url}/jobs/{fate}",
            headers={"Authorization": "Bearer secret://env/INTERLOCK_CANARY"},
            statusUrl=f"{url}/runs/${{RUN_ID}}",
            cancelUrl=f"{url}/runs/${{JOB_RUN_ID}}/cancel",
            runIdPath="run.id",
            errorPath="error.reason",
        )

    def starts(self, token: str) -> int:
        return self.stand_in.starts[token]

    def hide(self, token: str) -> None:
        self.stand_in.fault = lambda seen: Reply(403, b"go away")

    def stored(self) -> bytes:
        return b""


def _echo(headers: dict[str, str]) -> Reply:
    said = headers["authorization"].replace('"', '\\"')
    return Reply(body=f'{{"status": "failed", "error": {{"reason": "bad {said}"}}}}'.encode())


@contextmanager
def _command(folder: Path) -> Iterator[World]:
    (folder / "marks").mkdir()
    world = CommandWorld(surroundings(folder))
    yield world
    for path in (folder / "jobs").glob("il-*"):
        world.jobs().cancel({"type": "command", "token": path.name})
    world.close()


@contextmanager
def _http(folder: Path) -> Iterator[World]:
    with serving() as stand_in:
        world = HttpWorld(surroundings(folder), stand_in)
        yield world
        world.close()


KINDS = (
    Kind("command", _command),
    Kind("http", _http),
    Kind("airflow v1", airflow("v1"), says_why=False, says_timeout=False, says_stopped=False),
    Kind("airflow v2", airflow("v2"), says_why=False, says_timeout=False, says_stopped=False),
    Kind("databricks", databricks, is_idempotent=True),
    # a job of Glue is found by its token, but a launch without a look starts another
    Kind("glue", aws(GlueWorld), at_least_once=True),
    Kind("emr", aws(EmrWorld), at_least_once=True, says_timeout=False, says_stopped=False),
    Kind("emr-serverless", aws(EmrServerlessWorld)),
    Kind("step-function", aws(StepFunctionWorld)),
    Kind("lambda", aws(LambdaWorld), at_least_once=True, findable=False, is_asked=False),
)
