"""Unreadable rows: the event of an unreadable row, once per content."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from declared import declared
from interlock.domain.event import Severity
from interlock.domain.unreadable import (
    RowKind,
    UnreadableRow,
    problem_of,
    unreadable_error,
    unreadable_event,
)

NOW = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
ROW = UnreadableRow(
    table="control",
    key="PIPELINE#silver-orders TRIGGER#stream#2026-03-03",
    problem="status is missing",
    content="abc",
    kind=RowKind.RUN,
    pipeline_id="silver-orders",
    schedule_id="stream",
    date="2026-03-03",
)


def changed(**changes: Any) -> UnreadableRow:
    return msgspec.structs.replace(ROW, **changes)


def test_a_row_is_reported_with_its_place_and_what_is_wrong() -> None:
    event = unreadable_event(ROW, NOW, declared())
    assert event.message == (
        "unreadable row in control: PIPELINE#silver-orders TRIGGER#stream#2026-03-03:"
        " status is missing"
    )
    assert event.event_id == f"silver-orders/stream/2026-03-03/ROW_UNREADABLE/control/{ROW.id}"
    assert (event.owner, event.date) == ("orders-team", "2026-03-03")
    facts = {name: event.detail[name] for name in ("table", "key", "problem", "kind")}
    assert facts == {
        "table": "control",
        "key": ROW.key,
        "problem": "status is missing",
        "kind": "run",
    }


def test_the_same_row_with_other_content_is_news() -> None:
    ids = {
        unreadable_event(row, NOW, None).event_id
        for row in (ROW, changed(problem="in other words"), changed(content="def"))
    }
    assert len(ids) == 2


def test_a_caller_that_needs_the_row_learns_what_is_wrong_and_what_helps() -> None:
    assert str(unreadable_error("the stored row of x", "status is missing")) == (
        "the stored row of x can't be read: status is missing;"
        " `interlock doctor` says what to do about it"
    )


@pytest.mark.parametrize("date", [None, "never", "2026-13-01"])
def test_a_row_without_a_date_is_reported_without_one(date: str | None) -> None:
    event = unreadable_event(changed(date=date), NOW, None)
    assert (event.pipeline_id, event.schedule_id, event.date) == ("silver-orders", None, None)


@pytest.mark.parametrize("kind", RowKind)
def test_what_no_date_waits_for_is_a_warning_and_every_kind_has_its_remedy(kind: RowKind) -> None:
    row = changed(kind=kind)
    expected = Severity.WARNING if kind is RowKind.RECORD else Severity.ERROR
    assert unreadable_event(row, NOW, None).severity is expected
    assert row.remedy


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda: dict[str, str]()["status"], "'status' is missing"),
        (lambda: msgspec.json.decode(b'{"a'), "Input data was truncated"),
        (lambda: int("x"), "invalid literal for int() with base 10: 'x'"),
        (lambda: msgspec.convert({}, RowKind), "Expected `str`, got `object`"),
        (lambda: Decimal("x"), "InvalidOperation"),
        (lambda: (_ for _ in ()).throw(ValueError()), "ValueError"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(read: Any, said: str) -> None:
    with pytest.raises((msgspec.MsgspecError, ArithmeticError, LookupError, ValueError)) as raised:
        read()
    assert problem_of(raised.value).startswith(said)
