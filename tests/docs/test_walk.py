"""The walk: the path of a reading in the README is the path that the code takes.

One reading goes through the real server and controller, from its request to the launch of its job, and
every module that is entered on the way is recorded.
"""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from doc_pages import ROOT, blocks

from web.house import House

#: The rooms in which things are done. Nouns, tables and technologies are entered from everywhere.
_ROOMS = ("web/api/", "usecases/", "lifecycle/", "runtime/")
#: What every step has at hand: it tells the reader of the path nothing.
_AT_HAND = {
    "web/api/context.py",
    "runtime/clock_rollback.py",
    "runtime/commit_cache.py",
    "runtime/decisions.py",
    "runtime/health.py",
    "usecases/load_run.py",
    "usecases/ports.py",
    "usecases/save_run.py",
}
_NAMED = re.compile(r"(?:[a-z_]+/)+[a-z_]+\.py")


@contextmanager
def entered() -> Iterator[list[str]]:
    """The modules of Interlock whose functions are called meanwhile, in the order of their first call."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            module = str(frame.f_globals.get("__name__", ""))
            if module.startswith("interlock.") and frame.f_code.co_name != "<module>":
                found.setdefault(module.removeprefix("interlock.").replace(".", "/") + ".py")

    modules: list[str] = []
    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield modules
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
        modules += found


def named_in_the_readme() -> list[str]:
    (path,) = (b.text for b in blocks(ROOT / "README.md") if b.text.startswith("1 web/api/"))
    return [*dict.fromkeys(_NAMED.findall(path))]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Until its job is launched."""
    house = House(tmp_path_factory.mktemp("walk"))
    try:
        house.client.get("/healthz")  # the server is up
        house.runtime.settle()
        with entered() as modules:
            assert house.put({"date": "2026-03-03"}).status_code == 200
            house.runtime.settle()
    finally:
        house.close()
    until = next(place for place, name in enumerate(modules) if name.startswith("adapters/jobs/"))
    return modules[: until + 1]


def test_the_readme_names_what_a_reading_passes_in_that_order(walk: list[str]) -> None:
    named = [name for name in named_in_the_readme() if name.startswith(_ROOMS) and name in walk]
    assert named == [name for name in walk if name in named]


def test_a_reading_passes_nothing_that_the_readme_leaves_out(walk: list[str]) -> None:
    passed = [
        name
        for name in walk
        if name.startswith(_ROOMS)
        and not name.startswith("lifecycle/asl/")
        and name not in _AT_HAND
    ]
    assert [name for name in passed if name not in named_in_the_readme()] == []


def test_what_the_readme_names_is_passed(walk: list[str]) -> None:
    later = {"lifecycle/check_job.py", "lifecycle/complete_trigger.py"}  # behind the launch
    assert [name for name in named_in_the_readme() if name not in walk and name not in later] == []


def test_the_path_ends_at_an_adapter_of_jobs(walk: list[str]) -> None:
    assert Path(walk[-1]).parts[:2] == ("adapters", "jobs")
