"""Lineage and pings: other ways for a reading to come in."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.lineage import LineageSource
from interlock.domain.ping import PingSource
from interlock.domain.sensor import Reading
from web.house import House, is_problem, opened

TOKEN = "ping-token-of-the-orders-job"
LINEAGE = "/api/v1/lineage"
SOURCES = (
    LineageSource(namespace="prod", job="load.*", pipeline="silver-orders", key="orders"),
    LineageSource(job="load.orders", pipeline="gold-orders", key="upstream", hourly=True),
)


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        settings = replace(
            house.home.settings,
            lineage=SOURCES,
            pings=(
                PingSource(token=TOKEN, pipeline="silver-orders", key="orders"),
                PingSource(token="token-of-nobodys-pipeline", pipeline="gone", key="k"),
            ),
        )
        house.desk.backend = replace(house.home, settings=settings)
        house.desk.pings, house.desk.lineage = settings.pings, settings.lineage
        yield house


def event(**changes: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-03T10:30:00Z",
        "producer": "https://example.com",
        "run": {"runId": "r-1", "facets": {}},
        "job": {"namespace": "prod", "name": "load.orders"},
        "outputs": [{"outputFacets": {"outputStatistics": {"rowCount": 4200}}}],
        **changes,
    }


def readings(house: House, pipeline: str) -> list[Reading]:
    return house.home.store.sensors.of_pipeline(pipeline)


def test_an_event_becomes_a_reading_of_every_sensor_that_it_feeds(fed: House) -> None:
    answer = fed.client.post(LINEAGE, json=event())
    assert answer.status_code == 201
    assert [item["pipelineId"] for item in answer.json()["items"]] == [
        "silver-orders",
        "gold-orders",
    ]
    (silver,), (gold,) = readings(fed, "silver-orders"), readings(fed, "gold-orders")
    assert silver.fields["count"] == 4200 and silver.fields["eventType"] == "COMPLETE"
    assert "hour" not in silver.fields and gold.fields["hour"] == 10
    fed.runtime.settle()
    runs = fed.home.store.runs.of_pipeline("silver-orders", "2026-03-03", "2026-03-03", 9)
    assert [run.key.date for run in runs] == ["2026-03-03"]


@pytest.mark.parametrize(
    "document",
    [
        event(job={"namespace": "dev", "name": "other"}),
        {"eventTime": "2026-03-03T10:30:00Z", "dataset": {"name": "d"}},
    ],
)
def test_an_event_that_feeds_no_sensor_is_accepted_and_ignored(
    fed: House, document: dict[str, Any]
) -> None:
    answer = fed.client.post(LINEAGE, json=document)
    assert (answer.status_code, answer.json()["items"]) == (201, [])


@pytest.mark.parametrize("document", [{}, [], event(eventTime="soon"), event(run={"runId": 7})])
def test_what_is_no_event_is_refused(fed: House, document: Any) -> None:
    assert is_problem(fed.client.post(LINEAGE, json=document), 422)
    assert readings(fed, "silver-orders") == []


def test_a_token_reports_only_for_its_pipelines(fed: House) -> None:
    narrow = fed.client_of(fed.token("observe", pipelines=("silver-orders",)))
    assert is_problem(narrow.post(LINEAGE, json=event()), 403)
    assert readings(fed, "silver-orders") == []
    assert is_problem(fed.client_of(fed.token("read")).post(LINEAGE, json=event()), 403)
    assert is_problem(fed.client_of(None).post(LINEAGE, json=event()), 401)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(
    ("said", "signal", "code"),
    [("", "success", None), ("/start", "start", None), ("/fail", "fail", None), ("/3", "fail", 3)],
)
def test_a_ping_becomes_a_reading_without_any_other_secret(
    fed: House, method: str, said: str, signal: str, code: int | None
) -> None:
    answer = fed.client_of(None).request(method, f"/ping/{TOKEN}{said}")
    assert answer.status_code == 200
    (reading,) = readings(fed, "silver-orders")
    assert (reading.fields["signal"], reading.fields.get("exitCode")) == (signal, code)
    fed.runtime.settle()
    assert len(fed.home.store.runs.active()) == 1


@pytest.mark.parametrize(
    "path", ["/ping/", "/ping/wrong", f"/ping/{TOKEN}x", f"/ping/{TOKEN}/999", f"/ping/{TOKEN}/a/b"]
)
def test_any_other_address_is_nothing(fed: House, path: str) -> None:
    assert is_problem(fed.client_of(None).get(path), 404)
    assert readings(fed, "silver-orders") == []


def test_a_ping_for_a_pipeline_that_is_gone_is_refused(fed: House) -> None:
    assert is_problem(fed.client_of(None).get("/ping/token-of-nobodys-pipeline"), 404)


def test_a_ping_must_call_us_by_our_name(fed: House) -> None:
    answer = fed.client_of(None, Host="evil.example").get(f"/ping/{TOKEN}")
    assert is_problem(answer, 421)


def test_a_token_in_a_path_is_never_logged(fed: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caller = fed.client_of(None)
    for path in (f"/ping/{TOKEN}", f"/ping/{TOKEN}/nonsense", f"/ping/{TOKEN}/a/b"):
        caller.get(path)
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert TOKEN not in " ".join(ours)
    assert TOKEN not in fed.client.get("/metrics").text
    assert TOKEN not in repr(fed.home.settings)
