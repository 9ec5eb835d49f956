"""Kinds: the types of jobs that must keep the contract. A new type is a new row, and a world for it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from adapters.jobs.job_samples import a_job, surroundings
from adapters.jobs.stand_in import Reply, StandIn, serving
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.surroundings import Surroundings
from interlock.domain.pipeline import JobType, Pipeline


class World(Protocol):
    """Where the jobs of a type run, and what a test must see or do there."""

    def jobs(self) -> JobsByType:
        """The port, as a controller that has just started has it."""
        ...

    def pipeline(self, fate: str) -> Pipeline:
        """One whose job will succeed, fail, time-out, hang, or say-secret and fail."""
        ...

    def starts(self, token: str) -> int:
        """How many jobs were really started."""
        ...

    def hide(self, token: str) -> None:
        """From now on nobody is told about the job."""
        ...

    def stored(self) -> bytes:
        """Everything that we wrote down."""
        ...


@dataclass(frozen=True)
class Kind:
    """A type, and what may be expected of it."""

    name: str
    open: Callable[[Path], AbstractContextManager[World]]
    #: A repeated launch may start a second job; the type's page says so.
    at_least_once: bool = False
    #: It can be found again by its token alone.
    findable: bool = True


class _Made:
    """Closes every port that a test made."""

    def __init__(self, given: Surroundings) -> None:
        self.given = given
        self.made: list[JobsByType] = []

    def jobs(self) -> JobsByType:
        self.made.append(JobsByType(self.given))
        return self.made[-1]

    def close(self) -> None:
        for jobs in self.made:
            jobs.close()


class CommandWorld(_Made):
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


class HttpWorld(_Made):
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
)
