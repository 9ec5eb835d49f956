"""Lineage: an OpenLineage event as the fields of readings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from interlock.domain import timestamp
from interlock.domain.partition import Grain, label_at

_Name = Annotated[str, Meta(max_length=2000)]


class LineageSource(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs feed which sensor; `namespace` and `job` are globs."""

    namespace: str = "*"
    job: str
    pipeline: str
    key: str
    #: Whether its readings are for an hour, not for a day.
    hourly: bool = False


class LineageJob(msgspec.Struct, frozen=True):
    """The job that ran."""

    namespace: _Name
    name: _Name


class LineageRun(msgspec.Struct, frozen=True, rename="camel"):
    """One run of a job."""

    run_id: _Name
    facets: dict[str, Any] = {}


class LineageEvent(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a producer reports; events about a job or a dataset alone have no run."""

    event_time: _Name
    event_type: _Name = "OTHER"
    job: LineageJob | None = None
    run: LineageRun | None = None
    outputs: list[dict[str, Any]] = []


def sources_of(event: LineageEvent, sources: Sequence[LineageSource]) -> list[LineageSource]:
    """The sources that this event feeds. An event without a run feeds none."""
    job = event.job
    if job is None or event.run is None:
        return []
    return [
        source
        for source in sources
        if fnmatchcase(job.namespace, source.namespace) and fnmatchcase(job.name, source.job)
    ]


def reading_of(event: LineageEvent, zone: ZoneInfo, hourly: bool) -> dict[str, Any]:
    """The fields: what happened, to which run, of which date, and how many rows it wrote.

    The date is that of the nominal time, otherwise of the event. Raises ValueError for an invalid time.
    """
    assert event.run is not None
    told_at = _instant(event.event_time, "eventTime")
    label = label_at(_nominal(event.run, told_at), zone, Grain.HOUR if hourly else Grain.DAY)
    fields: dict[str, Any] = {
        "eventType": event.event_type,
        "runId": event.run.run_id,
        "date": label.day.isoformat(),
        "updatedAt": timestamp.spell(told_at),
    }
    if label.hour is not None:
        fields["hour"] = label.hour
    rows = [rows for output in event.outputs if (rows := _rows(output)) is not None]
    return {**fields, "count": sum(rows)} if rows else fields


def _nominal(run: LineageRun, otherwise: datetime) -> datetime:
    facet = run.facets.get("nominalTime")
    text = facet.get("nominalStartTime") if isinstance(facet, Mapping) else None
    return otherwise if text is None else _instant(text, "nominalStartTime")


def _instant(text: Any, what: str) -> datetime:
    found = timestamp.instant(text)
    if found is None:
        raise ValueError(f"{what} is not an instant such as 2026-03-03T08:00:00Z")
    return found


def _rows(output: Mapping[str, Any]) -> int | Decimal | None:
    facets = output.get("outputFacets")
    statistics = facets.get("outputStatistics") if isinstance(facets, Mapping) else None
    rows = statistics.get("rowCount") if isinstance(statistics, Mapping) else None
    return rows if isinstance(rows, int | Decimal) and not isinstance(rows, bool) else None
