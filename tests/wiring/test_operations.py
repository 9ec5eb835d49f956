"""Operations: what a reading led to is returned, whichever process acted on it first."""

from dataclasses import replace
from typing import Any

from interlock.domain.sensor import Reading
from interlock.simulation.scenario import JobScript
from interlock.wiring.operations import Operations
from usecases.home import CADENCE, Home


class ActedOnAtOnce:
    """Sensors of a home whose controller is quicker than the producer's call."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def put(self, reading: Reading) -> None:
        self._home.store.sensors.put(reading)
        self._home.settle()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._home.store.sensors, name)


def test_a_run_that_the_router_opened_first_is_opened_by_the_reading_all_the_same() -> None:
    for script in (JobScript(hang=True), JobScript(after="0s")):
        home = Home()
        home.adopt()
        home.scripts["silver-orders"] = (script,)
        ports = replace(home.ports, sensors=ActedOnAtOnce(home))
        operations = Operations(home.store, ports, CADENCE)

        told = operations.put("silver-orders", "orders", {"date": "2026-03-03"}, decide=True)
        assert told.led_to == ("opened",)

        home.pass_time(seconds=1)
        again = operations.put("silver-orders", "orders", {"date": "2026-03-03"}, decide=True)
        assert again.led_to[0].startswith("ignored: ")
