"""Vectors: small files with one right answer each, our own copy and those beside the project."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.pipeline import Calendar
from interlock.files import load_text, read_part
from test_conformance import OUTDATED

_PROJECT = Path(__file__).parents[2]
_FILES = [
    path
    for folder in (_PROJECT / "tests/vectors", _PROJECT / "../shared/vectors")
    for path in [folder / "config.json"]
    if path.exists()
]


def _vectors() -> list[Any]:
    found: dict[str, Any] = {}
    for file in _FILES:
        document = json.loads(file.read_text(), parse_float=Decimal)
        skipped = OUTDATED if file != _FILES[0] else {}
        found |= {each["id"]: each for each in document["vectors"] if each["id"] not in skipped}
    return [pytest.param(vector, id=name) for name, vector in found.items()]


@pytest.mark.parametrize("vector", _vectors())
def test_a_file_has_exactly_the_expected_errors(vector: dict[str, Any]) -> None:
    given = vector["input"]
    calendars = [read_part(Calendar, each)[0] for each in given.get("calendars", [])]
    loaded = load_text(given["yaml"], calendars=[each for each in calendars if each is not None])
    actual = sorted((each.path, each.kind.value) for each in loaded.errors)
    assert actual == sorted((each["path"], each["kind"]) for each in vector["expected"])
    assert (loaded.pipeline is None) is bool(vector["expected"])
