"""Job log: what happened to jobs, line by line. Jobs may write their own lines."""

from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.adapters.aws.keys import (
    DRY_JOB,
    JOB,
    LAST,
    is_date,
    job_prefix,
    partition,
    pipeline_of,
)
from interlock.adapters.aws.rows import millis, seconds, text
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.budgets import Category
from interlock.domain.job_record import JobRecord
from interlock.domain.run import RunKey
from interlock.domain.timestamp import instant
from interlock.errors import TransientError

_KEPT = timedelta(days=90)
_TRIES = 100
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class DynamoJobLog:
    """Records without an attempt are distinguished by their time."""

    def __init__(self, joblog: Table) -> None:
        self._joblog = joblog

    def append(self, record: JobRecord) -> None:
        """Stored at its millisecond, or at the next one that is free."""
        attributes = _attributes(record)
        first = millis(record.at)
        for moment in range(first, first + _TRIES):
            place = {
                "PK": partition(record.key.pipeline_id),
                "SK": f"{job_prefix(record.key)}{moment}",
            }
            answer = self._joblog.put({**place, **attributes}, "attribute_not_exists(#PK)")
            found = answer.found or {}
            same = all(found.get(name) == attributes.get(name) for name in ("attempt", "event"))
            if answer.won or same:
                return
        raise TransientError(f"{record.key}: the job log has no free place at {text(record.at)}")

    def of_run(self, key: RunKey) -> list[JobRecord]:
        """The first record, if there are two for one attempt and event."""
        prefix = job_prefix(key)
        items = self._joblog.query(partition(key.pipeline_id), prefix, prefix + LAST)
        records = self._joblog.readable(items, record_from)
        first: dict[object, JobRecord] = {}
        for record in sorted(records, key=lambda record: record.at):
            when = record.at if record.attempt is None else None
            first.setdefault((record.attempt, record.event, when), record)
        return list(first.values())


def record_from(item: Item, otherwise: datetime | None = None) -> JobRecord:
    """A line that a job may have written. Raises ValueError when its key names no run."""
    sort_key = item["SK"]
    prefix = next((each for each in (JOB, DRY_JOB) if sort_key.startswith(each)), "")
    parts = sort_key.removeprefix(prefix).split("#", 2)
    if not prefix or len(parts) != 3 or not is_date(parts[1]):
        raise ValueError("its key is not made of a schedule, a date and a time")
    key = RunKey(pipeline_of(item["PK"]), parts[0], parts[1], dry=prefix == DRY_JOB)
    at = instant(item.get("at")) or instant(parts[2]) or otherwise or _LONG_AGO
    return JobRecord(key=key, at=at, **_read(item))


def _read(item: Item) -> dict[str, Any]:
    attempt, duration, category = (item.get(name) for name in ("attempt", "duration", "category"))
    return {
        "event": str(item.get("event") or ""),
        "attempt": attempt if type(attempt) is int else None,
        "run_id": _text_or_none(item.get("runId")),
        "error": _text_or_none(item.get("error")),
        "category": Category(category) if category in tuple(Category) else None,
        "duration": None if duration is None else _seconds(duration),
        "final": item.get("final") is True,
        "stopped": item.get("stopped") is True,
        "polled": item.get("polled") is True,
        "undated": item.get("undated") is True,
        "output": _text_or_none(item.get("output")),
    }


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _seconds(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _attributes(record: JobRecord) -> Item:
    plain: dict[str, Any] = canonical.as_json(record)
    plain.pop("key")
    return {**plain, "at": text(record.at), "ttl": seconds(record.at + _KEPT)}
