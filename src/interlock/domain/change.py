"""Change: a record that was written, as the feed or stream reports it."""

from datetime import datetime
from enum import StrEnum

import msgspec

from interlock.domain.job_record import JobRecord
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.sensor import Reading


class ChangeKind(StrEnum):
    """The kind of a change record."""

    SENSOR = "sensor"
    CONFIG = "config"
    RERUN = "rerun"
    JOB = "job"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was written, as the feed or stream reports it."""

    id: str
    kind: ChangeKind
    pipeline_id: str
    key: str
    at: datetime
    removed: bool = False
    reading: Reading | None = None
    request: RerunRequest | None = None
    record: JobRecord | None = None
