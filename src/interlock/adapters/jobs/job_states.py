"""States: what a platform's word for the state of a job means; the same few things on every platform."""

import logging
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from interlock.adapters.jobs.classification import Hint, hint
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Running, Succeeded

log = logging.getLogger(__name__)


class Meaning(StrEnum):
    """What a state says of the job."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    #: It failed, and its message may hint at the kind.
    FAILED = "failed"
    #: It failed, and the platform does not say why.
    UNEXPLAINED = "unexplained"
    TRANSIENT = "transient"
    PERMANENT = "permanent"
    TIMEOUT = "timeout"
    STOPPED = "stopped"


Table = Mapping[str, Meaning]

_CATEGORIES = {
    Meaning.TRANSIENT: Category.TRANSIENT,
    Meaning.PERMANENT: Category.PERMANENT,
    Meaning.TIMEOUT: Category.TIMEOUT,
}


def meaning_of(kind: str, state: str, table: Table) -> Meaning:
    """A state that is not in the table is no end: the job goes on, and the log says so once."""
    if state not in table:
        _tell(kind, state)
    return table.get(state, Meaning.RUNNING)


def judged(
    meaning: Meaning, state: str, message: str = "", ended_at: datetime | None = None
) -> Running | Succeeded | Failed:
    """The answer of a poll. Without a message the state speaks for itself."""
    text = message or f"its state is {state}"
    if meaning is Meaning.RUNNING:
        return Running(text)
    detail: dict[str, Any] = {"state": state}
    if meaning is Meaning.SUCCEEDED:
        return Succeeded(text, ended_at, detail)
    found = hint(message) if meaning is Meaning.FAILED else Hint(_CATEGORIES.get(meaning))
    if found.name is not None:
        detail["hint"] = found.name
    return Failed(found.category, text, ended_at, meaning is Meaning.STOPPED, detail)


@lru_cache(maxsize=256)
def _tell(kind: str, state: str) -> None:
    log.warning(
        "the platform reports an unknown state",
        extra={"action": "unknown_state", "job_type": kind, "state": state},
    )
