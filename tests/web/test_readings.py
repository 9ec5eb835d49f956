"""Putting readings over HTTP."""

from decimal import Decimal
from typing import Any

import pytest

from interlock.domain.run import Status
from web.house import House, is_problem

SENSOR = "/api/v1/pipelines/silver-orders/sensors/orders"
BATCH = "/api/v1/sensors"


def test_a_reading_is_stored_when_it_is_answered(house: House) -> None:
    answer = house.put({"count": 4200, "date": "2026-03-03"})

    assert answer.status_code == 200
    stored = house.home.store.sensors.find("silver-orders", ["orders"])["orders"]
    assert stored.fields == {"count": 4200, "date": "2026-03-03"}
    assert answer.json()["version"] == stored.version


def test_numbers_are_kept_exactly(house: House) -> None:
    text = b'{"amount": 0.10, "big": 12345678901234567890.123456789012345678}'

    house.client.put(SENSOR, content=text, headers={"Content-Type": "application/json"})

    fields = house.home.store.sensors.find("silver-orders", ["orders"])["orders"].fields
    assert fields["amount"] == Decimal("0.10")
    assert fields["big"] == Decimal("12345678901234567890.123456789012345678")


def test_who_waits_for_the_decision_learns_it(house: House) -> None:
    answer = house.client.put(f"{SENSOR}?wait=decision", json={"date": "2026-03-03"})

    assert answer.status_code == 202
    assert answer.json()["ledTo"] == ["opened"]


def test_the_reason_for_doing_nothing_is_returned(house: House) -> None:
    path = "/api/v1/pipelines/silver-orders/sensors/other"

    answer = house.client.put(f"{path}?wait=decision", json={})

    assert answer.json()["ledTo"][0].startswith("ignored: ")


def test_a_key_may_hold_a_period_and_a_slash(house: House) -> None:
    path = "/api/v1/pipelines/silver-orders/sensors/landing%2Forders%232026-03-03"

    assert house.client.put(path, json={"count": 1}).status_code == 200
    assert house.home.store.sensors.find("silver-orders", ["landing/orders#2026-03-03"])


@pytest.mark.parametrize("end", ["%0A", "%0D%0A", "%00", "%C2%85"])
def test_a_key_with_a_control_character_is_refused_and_not_shortened(
    house: House, end: str
) -> None:
    answer = house.client.put(f"{SENSOR}{end}", json={"count": 1})

    assert is_problem(answer, 400) and "control character" in answer.json()["detail"]
    assert not house.home.store.sensors.find("silver-orders", ["orders"])


def test_the_reading_opens_a_run_that_completes_or_fails_like_any_other(house: House) -> None:
    house.put({"date": "2026-03-03"})
    house.runtime.step()

    run = house.client.get("/api/v1/runs").json()["items"][0]
    assert run["key"]["date"] == "2026-03-03"
    assert run["status"] in tuple(Status)


def test_a_batch_is_one_durable_write_and_each_has_its_answer(house: House) -> None:
    before = house.database.commits
    readings = [_reading(key=f"orders#2026-03-{day:02}") for day in range(1, 29)]
    readings.insert(3, _reading(pipelineId="unknown"))
    readings.insert(5, _reading(fields={"date": "someday"}))

    answer = house.client.post(BATCH, json=readings)

    assert house.database.commits == before + 1
    items = answer.json()["items"]
    assert [bool(item.get("problem")) for item in items] == [n in (3, 5) for n in range(30)]
    assert len(house.home.store.sensors.of_pipeline("silver-orders")) == 28


def test_a_batch_has_at_most_a_thousand(house: House) -> None:
    assert is_problem(house.client.post(BATCH, json=[_reading()] * 1001), 422)
    assert is_problem(house.client.post(BATCH, json=[]), 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"[]", 422),
        (b'{"count": NaN}', 400),
        (b'{"count": Infinity}', 400),
        (b"\xff\xfe", 400),
        (b'{"a": "\xff"}', 400),
        (b'{"date": "2026-02-30"}', 422),
        (b'{"date": "2026-03-03", "hour": 24}', 422),
        (b'{"date": 20260303}', 422),
        (b'{"count": 1, "count": 2}', 422),  # which of the two is meant?
        (b'{"a": [{"b": {"x": 1, "y": 2, "x": 1}}]}', 422),
        (b'{"a": 1, "\\u0061": 2}', 422),  # the same name in another spelling
        (b'{"a": {"x": 1}, "b": {"x": 1}}', 200),
        (b'{"a": ' + b"[" * 101 + b"]" * 101 + b"}", 422),
        (b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", 422),
        (b'{"a": "' + b"x" * 1_000_000 + b'"}', 413),
        (b'{"a": "' + b"x" * 262_130 + b'"}', 200),
    ],
)
def test_a_body_that_can_not_be_used_is_refused_with_a_problem(
    house: House, body: bytes, status: int
) -> None:
    answer = house.client.put(SENSOR, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == status, answer.text[:200]
    assert status == 200 or is_problem(answer, status)
    assert status == 200 or not house.home.store.sensors.of_pipeline("silver-orders")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(house: House, kind: str) -> None:
    answer = house.client.put(SENSOR, content=b"{}", headers={"Content-Type": kind})

    assert is_problem(answer, 415)


def test_a_compressed_body_is_refused(house: House) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    assert is_problem(house.client.put(SENSOR, content=b"{}", headers=headers), 415)


def test_a_hundred_levels_are_fine(house: House) -> None:
    text = b'{"a": ' + b"[" * 99 + b"]" * 99 + b"}"

    answer = house.client.put(SENSOR, content=text, headers={"Content-Type": "application/json"})

    assert answer.status_code == 200


def test_an_undeclared_pipeline_is_not_found(house: House) -> None:
    assert is_problem(house.put({}, pipeline="nobody"), 404)


def test_a_batch_may_be_larger_than_a_reading(house: House) -> None:
    readings = [_reading(key=f"k{n}", fields={"text": "x" * 1000}) for n in range(1000)]

    answer = house.client.post(BATCH, json=readings)

    assert answer.status_code == 200
    assert len(answer.content) > 1000


def test_a_batch_has_at_most_eight_mebibytes(house: House) -> None:
    readings = [_reading(key=f"k{n}", fields={"text": "x" * 250_000}) for n in range(34)]

    assert is_problem(house.client.post(BATCH, json=readings), 413)
    assert not house.home.store.sensors.of_pipeline("silver-orders")


def _reading(**changes: Any) -> dict[str, Any]:
    return {"pipelineId": "silver-orders", "key": "orders", "fields": {"count": 1}, **changes}


@pytest.mark.parametrize("size", [100, 100_000])
def test_names_that_repeat_are_found_in_one_pass(house: House, size: int) -> None:
    """The last of many names repeats the one before it; looking each of them up in all others took hours."""
    names = [f'"n{n}":1' for n in range(size)]
    body = "{" + ",".join([*names, names[-1]]) + "}"
    answer = house.client.post(
        "/api/v1/sensors", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert f"'n{size - 1}' stands more than once" in answer.json()["detail"]
