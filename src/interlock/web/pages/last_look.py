"""Last look: since when a browser wants to see what changed. The browser itself keeps the instant."""

from datetime import UTC, datetime

from starlette.responses import Response

COOKIE = "interlock_looked"
_YEAR = 365 * 24 * 3600


def looked_at(cookie: str | None, now: datetime) -> datetime | None:
    """The instant in the cookie; None for one that is not there, can't be read or is yet to come."""
    try:
        at = datetime.fromisoformat(cookie or "")
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return at.astimezone(UTC) if at <= now else None


def remember(response: Response, now: datetime) -> Response:
    """The browser has seen everything up to now."""
    at = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    response.set_cookie(COOKIE, at, max_age=_YEAR, samesite="strict")
    return response
