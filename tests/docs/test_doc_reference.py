"""The reference is made from the code, is up to date, and names everything that there is."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from doc_pages import PAGES, ROOT, generator, name, text

from interlock.cli import app
from interlock.cli.command_table import COMMANDS
from interlock.cli.exits import Exit
from interlock.domain.check import Check
from interlock.domain.event import EventType
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.pipeline import Declared
from interlock.domain.reasons import REASONS
from interlock.domain.run import Status
from interlock.files import calendar_schema, pipeline_schema
from interlock.files.problem import ProblemKind
from interlock.simulation import scenario
from interlock.usecases.watchdog_checks import GUARDS

GENERATE = generator()
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("page", GENERATE.pages(), ids=name)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    assert text(page) == GENERATE.fresh(text(page)), "run: make docs"


def test_every_generated_part_stands_on_one_page() -> None:
    written = [found for page in PAGES for found in re.findall(r"<!-- begin (\S+) -->", text(page))]
    assert sorted(written) == sorted(GENERATE.BLOCKS)


def test_every_job_type_has_a_page_and_a_guarantee() -> None:
    promised = text(ROOT / "docs" / "concepts" / "jobs.md")
    for kind in JOB_KINDS:
        page = ROOT / "docs" / "howto" / "jobs" / f"{kind}.md"
        assert "## Rights" in text(page)
        assert f"| [`{kind}`](../howto/jobs/{kind}.md) |" in promised


def test_every_field_says_what_it_is() -> None:
    tables = [GENERATE.pipeline_rows(), GENERATE.calendar_rows(), GENERATE.scenario_rows()]
    tables += [GENERATE.job_rows(kind) for kind in JOB_KINDS]
    assert [row.path for rows in tables for row in rows if not row.description] == []


def _fields_of(page: str) -> set[str]:
    """The last step of every field path on a page."""
    paths = re.findall(r"^\| `([^`]+)` \|", text(REFERENCE / page), re.MULTILINE)
    return {path.split(".")[-1].removesuffix("[]") for path in paths}


def _properties(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {found for each in schema for found in _properties(each)}
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {})) if schema.get("type") == "object" else set()
    return own.union(*(_properties(each) for each in schema.values()))


def test_every_field_of_a_file_is_named() -> None:
    named = _fields_of("fields.md") | _fields_of("job-types.md")
    assert _properties([pipeline_schema(), calendar_schema()]) - named == set()


def test_every_field_of_a_scenario_is_named() -> None:
    structs = [
        each
        for each in vars(scenario).values()
        if isinstance(each, type) and issubclass(each, Declared) and _is_of(scenario, each)
    ]
    fields = {f.encode_name for each in structs for f in msgspec.structs.fields(each)}
    assert fields - _fields_of("scenario.md") == set()


def _is_of(module: ModuleType, kind: type) -> bool:
    return kind.__module__ == module.__name__


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("job-types.md", [f"## `{kind}`" for kind in JOB_KINDS]),
        ("checks.md", [f"| `{check}` |" for check in Check]),
        ("checks.md", [f"| `{kind}` |" for kind in REASONS]),
        ("events.md", [f"### {kind}\n" for kind in EventType]),
        ("problems.md", [f"| `{kind}` |" for kind in ProblemKind]),
        ("commands.md", [f"## `interlock {command}`" for command in COMMANDS]),
        ("commands.md", [f"| {int(code)} |" for code in Exit]),
        ("states.md", [f"| `{state}` |" for state in GENERATE.machine()]),
        ("../concepts/watchdog.md", [f"| `{guard}` |" for guard in GUARDS]),
        ("../concepts/how-a-run-lives.md", [f"| {status} |" for status in Status]),
        ("../concepts/guarantees.md", [f"## I{number}: " for number in range(1, 9)]),
    ],
)
def test_everything_is_named(page: str, names: list[str]) -> None:
    whole = text(REFERENCE / page)
    assert [each for each in names if each not in whole] == []


def test_every_option_of_every_command_is_named() -> None:
    whole = text(REFERENCE / "commands.md")
    context = app.make_context("interlock", ["init"], resilient_parsing=True)
    for command in (app, *(app.get_command(context, each) for each in COMMANDS)):
        assert command is not None
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue  # an old spelling that is still accepted
            assert all(option in whole for option in parameter.opts if option.startswith("-"))


def test_every_detail_and_hint_of_every_event_is_reported() -> None:
    whole = text(REFERENCE / "events.md")
    for kind in EventType:
        entry = kind.spec
        part = whole.partition(f"### {kind}\n")[2].partition("\n### ")[0]
        assert all(f"`{detail}`" in part for detail in entry.detail)
        assert (entry.hint or "") in part


def test_the_state_machine_has_the_states_that_the_pages_speak_of() -> None:
    assert len(GENERATE.machine()) == 27
