"""Timer: something that falls due."""

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec


class Timer(msgspec.Struct, frozen=True, rename="camel"):
    """A row with a due time."""

    name: str
    kind: str
    due_at: datetime
    payload: dict[str, Any]


class TimerKind(StrEnum):
    """The kinds of timers, besides those of deadlines."""

    CRON = "cron"
    RETRY = "retry"
    POST_RUN = "post-run"
