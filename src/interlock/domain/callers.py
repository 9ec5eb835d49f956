"""Callers: what they may do, the tokens that identify them, and the record of their requests."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Scope(StrEnum):
    """What a caller may do. `own` is for the owner of the installation: no token can have it."""

    READ = "read"
    OBSERVE = "observe"
    OPERATE = "operate"
    OWN = "own"


#: The scopes that tokens can have.
GRANTABLE = (Scope.READ, Scope.OBSERVE, Scope.OPERATE)


class Token(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A caller's credential. Only the hash of its secret is stored; no pipelines means all of them."""

    name: str
    hash: str
    scopes: tuple[str, ...]
    created_at: datetime
    pipelines: tuple[str, ...] = ()


class RequestOutcome(StrEnum):
    """What came of a request. `unknown`: the process ended before it noted the outcome."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


class AuditEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An operation that a caller asked for, and its outcome."""

    at: datetime
    actor: str
    action: str
    target: str
    reason: str = ""
    #: Empty if the operation is not about a pipeline.
    pipeline_id: str = ""
    outcome: RequestOutcome = RequestOutcome.UNKNOWN
    #: Why it was refused, or failed.
    problem: str = ""
    #: Its place in the log, which gives it.
    seq: int = 0


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries to show."""

    actor: str | None = None
    action: str | None = None
    pipeline_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
