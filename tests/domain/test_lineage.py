"""Lineage: what an OpenLineage event says, as the fields of a reading."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from interlock.domain.lineage import LineageEvent, LineageSource, reading_of, sources_of
from interlock.domain.zones import zone

BERLIN = zone("Europe/Berlin")

#: As a producer sends it, with all that we do not look at.
SENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-03T23:30:00.123Z",
    "producer": "https://example.com/producer",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {
        "runId": "d46e465b-d358-4d32-83d4-df660ff614dd",
        "facets": {"nominalTime": {"nominalStartTime": "2026-03-02T23:00:00Z"}},
    },
    "job": {"namespace": "prod", "name": "load.orders", "facets": {}},
    "inputs": [{"namespace": "s3", "name": "raw"}],
    "outputs": [
        {"name": "a", "outputFacets": {"outputStatistics": {"rowCount": 4000, "size": 1}}},
        {"name": "b", "outputFacets": {"outputStatistics": {"rowCount": 200}}},
        {"name": "c", "outputFacets": {"outputStatistics": {"rowCount": True}}},
        {"name": "d", "outputFacets": {"outputStatistics": None}},
        {"name": "e"},
    ],
}


def event(**changes: Any) -> LineageEvent:
    return msgspec.convert({**SENT, **changes}, LineageEvent)


def test_the_fields_are_those_that_rules_need() -> None:
    assert reading_of(event(), BERLIN, hourly=False) == {
        "eventType": "COMPLETE",
        "runId": "d46e465b-d358-4d32-83d4-df660ff614dd",
        "date": "2026-03-03",  # 23:00 UTC is the next day there
        "updatedAt": "2026-03-03T23:30:00.123Z",
        "count": 4200,
    }


def test_an_hourly_source_has_an_hour() -> None:
    fields = reading_of(event(), BERLIN, hourly=True)
    assert (fields["date"], fields["hour"]) == ("2026-03-03", 0)


@pytest.mark.parametrize("facets", [{}, {"nominalTime": None}, {"nominalTime": {}}])
def test_without_a_nominal_time_the_date_is_that_of_the_event(facets: dict[str, Any]) -> None:
    fields = reading_of(event(run={"runId": "r", "facets": facets}), BERLIN, hourly=False)
    assert fields["date"] == "2026-03-04"


def test_without_statistics_there_is_no_count() -> None:
    assert "count" not in reading_of(event(outputs=[]), BERLIN, hourly=False)
    odd = [{"outputFacets": {"outputStatistics": {"rowCount": Decimal("1.5")}}}]
    assert reading_of(event(outputs=odd), BERLIN, hourly=False)["count"] == Decimal("1.5")


@pytest.mark.parametrize(
    "changes",
    [
        {"eventTime": "yesterday"},
        {"run": {"runId": "r", "facets": {"nominalTime": {"nominalStartTime": "soon"}}}},
    ],
)
def test_an_invalid_time_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not an instant"):
        reading_of(event(**changes), BERLIN, hourly=False)


@pytest.mark.parametrize(
    ("namespace", "job", "fed"),
    [("*", "load.*", True), ("prod", "load.orders", True), ("dev", "*", False), ("*", "x*", False)],
)
def test_sources_are_found_by_globs(namespace: str, job: str, fed: bool) -> None:
    source = LineageSource(namespace=namespace, job=job, pipeline="p", key="k")
    assert sources_of(event(), [source]) == ([source] if fed else [])


def test_an_event_without_a_run_feeds_no_sensor() -> None:
    source = LineageSource(job="*", pipeline="p", key="k")
    assert sources_of(event(run=None), [source]) == sources_of(event(job=None), [source]) == []
