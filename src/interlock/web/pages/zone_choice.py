"""Zone choice: in whose time zone a browser wants to read instants."""

from typing import NamedTuple

from interlock.domain.zones import known_zones

COOKIE = "interlock_zone"
_LOCAL = "local:"


class ZoneChoice(NamedTuple):
    """`mode` is one of the options of the switch; `name` the zone, empty where each pipeline has its own."""

    mode: str = ""
    name: str = ""


def zone_choice(cookie: str | None) -> ZoneChoice:
    """What the cookie asks for; each pipeline's own zone when it asks for nothing that is known."""
    if cookie == "UTC":
        return ZoneChoice("UTC", "UTC")
    if cookie is not None and cookie.startswith(_LOCAL):
        name = cookie.removeprefix(_LOCAL)
        return ZoneChoice("local", name) if name in known_zones() else ZoneChoice()
    return ZoneChoice()
