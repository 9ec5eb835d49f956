"""The quick check finds the tests beside a file."""

from pathlib import Path

import pytest

from quick import beside


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("src/interlock/domain/rules.py", "tests/domain/test_rules.py"),
        ("src/interlock/adapters/jobs/http.py", "tests/adapters/jobs/test_http_storm.py"),
        ("src/interlock/web/api/bodies.py", "tests/web/test_wire.py"),  # which imports it
        ("src/interlock/usecases/__init__.py", "tests/usecases/test_watch.py"),  # as all of them
        ("src/interlock/client.py", "tests/test_client.py"),
        ("tests/domain/test_rules.py", "tests/domain/test_rules.py"),
        ("tests/wiring/served.py", "tests/wiring/test_serve.py"),
    ],
)
def test_what_changed_leads_to_its_tests(changed: str, found: str) -> None:
    assert Path(found) in beside(Path(changed))


def test_few_tests_are_found_where_a_file_has_its_own() -> None:
    assert beside(Path("src/interlock/domain/drift.py")) == [Path("tests/domain/test_drift.py")]
    assert beside(Path("README.md")) == []
