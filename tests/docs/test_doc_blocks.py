"""What stands in the pages works: YAML loads, Python runs, commands print what the page says."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from doc_pages import PAGES, ROOT, Block, blocks, name, save, save_files

from interlock.files import load_alerts, load_calendar, load_text
from interlock.simulation.scenario import parse_scenario

PATIENCE = 60.0
_LOOKS = {"status", "why", "run", "runs", "events"}
_FAILS = re.compile(r": [1-9]\d* errors?,|: rerun refused: ")
_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")},
    "NO_COLOR": "1",
    "COLUMNS": "100",
    "PYTHONPATH": str(ROOT / "src"),
}


def _all(kind: str) -> list[object]:
    return [
        pytest.param(page, block, id=f"{name(page)}:{block.line}")
        for page in PAGES
        for block in blocks(page)
        if block.kind == kind and not (kind == "python" and block.mark)
    ]


@pytest.mark.parametrize(("page", "block"), _all("yaml"))
def test_yaml_loads(page: Path, block: Block, tmp_path: Path) -> None:
    save_files(page, tmp_path)
    document = yaml.safe_load(block.text)
    if "pipeline" in document:
        loaded = load_text(block.text)
        assert bool(loaded.errors) == (block.mark == "broken"), loaded.problems
    elif "start" in document:
        parse_scenario(block.text, folder=(tmp_path / (block.file or "any")).parent)
    elif "sinks" in document:
        assert load_alerts(block.text)[0] is not None, load_alerts(block.text)[1]
    elif "dates" in document or "days" in document:
        assert load_calendar(block.text)[1] == ()
    else:
        assert "runs-on" in block.text, "neither pipeline, scenario, calendar nor workflow"


@pytest.mark.parametrize(("page", "block"), _all("python"))
def test_python_runs(page: Path, block: Block) -> None:
    exec(compile(block.text, f"{name(page)}:{block.line}", "exec"), {"__name__": "page"})


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.kind == "console" for b in blocks(p))], ids=name
)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with ExitStack() as servers:
        for block in blocks(page):
            save(block, tmp_path)
            for command, shown in _commands(block):
                if command.endswith(" &"):
                    servers.enter_context(_serving(command.removesuffix(" &"), tmp_path))
                    continue
                done = _shown_in_time(command, shown, tmp_path)
                assert _same(done.stdout, shown), f"{command}\n{done.stdout}"
                assert done.returncode == (1 if _FAILS.search(shown) else 0)


def test_every_page_with_commands_for_newcomers_is_run() -> None:
    for page in ("README.md", "docs/quickstart.md", "docs/first-pipeline.md"):
        plain = [block for block in blocks(ROOT / page) if block.kind == "sh"]
        assert not any(re.search(r"^interlock ", block.text, re.MULTILINE) for block in plain)


def _commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with what it prints."""
    if block.kind == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def _run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        _arguments(command),
        check=False,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=_ENVIRONMENT,
    )


def _shown_in_time(command: str, shown: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """What a server does, it does a moment later: who only looks may look again."""
    until = time.monotonic() + PATIENCE
    done = _run(command, folder)
    looks = _LOOKS & set(shlex.split(command))
    while looks and not _same(done.stdout, shown) and time.monotonic() < until:
        time.sleep(0.2)
        done = _run(command, folder)
    return done


@contextmanager
def _serving(command: str, folder: Path) -> Iterator[None]:
    """On a port that happened to be free; the address that it leaves tells the others."""
    process = subprocess.Popen(
        [*_arguments(command), "--port", "0"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    try:
        until = time.monotonic() + PATIENCE
        while not _is_ready(folder):
            assert process.poll() is None and time.monotonic() < until, "it does not serve"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _is_ready(folder: Path) -> bool:
    """Whether the server has left its address and has read the files of its project."""
    for path in folder.glob("*/.interlock/serve.json"):
        with (
            suppress(OSError, ValueError),
            urlopen(json.loads(path.read_text())["url"] + "/readyz"),
        ):
            return True
    return False


def _arguments(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    assert program == "interlock"
    return [sys.executable, "-m", "interlock", *arguments]


def _same(printed: str, shown: str) -> bool:
    """`...` stands for any lines. How many faults there are changes with every release."""
    pattern = re.escape(shown.strip()).replace(r"\.\.\.", ".*")
    pattern = re.sub(r"\d+\\ faults", r"\\d+\\ faults", pattern)
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None
