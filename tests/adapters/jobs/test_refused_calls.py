"""Paths into answers, and messages fit to be shown."""

from decimal import Decimal
from typing import Any

import pytest

from interlock.adapters.jobs.json_paths import at, text_at
from interlock.adapters.jobs.messages import LONGEST_MESSAGE, shown

ANSWER = {
    "run": {"id": 12345678901234567890, "ok": True},
    "items": [{"id": "a"}, {"id": ""}],
    "f": Decimal("1.50"),
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.id", "12345678901234567890"),
        ("run.ok", "true"),
        ("items.0.id", "a"),
        ("items.1.id", ""),
        ("items.2.id", None),
        ("items.-1.id", None),
        ("items.id", None),
        ("run", None),
        ("nothing.at.all", None),
        ("f", "1.50"),
        ("f.x", None),
    ],
)
def test_a_path_into_an_answer(path: str, text: str | None) -> None:
    assert text_at(ANSWER, path) == text


def test_a_path_finds_whatever_is_there() -> None:
    found: Any = at(ANSWER, "items.0")
    assert found == {"id": "a"}


def test_a_message_is_one_short_line_that_moves_no_cursor() -> None:
    assert shown("a\x1b[31mred\r\nb\u202ereversed") == "a [31mred b reversed"
    assert len(shown("é" * 1000).encode()) <= LONGEST_MESSAGE
    assert shown("\udcff") == "?"
