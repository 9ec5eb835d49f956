"""Slack signature: whether a request comes from Slack, is fresh, and comes for the first time."""

import hashlib
import hmac
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

#: How old a request may be, and how far a clock may be ahead.
FRESH = timedelta(minutes=5)
_LONGEST_STAMP = 12
_LONGEST_SIGNATURE = 128


class SlackSignature:
    """`secret` is asked anew each time: it may have been replaced. A request that was signed before this
    process began is refused, because the process before may have taken it.
    """

    def __init__(self, secret: Callable[[], str], clock: Callable[[], datetime]) -> None:
        self._secret, self._clock = secret, clock
        self._began = int(clock().timestamp())
        self._taken: dict[str, int] = {}
        self._lock = threading.Lock()

    def objection(self, stamp: str, signature: str, body: bytes) -> str | None:
        """Why the request is refused; None if it is taken, which happens once."""
        if not (stamp.isascii() and stamp.isdigit()) or len(stamp) > _LONGEST_STAMP:
            return "the timestamp is not a number of seconds"
        expected = sign(self._secret(), stamp, body)
        given = signature[:_LONGEST_SIGNATURE].encode("utf-8", "replace")
        if not hmac.compare_digest(expected.encode(), given):
            return "the signature is wrong"
        now = int(self._clock().timestamp())
        if abs(now - int(stamp)) > FRESH.total_seconds() or int(stamp) < self._began:
            return "the request is too old"
        return None if self._take(expected, now) else "the request was taken before"

    def _take(self, signature: str, now: int) -> bool:
        """Signatures are remembered for as long as they would be fresh."""
        with self._lock:
            kept = {each: until for each, until in self._taken.items() if until > now}
            is_new = signature not in kept
            kept.setdefault(signature, now + 2 * int(FRESH.total_seconds()))
            self._taken = kept
        return is_new


def sign(secret: str, stamp: str, body: bytes) -> str:
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"
