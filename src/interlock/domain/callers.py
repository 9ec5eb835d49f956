"""Callers: what they may do, the tokens by which they are known, and the record of what they asked for."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Scope(StrEnum):
    """What a caller may do. `own` is for the holder of the installation: no token can be given it."""

    READ = "read"
    OBSERVE = "observe"
    OPERATE = "operate"
    OWN = "own"


#: What tokens can be given.
GRANTABLE = (Scope.READ, Scope.OBSERVE, Scope.OPERATE)


class Token(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A right to call us. Of its secret only the hash is kept; no pipelines means all of them."""

    name: str
    hash: str
    scopes: tuple[str, ...]
    created_at: datetime
    pipelines: tuple[str, ...] = ()


class AuditEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An operation that a caller asked for."""

    at: datetime
    actor: str
    action: str
    target: str
    reason: str = ""
