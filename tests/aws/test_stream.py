"""Stream: what producers, operators and jobs write is read as they meant it."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from aws.recorded import payload
from interlock.adapters.aws.stream import change_of
from interlock.domain.budgets import Category
from interlock.domain.change import Change, ChangeKind

RECEIVED = datetime(2026, 3, 3, 10, tzinfo=UTC)


def changes(name: str) -> list[Change | None]:
    return [change_of(record) for record in payload(name)["Records"]]


def fields(name: str) -> dict[str, Any]:
    (change,) = changes(name)
    assert change is not None and change.reading is not None
    return change.reading.fields


def test_a_reading_with_a_map_has_the_fields_of_the_map() -> None:
    assert fields("stream_sensor_map") == {
        "count": 4200,
        "complete": True,
        "share": Decimal("0.10"),
        "note": None,
        "date": "2026-03-03",
        "updatedAt": "2026-03-03T09:59:58Z",
    }


def test_a_flat_reading_has_every_attribute_and_its_sets_are_sorted_lists() -> None:
    assert fields("stream_sensor_flat") == {
        "count": 4200,
        "regions": ["eu", "us"],
        "sizes": [Decimal("8.5"), 9, 10],
        "digest": "AAEC",
        "digests": ["AQ==", "Ag=="],
        "data": "not a map",
        "nested": {"list": [1, "a"]},
        "ttl": 1893456000,
    }


def test_a_reading_without_a_time_was_received_when_the_stream_says() -> None:
    (change,) = changes("stream_sensor_flat")
    assert change is not None and change.reading is not None
    assert change.reading.received_at == RECEIVED
    assert not change.reading.timed


def test_each_step_of_an_update_is_a_change_of_its_own() -> None:
    first, second = changes("stream_sensor_steps")
    assert first is not None and second is not None
    assert first.reading is not None and second.reading is not None
    assert "count" not in first.reading.fields and second.reading.fields["count"] == 4200
    assert first.id != second.id


def test_a_removal_has_only_its_key_and_an_expiry_is_ignored() -> None:
    reading, config, expired = changes("stream_removals")
    assert reading is not None and reading.removed and reading.reading is None
    assert config is not None and config.removed and config.kind is ChangeKind.CONFIG
    assert expired is None


def test_an_operators_request_is_read() -> None:
    (change,) = changes("stream_rerun_request")
    assert change is not None and change.request is not None
    assert change.request.reason == "operator" and change.request.force
    assert change.request.requested_at == RECEIVED
    assert str(change.request.key) == "silver-orders/stream/2026-03-03"


def test_a_record_that_a_job_wrote_itself_has_no_attempt() -> None:
    (change,) = changes("stream_joblog")
    assert change is not None and change.record is not None
    record = change.record
    assert (record.event, record.attempt, record.category) == ("fail", None, Category.TRANSIENT)
    assert record.duration == 58.5
    assert record.at == datetime(2026, 3, 3, 10, 1, tzinfo=UTC)


def test_a_row_of_no_known_kind_is_passed_over_with_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("INFO"):
        assert changes("stream_unknown") == [None]
    assert [record.action for record in caplog.records] == ["row_ignored"]  # type: ignore[attr-defined]
