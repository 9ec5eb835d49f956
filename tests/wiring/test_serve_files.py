"""The real process, and files that go and come back as people and programs move them."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wiring.served import Served, eventually, launched, make_project

NAMES = ("alpha", "beta", "gamma")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(make_project(tmp_path, *NAMES))
    yield server
    server.close()


def _copied(folder: Path, seen_gone: Callable[[], None]) -> None:
    """Delete and copy."""
    kept = folder.parent / "kept.yaml"
    shutil.move(folder / "alpha.yaml", kept)
    seen_gone()
    shutil.copy(kept, folder / "alpha.yaml")


def _checked_out(folder: Path, seen_gone: Callable[[], None]) -> None:
    """Another branch, and back."""
    git = [
        "git", "-C", str(folder.parent), "-c", "user.name=x", "-c", "user.email=x@x",
        "-c", "init.defaultBranch=main",
    ]  # fmt: skip
    for arguments in (
        ("init", "-q"),
        ("add", "pipelines"),
        ("commit", "-qm", "all"),
        ("switch", "-qc", "without"),
        ("rm", "-q", "pipelines/alpha.yaml"),
        ("commit", "-qm", "without alpha"),
    ):
        subprocess.run([*git, *arguments], check=True, timeout=60)
    seen_gone()
    subprocess.run([*git, "switch", "-q", "main"], check=True, timeout=60)


def _synced(folder: Path, seen_gone: Callable[[], None]) -> None:
    """A source that lacks the file for one run."""
    source = folder.parent / "source"
    shutil.copytree(folder, source)
    (source / "alpha.yaml").unlink()
    rsync = ["rsync", "-a", "--delete", f"{source}/", f"{folder}/"]
    subprocess.run(rsync, check=True, timeout=60)
    seen_gone()
    make_project(folder.parent, "alpha")
    shutil.copy(folder / "alpha.yaml", source)
    subprocess.run(rsync, check=True, timeout=60)


@pytest.mark.parametrize(
    ("moves", "program"), [(_copied, None), (_checked_out, "git"), (_synced, "rsync")]
)
def test_a_file_that_goes_and_comes_back_leaves_its_pipeline_as_it_was(
    served: Served, moves: Callable[[Path, Callable[[], None]], None], program: str | None
) -> None:
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    served.start()
    before = served.ask("GET", "/api/v1/pipelines/alpha")

    def seen_gone() -> None:
        eventually(lambda: _missing(served) == ["alpha"], "missing")
        served.put("alpha", "landed#2026-03-03", count=12)

    moves(served.project / "pipelines", seen_gone)

    eventually(lambda: _missing(served) == [], "back")
    after = served.ask("GET", "/api/v1/pipelines/alpha")
    assert after["activeSince"] == before["activeSince"]
    eventually(lambda: served.runs().get(("alpha", "2026-03-03")) == "COMPLETED", "COMPLETED")
    assert launched(served.project) == ["alpha 2026-03-03 0"]
    changes = [each["detail"]["change"] for each in _events(served, "CONFIG_ADOPTED")]
    assert changes == ["new"] * len(NAMES)
    assert [each["severity"] for each in _events(served, "CONFIG_MISSING")] == ["warning"]


def test_a_folder_that_is_emptied_is_an_error_until_an_operator_confirms(served: Served) -> None:
    served.start()
    folder = served.project / "pipelines"
    shutil.rmtree(folder)
    folder.mkdir()

    eventually(lambda: _missing(served) == list(NAMES), "missing")
    eventually(lambda: len(_events(served, "CONFIG_MISSING")) == 1, "told")
    (event,) = _events(served, "CONFIG_MISSING")
    assert (event["severity"], event["detail"]["pipelines"]) == ("error", list(NAMES))
    assert "3 files of alpha, beta, gamma have been missing since" in served.text("/")
    assert "files_missing" in served.output

    done = subprocess.run(
        [sys.executable, "-m", "interlock", "--project", str(served.project),
         "retire", "--all-missing"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"{name}: retired" for name in NAMES], done.stderr
    eventually(lambda: served.ask("GET", "/api/v1/pipelines")["items"] == [], "retired")


def test_half_a_file_is_never_in_force(served: Served) -> None:
    served.start()
    file = served.project / "pipelines" / "alpha.yaml"
    text = file.read_text()
    with file.open("w") as writing:
        for line in text.replace("value: 10", "value: 0").splitlines(keepends=True) * 6:
            writing.write(f"# {line}")
            writing.flush()
            served.ask("GET", "/api/v1/pipelines")
        writing.truncate(0)
        writing.seek(0)
        writing.write(text.replace("value: 10", "value: 11"))

    eventually(
        lambda: _events(served, "CONFIG_ADOPTED")[0]["detail"]["change"] == "changed", "read"
    )
    assert _events(served, "CONFIG_REJECTED") == []
    config = served.ask("GET", "/api/v1/pipelines/alpha/config")
    assert config["pipeline"]["validation"]["rules"][0]["value"] == 11


def _missing(served: Served) -> list[str]:
    return [each["pipelineId"] for each in served.ask("GET", "/api/v1/missing")["items"]]


def _events(served: Served, kind: str) -> list[Any]:
    items: list[Any] = served.ask("GET", f"/api/v1/events?type={kind}")["items"]
    return items
