"""`Client.aws()`: a reading is a row of the control table, and what the stream tells is that reading."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError  # type: ignore[import-untyped]

from aws.homes import NAMES, Services, moto_services
from contracts.samples import ManualClock
from interlock.adapters.aws.stream import change_of
from interlock.client import Client
from interlock.domain.change import ChangeKind
from interlock.errors import ConfigError, TransientError


def test_what_is_reported_is_what_the_controller_reads(services: Services) -> None:
    client = Client.aws(NAMES.control, client=services.tables)
    at = datetime(2026, 3, 3, 10, tzinfo=UTC)
    accepted = client.sensor(
        "silver-orders", "orders#2026-03-03", count=4200, share=0.25, exact=Decimal("1.10"), at=at
    )
    (change,) = filter(None, map(change_of, services.records(NAMES.control)))
    assert change.kind is ChangeKind.SENSOR and change.reading is not None
    assert (change.pipeline_id, change.key) == ("silver-orders", "orders#2026-03-03")
    assert change.reading.fields == {
        "count": 4200,
        "share": Decimal("0.25"),
        "exact": Decimal("1.10"),
        "at": "2026-03-03T10:00:00Z",
    }
    assert accepted["version"] == change.reading.version
    assert change.reading.timed


def test_it_holds_on_the_services_stand_in_too(clock: ManualClock) -> None:
    with moto_services(clock) as services:
        client = Client.aws(NAMES.control, client=services.tables)
        first, second = client.put_all(
            [("p", "a", {"n": 1}), ("p", "b", {"self": "x", "key": None})]
        )
        assert (first["key"], second["key"]) == ("a", "b")
        keys = [change.key for change in map(change_of, services.records(NAMES.control)) if change]
        assert sorted(keys) == ["a", "b"]


class Unreachable:
    """No connection, this many times; then the real one."""

    def __init__(self, tables: Any, times: int) -> None:
        self._tables, self.left = tables, times

    def put_item(self, **given: Any) -> Any:
        if self.left > 0:
            self.left -= 1
            raise EndpointConnectionError(endpoint_url="https://dynamodb.example")
        return self._tables.put_item(**given)


def test_it_is_tried_again_with_longer_and_longer_pauses(services: Services) -> None:
    pauses: list[float] = []
    client = Client.aws(NAMES.control, client=Unreachable(services.tables, 3), sleep=pauses.append)
    client.sensor("p", "k", n=1)
    assert len(pauses) == 3 and pauses[0] <= 0.2 and pauses[2] <= 0.8
    assert len(services.records(NAMES.control)) == 1


def test_it_gives_up_in_the_end(services: Services) -> None:
    pauses: list[float] = []
    client = Client.aws(
        NAMES.control, client=Unreachable(services.tables, 99), sleep=pauses.append, tries=3
    )
    with pytest.raises(TransientError, match="can't reach AWS"):
        client.sensor("p", "k", n=1)
    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("key", "fields"),
    [("", {}), ("SENSOR#x", {}), ("k", {"n": object()}), ("k", {"n": "x" * 300_000})],
)
def test_what_can_not_be_a_reading_is_refused(
    services: Services, key: str, fields: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError):
        Client.aws(NAMES.control, client=services.tables).put("p", key, fields)
    assert services.records(NAMES.control) == []


def test_the_table_is_named_or_the_environment_names_it(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONTROL_TABLE", raising=False)
    with pytest.raises(ConfigError, match="CONTROL_TABLE"):
        Client.aws()
    monkeypatch.setenv("CONTROL_TABLE", NAMES.control)
    Client.aws(client=services.tables).sensor("p", "k", n=1)
    assert len(services.records(NAMES.control)) == 1
