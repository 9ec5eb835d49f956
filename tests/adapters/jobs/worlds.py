"""Worlds: where the jobs of a type run, and what a test must see or do there."""

from typing import Protocol

from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.domain.pipeline import Pipeline


class World(Protocol):
    """One for each type; the contract is tested in all of them."""

    given: Surroundings

    def jobs(self) -> JobsByType:
        """The port, as a controller that has just started has it."""
        ...

    def pipeline(self, fate: str) -> Pipeline:
        """One whose job will succeed, fail, time-out, hang, or have a secret said of it."""
        ...

    def starts(self, token: str) -> int:
        """How many jobs were really started."""
        ...

    def hide(self, token: str) -> None:
        """From now on the platform hides the job."""
        ...

    def stored(self) -> bytes:
        """Everything that we wrote down."""
        ...


class Made:
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

    def stored(self) -> bytes:
        return b""
