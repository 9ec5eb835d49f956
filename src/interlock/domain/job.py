"""Job: what a job gets at its launch, and what its platform answers."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.budgets import Category


class JobContext(msgspec.Struct, frozen=True):
    """What a job may know about its run."""

    pipeline: str
    schedule: str
    label: str
    date: str
    hour: str | None
    attempt: int
    token: str
    opened_at: datetime


class Launched(msgspec.Struct, frozen=True):
    """A job that was started; `metadata` is all that polling and cancelling need."""

    run_id: str
    metadata: dict[str, Any]
    finished: bool = False


class Absent(msgspec.Struct, frozen=True):
    """No job was started under the token."""


class CannotTell(msgspec.Struct, frozen=True):
    """The platform can't say whether a job was started under the token."""


class Running(msgspec.Struct, frozen=True):
    """The job has not ended; `unseen` when the platform denies access to its state, `ending` when it is
    over and its outcome is not known yet.
    """

    message: str = ""
    unseen: bool = False
    ending: bool = False


class Succeeded(msgspec.Struct, frozen=True):
    """The job succeeded."""

    message: str = ""
    ended_at: datetime | None = None
    detail: dict[str, Any] = {}


class Failed(msgspec.Struct, frozen=True):
    """The job failed; `stopped` when it was ended on purpose. `output` is what it printed last."""

    category: Category | None
    message: str
    ended_at: datetime | None = None
    stopped: bool = False
    detail: dict[str, Any] = {}
    output: str = ""
