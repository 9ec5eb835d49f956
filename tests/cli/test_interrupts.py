"""Ctrl-C in a real terminal ends every command at once: exit code 130, one plain line, nothing left."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.runtime.server_address import find_address

pytest.importorskip("uvicorn")

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_PATIENCE = 60.0
_SLEEPER = """\
pipeline: {id: sleeper}
schedule: {trigger: {key: go, check: exists}}
validation: {rules: [{key: go, check: exists}]}
job: {type: command, config: {command: [sh, -c, "echo it begins; sleep 300"]}}
"""
_PAUSED = _SLEEPER.replace("sleeper", "paused")
_SCENARIOS = Path(__file__).parents[2] / "scenarios"


class Terminal:
    """A command in a terminal of its own, with what it shows."""

    def __init__(self, *arguments: str) -> None:
        self.shown = ""
        self._pid, self._screen = pty.fork()
        if self._pid == 0:
            own = {k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")}
            program = [sys.executable, "-m", "interlock", *arguments]
            signal.signal(
                signal.SIGINT, signal.SIG_DFL
            )  # a shell starts background tests without it
            os.execve(sys.executable, program, {**own, "COLUMNS": "120", "TERM": "xterm"})

    def until(self, text: str) -> None:
        """Read on until that is shown."""
        end = time.monotonic() + _PATIENCE
        while text not in self.shown:
            assert time.monotonic() < end and self._read(), self.shown

    def wait_for_typing(self) -> None:
        """Until it reads what is typed: Python loses a Ctrl-C between a question and its reading."""
        _wait(lambda: Path(f"/proc/{self._pid}/syscall").read_text().startswith("0 "))

    def interrupt(self) -> int:
        """Type Ctrl-C once, and return the exit code."""
        os.write(self._screen, b"\x03")
        return self.end()

    def end(self) -> int:
        """Read to the end, and return the exit code."""
        end = time.monotonic() + _PATIENCE
        while self._read():
            assert time.monotonic() < end, self.shown
        _, status = os.waitpid(self._pid, 0)
        os.close(self._screen)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        """False once the command has ended."""
        if not select.select([self._screen], [], [], 1.0)[0]:
            return True
        try:
            found = os.read(self._screen, 65536)
        except OSError:  # Linux reports the end of the other side so
            return False
        self.shown += found.decode(errors="replace")
        return bool(found)

    @property
    def last_lines(self) -> list[str]:
        """What is left on the screen since ^C."""
        text = _ESCAPES.sub("", self.shown.rpartition("^C")[2]).replace("\r", "\n")
        return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A served project: a job that hangs, and a pipeline that is paused and so answers no rerun."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "pipelines").mkdir()
    (folder / "pipelines/sleeper.yaml").write_text(_SLEEPER)
    (folder / "pipelines/paused.yaml").write_text(_PAUSED)
    server = subprocess.Popen(
        [sys.executable, "-m", "interlock", "--project", str(folder), "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(lambda: find_address(folder / ".interlock") is not None)
        _wait(lambda: "sleeper" in _run(folder, "status") and "paused" in _run(folder, "status"))
        _run(folder, "pause", "paused")
        _run(folder, "sensor", "put", "sleeper", "go", "--date", "2026-03-03")
        _wait(lambda: "it begins" in _run(folder, "logs", "sleeper", "2026-03-03"))
        yield folder
    finally:
        _run(folder, "cancel", "sleeper", "2026-03-03", "--reason", "over")
        server.send_signal(signal.SIGTERM)
        server.wait(_PATIENCE)


def _run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "interlock", "--project", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("command", "begun", "said"),
    [
        (("logs", "sleeper", "2026-03-03", "--follow"), "it begins", ""),
        (("events", "--follow"), "JOB_TRIGGERED", ""),
        (
            ("rerun", "paused", "2026-03-03", "--reason", "x", "--wait", "300"),
            "waiting for the answer",
            "; the request is stored",
        ),
    ],
    ids=["logs --follow", "events --follow", "rerun --wait"],
)
def test_a_command_that_waits_for_a_server(
    project: Path, command: tuple[str, ...], begun: str, said: str
) -> None:
    terminal = Terminal("--project", str(project), *command)
    terminal.until(begun)
    assert terminal.interrupt() == 130
    assert terminal.last_lines[-1] == f"interlock: interrupted{said}", terminal.shown
    assert "Traceback" not in terminal.shown and "Aborted" not in terminal.shown


def test_a_backfill_is_paused_and_the_line_says_how_to_resume_it(project: Path) -> None:
    terminal = Terminal(
        *("--project", str(project), "backfill", "paused", "2026-01-01", "2026-01-03"),
        *("--reason", "x", "--yes"),
    )
    terminal.until("waiting: its pipeline is paused")
    assert terminal.interrupt() == 130
    said = (
        r"interlock: interrupted; `interlock backfills resume (\S+) --reason R` starts the other 3"
    )
    found = re.fullmatch(said, terminal.last_lines[-1])
    assert found, terminal.shown
    assert "paused" in _run(project, "backfills", "show", found[1])


def test_a_backfill_asks_on_a_terminal_and_a_no_starts_nothing(project: Path) -> None:
    terminal = Terminal(
        *("--project", str(project), "backfill", "paused", "2026-02-01", "2026-02-09"),
        *("--reason", "x"),
    )
    terminal.until("Run 9 dates, 2 at once?")
    terminal.wait_for_typing()
    assert terminal.interrupt() == 130
    assert "2026-02-09" not in _run(project, "backfills")


@pytest.mark.parametrize(
    ("arguments", "begun"),
    [
        (("--random", "100000"), "random worlds: "),
        (("--faults", "2", str(_SCENARIOS / "drift-rerun.yaml")), "faults of "),
    ],
    ids=["--random", "--faults"],
)
def test_a_simulation(arguments: tuple[str, ...], begun: str) -> None:
    terminal = Terminal("simulate", *arguments)
    terminal.until(begun)
    assert terminal.interrupt() == 130
    assert terminal.last_lines == ["interlock: interrupted"], terminal.shown


def test_a_server(tmp_path: Path) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/sleeper.yaml").write_text(_SLEEPER)
    terminal = Terminal("--project", str(tmp_path), "serve", "--port", "0")
    terminal.until("To log in")
    assert terminal.interrupt() == 130
    assert terminal.last_lines[-1] == "Stopped.", terminal.shown  # below its log
    assert find_address(tmp_path / ".interlock") is None


def test_a_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    terminal = Terminal("demo")
    terminal.until("To log in")
    assert terminal.interrupt() == 130
    assert terminal.last_lines[-1] == "Stopped.", terminal.shown
    assert list(tmp_path.glob("interlock-demo-*")) == []


def test_a_question_is_not_answered_by_it(tmp_path: Path) -> None:
    assert _run(tmp_path, "init", str(tmp_path))
    terminal = Terminal("--project", str(tmp_path), "job", "test", "silver-orders")
    terminal.until("Continue?")
    terminal.wait_for_typing()
    assert terminal.interrupt() == 130
    assert terminal.last_lines == ["interlock: interrupted"], terminal.shown


def test_a_pipe_shows_no_progress(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "interlock", "simulate", "--random", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == "" and done.stdout == "3 random worlds from seed 0: nothing broke\n"


@pytest.mark.parametrize("flag", ["--quiet", "--json"])
def test_a_terminal_shows_no_progress_where_it_is_not_wanted(flag: str) -> None:
    terminal = Terminal("simulate", flag, "--faults", str(_SCENARIOS / "drift-rerun.yaml"))
    assert terminal.end() == 0
    assert "drift" in terminal.shown and "faults of" not in terminal.shown
