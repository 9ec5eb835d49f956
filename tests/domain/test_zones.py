"""Zones come from the packaged data, and from nowhere else."""

from datetime import datetime

import pytest

from interlock.domain.zones import known_zones, zone


def test_every_known_zone_can_be_had_under_its_name() -> None:
    assert len(known_zones()) > 500
    assert all(zone(name).key == name for name in known_zones())


@pytest.mark.parametrize(
    "name", ["Nope/Zone", "", "utc", "Europe", "../etc/passwd", "localtime", "Europe/Berlin\n"]
)
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not an IANA time zone"):
        zone(name)


def test_a_zone_is_read_once() -> None:
    assert zone("Europe/Berlin") is zone("Europe/Berlin")


def test_a_zone_knows_its_clock_changes() -> None:
    berlin = zone("Europe/Berlin")
    offsets = {datetime(2026, month, 1, tzinfo=berlin).utcoffset() for month in (1, 7)}
    assert len(offsets) == 2
