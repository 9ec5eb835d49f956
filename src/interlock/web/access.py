"""Access: who the caller is, and what they may do.

The server keeps only the hashes of secrets, and compares them in constant time. Scopes say what a caller
may do; `own` belongs to the operators of the installation itself, and no token can carry it.
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from interlock.domain.callers import GRANTABLE, Scope, Token
from interlock.operations.tokens import digest_of

LOGIN_SECONDS = 15 * 60
SESSION_SECONDS = 12 * 3600
COOKIE = "interlock_session"
MOST_SESSIONS = 1000


class Caller(msgspec.Struct, frozen=True):
    """A caller who presented a valid secret. No pipelines means all of them."""

    name: str
    scopes: frozenset[Scope]
    pipelines: frozenset[str] = frozenset()

    def may(self, scope: Scope, pipeline_id: str | None = None) -> bool:
        if scope not in self.scopes:
            return False
        return not self.pipelines or pipeline_id is None or pipeline_id in self.pipelines


class KnownTokens(Protocol):
    """The store of tokens."""

    def all(self) -> list[Token]: ...


class Access:
    """The secrets of one server, and the sessions of browsers."""

    def __init__(
        self,
        tokens: KnownTokens,
        owners: dict[str, str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`owners`: secrets that may do everything, keyed by the name recorded for their actions."""
        self._tokens = tokens
        self._owners = tuple(
            (digest_of(secret), Caller(name, frozenset(Scope))) for name, secret in owners.items()
        )
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}
        self._sessions: dict[str, tuple[float, Caller]] = {}
        self._known: tuple[tuple[str, Caller], ...] | None = None

    def refresh(self) -> None:
        """Reload the tokens after one was created or revoked. Revoking a token ends its sessions."""
        known = (*self._owners, *((each.hash, _caller(each)) for each in self._tokens.all()))
        callers = {caller for _, caller in known}
        with self._lock:
            self._known = known
            self._sessions = {
                digest: (until, caller)
                for digest, (until, caller) in self._sessions.items()
                if caller in callers or Scope.OWN in caller.scopes
            }

    def by_secret(self, secret: str) -> Caller | None:
        if self._known is None:
            self.refresh()
        digest, found = digest_of(secret), None
        for known, caller in self._known or ():
            if hmac.compare_digest(known, digest):
                found = caller
        return found

    def new_code(self) -> str:
        """A secret for one login."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[digest_of(code)] = self._monotonic() + LOGIN_SECONDS
        return code

    def log_in(self, given: str) -> str | None:
        """The secret of a new session, in exchange for a one-time code or a token; None for anything else."""
        caller = self._spend_code(given) or self.by_secret(given)
        if caller is None:
            return None
        session = secrets.token_urlsafe(32)
        now = self._monotonic()
        with self._lock:
            self._sessions = {k: v for k, v in self._sessions.items() if v[0] > now}
            while len(self._sessions) >= MOST_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[digest_of(session)] = (now + SESSION_SECONDS, caller)
        return session

    def by_session(self, session: str) -> Caller | None:
        until, caller = self._sessions.get(digest_of(session), (0.0, None))
        return caller if self._monotonic() < until else None

    def log_out(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(digest_of(session), None)

    def _spend_code(self, given: str) -> Caller | None:
        with self._lock:
            until = self._codes.pop(digest_of(given), 0.0)
        return Caller("browser", frozenset(Scope)) if self._monotonic() < until else None


def _caller(token: Token) -> Caller:
    known = {scope.value for scope in GRANTABLE}
    scopes = frozenset(Scope(scope) for scope in token.scopes if scope in known)
    return Caller(token.name, scopes, frozenset(token.pipelines))
