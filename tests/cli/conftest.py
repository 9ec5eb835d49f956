"""Places for the commands to work in."""

from pathlib import Path

import pytest

from cli.place import ORDERS, Place
from interlock.simulation.scenario import JobScript

GOLD = """\
pipeline: {id: gold-report-with-a-rather-long-name-for-a-table}
schedule: {cron: '0 * * * *', timezone: Europe/Berlin}
validation: {rules: [{key: x, check: exists}]}
sla: {deadline: ':30', expectedDuration: 10m}
"""


@pytest.fixture(autouse=True)
def _no_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INTERLOCK_URL", "INTERLOCK_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """One pipeline in force, and nothing has happened."""
    place = Place(tmp_path)
    place.declare()
    return place


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two pipelines at work: orders completed after a short load, gold waits. Only to look at."""
    place = Place(tmp_path_factory.mktemp("lived-in"))
    place.scripts["silver-orders"] = (JobScript(after="5m"),)
    place.declare(ORDERS)
    place.declare(GOLD)
    place.put(count=940)
    place.wait(minutes=30)
    place.put(count=1940)
    place.catch_up()
    return place
