"""Clock: the current time, where no other clock is passed in."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """To the millisecond, which every store and every text keeps."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
