"""Vectors: small cases with one right answer each, and the command that runs files of them."""

import json
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlock.conformance import ANSWERS, main

_TESTS = Path(__file__).parent
_FOLDERS = (_TESTS / "vectors", _TESTS.parent.parent / "shared" / "vectors")

#: Vectors beside the project that it no longer follows, and why; our own copy has their present form.
OUTDATED = {"cfg-check-unknown-op-neq": "it takes not_equals for unknown, which is a check by now"}


def _vectors() -> list[Any]:
    """Every vector of our own copy and of the folder beside the project; ids are unique."""
    found: dict[str, Any] = {}
    for file in (file for folder in _FOLDERS for file in sorted(folder.glob("*.json"))):
        document = json.loads(file.read_text(), parse_float=Decimal)
        skipped = OUTDATED if file.parent != _FOLDERS[0] else {}
        found |= {
            each["id"]: (document["area"], each)
            for each in document["vectors"]
            if each["id"] not in skipped
        }
    return [pytest.param(area, each, id=f"{area}-{name}") for name, (area, each) in found.items()]


@pytest.mark.parametrize(("area", "vector"), _vectors())
def test_every_vector_has_its_one_right_answer(area: str, vector: dict[str, Any]) -> None:
    actual, expected = ANSWERS[area](vector["input"]), vector["expected"]
    if area == "config":  # problems come in any order
        actual, expected = _by_path(actual), _by_path(expected)
    assert _compared(actual, expected) == _plain(expected)


def test_every_area_is_answered_and_has_vectors() -> None:
    areas = {json.loads(file.read_text())["area"] for file in _FOLDERS[0].glob("*.json")}
    assert areas == set(ANSWERS)


def _by_path(problems: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(problems, key=lambda problem: (problem["path"], problem["kind"]))


def _compared(actual: Any, expected: Any) -> Any:
    """The part of an answer that is asked for: a key that is not expected is not compared."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {k: _compared(actual[k], expected[k]) for k in expected if k in actual}
    return _plain(actual)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _instant(value) if isinstance(value, str) else value


def _instant(text: str) -> Any:
    """Instants are compared as instants, everything else as it is."""
    try:
        return datetime.fromisoformat(text) if "T" in text and text.endswith("Z") else text
    except ValueError:
        return text


GOOD = {"id": "good", "input": {"text": "90s"}, "expected": {"seconds": 90}}
WRONG = {"id": "wrong", "input": {"text": "90s"}, "expected": {"seconds": 91}}
RAISES = {"id": "raises", "input": {}, "expected": {"error": True}}


def file_of(folder: Path, *vectors: dict[str, Any], area: str = "durations") -> str:
    file = folder / f"{area}-{len(vectors)}.json"
    file.write_text(json.dumps({"area": area, "vectors": vectors}))
    return str(file)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_each_vector_is_one_line_and_the_last_line_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([file_of(tmp_path, GOOD), file_of(tmp_path, GOOD, GOOD)]) == 0
    told = lines(capsys)
    assert json.loads(told[0]) == {"id": "good", "ok": True, "actual": {"seconds": 90}}
    assert len(told) == 4
    assert told[-1] == "3 passed, 0 failed"


def test_a_vector_that_raises_is_a_failure_and_the_rest_still_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([file_of(tmp_path, RAISES, WRONG, GOOD)]) == 1
    told = lines(capsys)
    assert json.loads(told[0])["actual"] == {"raised": "KeyError: 'text'"}
    assert [json.loads(line)["ok"] for line in told[:3]] == [False, False, True]
    assert told[-1] == "1 passed, 2 failed"


@pytest.mark.parametrize(
    "content",
    [
        None,  # no such file
        "{",
        "[]",
        '{"area": "astrology", "vectors": []}',
        '{"area": "rules"}',
        '{"vectors": []}',
        '{"area": "rules", "vectors": [{"id": "x", "input": {}}]}',  # nothing is expected
    ],
)
def test_a_file_that_can_not_be_read_is_another_matter(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.json"
    if content is not None:
        file.write_text(content)
    assert main([str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("conformance: ")
    assert captured.out == ""


@pytest.mark.parametrize(
    ("area", "given", "expected", "ok"),
    [
        ("cron", {"cron": "0 6 * * *", "timezone": "UTC", "from": "2026-03-03T00:00:00Z",
                  "to": "2026-03-04T00:00:00Z"},
         [{"at": "2026-03-03T07:00:00+01:00", "date": "2026-03-03"}], True),  # as instants
        ("config", {"yaml": "{}"}, [{"path": p, "kind": "missing"}
                                    for p in ("validation", "job", "schedule", "pipeline")], True),
        ("drift", {"baseline": {"n": 1}, "current": {"n": 2}, "field": "n", "threshold": 0}, 1, False),
        ("rules", {"rule": {"key": "s", "check": "exists"}, "sensors": {},
                   "now": "2026-03-03T00:00:00Z"}, {"passed": False}, True),  # any kind will do
        ("rules", {"rule": {"key": "s", "check": "exists"}, "sensors": {"s": {}},
                   "now": "2026-03-03T00:00:00Z"}, {"passed": True, "kind": "too_old"}, False),
        ("durations", {"text": "90s"}, {"seconds": "90"}, False),
        ("labels", {"reading": {}, "timezone": "UTC", "now": "soon"}, {"error": True}, False),
        ("exclusions", {"schedule": {"colour": "red"}, "calendars": [], "date": "2026-03-03"}, True, False),
    ],
)  # fmt: skip
def test_an_answer_agrees_in_what_is_expected_and_in_its_type(
    area: str, given: Any, expected: Any, ok: bool, tmp_path: Path
) -> None:
    vector = {"id": "x", "input": given, "expected": expected}
    assert main([file_of(tmp_path, vector, area=area)]) == (0 if ok else 1)


def test_it_is_a_command() -> None:
    files = sorted(map(str, _FOLDERS[0].glob("*.json")))
    done = subprocess.run(
        [sys.executable, "-m", "interlock.conformance", *files],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert done.stdout.splitlines()[-1].endswith(" passed, 0 failed")
