"""Config: a pipeline's config in force, what its owner wants, and why a file was refused."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.pipeline import Pipeline
from interlock.domain.schedule import Occurrence
from interlock.domain.standing import Standing, standing_since


class Pause(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A pause that is in effect. Who paused and why is empty in rows that were written without it."""

    since: datetime
    until: datetime | None = None
    by: str = ""
    reason: str = ""

    def __str__(self) -> str:
        who = f" by {self.by}" if self.by else ""
        return f"paused{who} ({self.reason})" if self.reason else f"paused{who}"


class Config(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The config in force of one pipeline, and what goes with it."""

    pipeline: Pipeline
    config_hash: str
    adopted_at: datetime
    active_since: datetime
    version: int = 1
    rejected_hash: str | None = None
    retired_at: datetime | None = None
    paused_since: datetime | None = None
    paused_until: datetime | None = None
    #: Who paused it, and why.
    paused_by: str = ""
    paused_reason: str = ""
    armed: dict[str, Occurrence] = {}
    #: By the ids that schedules have and had. One that is not here counts since `active_since`.
    standings: dict[str, Standing] = {}

    def standing(self, schedule_id: str) -> Standing:
        """Since when a schedule counts in its present form."""
        return self.standings.get(schedule_id) or standing_since(self.active_since)

    def is_paused(self, now: datetime) -> bool:
        return self.pause(now) is not None

    def pause(self, now: datetime) -> Pause | None:
        """None when it is over, or was never asked for."""
        since, until = self.paused_since, self.paused_until
        if since is None or (until is not None and now >= until):
            return None
        return Pause(since=since, until=until, by=self.paused_by, reason=self.paused_reason)

    @property
    def is_retired(self) -> bool:
        return self.retired_at is not None


class Wanted(msgspec.Struct, frozen=True):
    """What an owner wants in force: the file as JSON, or None for a removed pipeline."""

    pipeline_id: str
    config: Any
    config_hash: str
    wanted_at: datetime


class RefusedConfig(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An invalid file or stored config: the first of its problems, and where it is."""

    #: None for the alerts file, and for a file without an id.
    pipeline_id: str | None
    message: str
    #: Inside the document: `validation.rules[0].value`; empty for the document as a whole.
    path: str = ""
    #: Empty, with line 0, for a config that was stored without a file.
    file: str = ""
    line: int = 0
    #: How many further problems it has.
    more: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        who = "" if self.file else self.pipeline_id
        rest = f" (and {self.more} more)" if self.more else ""
        return ": ".join(part for part in (who, place, self.path, self.message) if part) + rest


class Downstream(msgspec.Struct, frozen=True, rename="camel"):
    """A schedule that opens when another pipeline completes."""

    pipeline_id: str
    schedule_id: str
    whole_day: bool
