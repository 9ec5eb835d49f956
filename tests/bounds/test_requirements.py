"""The bounds of the dependencies: declared once, tried as declared, and below what development is held at."""

import inspect
from importlib import import_module
from itertools import chain
from pkgutil import walk_packages

import pytest
from cronsim import CronSim
from urllib3 import connection
from uvicorn import Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

import interlock
from bounds.__main__ import PYTHONS, TESTS
from bounds.requirements import (
    ROOT,
    Bound,
    bound_of,
    bounds,
    number,
    pinned,
    project,
    tool_bounds,
)


def test_every_bound_is_one_that_can_be_tried() -> None:
    assert len(bounds()) >= 15


@pytest.mark.parametrize(
    "text", ["click", "click==8.1", "click>8.1", "click>=8.1,!=8.2", "click~=8.1"]
)
def test_a_requirement_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form"):
        bound_of(text)


def test_extras_of_a_requirement_are_no_part_of_its_name() -> None:
    assert bound_of("Moto[glue,stepfunctions]>=5.1") == Bound("moto", "5.1")


def test_a_cap_on_the_next_major_version_is_no_part_of_the_bound() -> None:
    assert bound_of("uvicorn>=0.36,<1") == Bound("uvicorn", "0.36")


@pytest.mark.parametrize("name", ["cronsim", "urllib3", "uvicorn"])
def test_a_library_whose_private_parts_we_override_is_capped(name: str) -> None:
    declared = project()
    every = [*declared["dependencies"], *chain(*declared["optional-dependencies"].values())]
    ours = [text for text in every if text.startswith(f"{name}>=")]
    assert ours and all(",<" in text for text in ours)


def test_a_package_that_is_named_twice_has_one_bound() -> None:
    named: dict[str, set[str]] = {}
    for name, lowest in bounds() + tool_bounds():
        named.setdefault(name, set()).add(lowest)

    assert {name: each for name, each in named.items() if len(each) > 1} == {}


def test_development_is_held_at_versions_that_the_bounds_allow() -> None:
    held = pinned()
    below = [
        each for each in bounds() + tool_bounds() if number(held[each.name]) < number(each.lowest)
    ]

    assert below == []


@pytest.mark.parametrize(
    ("lower", "higher"), [("4.9", "4.10"), ("6.0", "6.0.2"), ("0.6.3", "0.7"), ("2025.2", "2026.1")]
)
def test_versions_are_compared_by_their_numbers(lower: str, higher: str) -> None:
    assert number(lower) < number(higher)


def test_a_zero_at_the_end_makes_no_other_version() -> None:
    assert number("8.1") == number("8.1.0")


def test_the_pythons_that_are_tried_are_those_that_the_project_names() -> None:
    prefix = "Programming Language :: Python :: "
    named = [text.removeprefix(prefix) for text in project()["classifiers"] if prefix in text]

    assert [f"python{version}" for version in named] == list(PYTHONS)


def test_the_tests_that_are_run_exist() -> None:
    assert [name for name in TESTS if not (ROOT / name).exists()] == []


def test_every_module_can_be_imported() -> None:
    found = [each.name for each in walk_packages(interlock.__path__, "interlock.")]
    for name in found:
        if not name.endswith("__main__"):
            import_module(name)

    assert len(found) > 100


@pytest.mark.parametrize(
    "name",
    [
        "connection_made", "connection_lost", "data_received", "on_header", "on_headers_complete",
        "on_message_begin", "on_response_complete", "pause_writing", "resume_writing",
        "send_400_response",
    ],
)  # fmt: skip
def test_uvicorn_still_has_what_our_protocol_overrides(name: str) -> None:
    """Were it renamed, ours would never be called, and a limit would be gone silently."""
    assert callable(getattr(HttpToolsProtocol, name))


def test_uvicorn_still_captures_signals_where_we_stop_it_from_doing_so() -> None:
    assert "self.capture_signals()" in inspect.getsource(Server.serve)


@pytest.mark.parametrize("kind", ["HTTPConnection", "HTTPSConnection"])
def test_urllib3_still_opens_its_sockets_where_we_pin_the_address(kind: str) -> None:
    """Were it another place, a request would go to an unchecked address."""
    assert "self._new_conn()" in inspect.getsource(getattr(connection, kind).connect)


@pytest.mark.parametrize("name", ["advance_month", "advance_day", "advance_hour"])
def test_cronsim_still_advances_by_the_steps_that_ours_overrides(name: str) -> None:
    """Were a step renamed, a cron would go round and round in a fold that crosses midnight."""
    assert f"self.{name}()" in inspect.getsource(CronSim)


def test_cronsim_still_ticks_by_seconds() -> None:
    assert "seconds" in inspect.signature(CronSim.tick).parameters
