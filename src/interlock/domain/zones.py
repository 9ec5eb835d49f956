"""Zone: the rules of an IANA time zone, from the packaged data alone.

The machine's own zone files are not consulted: two machines must never disagree about a deadline.
"""

from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Every name that `zone` accepts."""
    return frozenset((resources.files("tzdata") / "zones").read_text().split())


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """The zone of that name. Raises ValueError for an unknown one."""
    if name not in known_zones():
        raise ValueError(f"{name!r} is not an IANA time zone such as Europe/Berlin")
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)
