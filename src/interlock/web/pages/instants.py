"""Instants: instants and spans as people read them; a zone is always named."""

from datetime import datetime, timedelta

from interlock.domain import duration
from interlock.domain.zones import zone


def clock(moment: datetime | None, zone_name: str = "UTC", on: str = "") -> str:
    """`10:30 CET`; `2026-03-03 10:30 CET` when the date differs from `on`."""
    if moment is None:
        return "–"
    local = moment.astimezone(zone(zone_name))
    name = "UTC" if zone_name == "UTC" else local.tzname() or zone_name
    day = "" if local.date().isoformat() == on[:10] else f"{local:%Y-%m-%d} "
    seconds = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day}{seconds} {name}"


def ago(moment: datetime | None, now: datetime) -> str:
    """`in 5m` or `5m ago`."""
    if moment is None:
        return "–"
    if moment > now:
        return f"in {duration.for_ages(moment - now)}"
    return f"{duration.for_ages(now - moment)} ago"


def span(seconds: float | timedelta | None) -> str:
    if seconds is None:
        return "–"
    whole = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
    return f"-{duration.for_people(-whole)}" if whole < timedelta(0) else duration.for_people(whole)


def slack(seconds: float | None) -> str:
    """Time left at completion: `12m early`, `5m late`."""
    if seconds is None:
        return "–"
    return f"{duration.for_people(timedelta(seconds=abs(seconds)))} {'early' if seconds >= 0 else 'late'}"
