"""Logs: a line is ours, whatever stands in it, and holds no secret."""

import logging
import sys
from collections.abc import Iterator

import pytest

from interlock.errors import InterlockError, TransientError, UnavailableError
from interlock.web.logs import log_to_stderr

FORGED = "2026-03-03T00:00:00Z INFO    login: the owner logged in"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    log_to_stderr(lambda text: text.replace("s3cret", "***"))
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    monkeypatch.setattr(handler, "stream", _Stderr())
    yield logging.getLogger("interlock.test")
    root.handlers = handlers
    root.setLevel(level)


class _Stderr:
    """Whatever stderr is at the moment: the tests' changes between the steps of a test."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028"])
def test_log_lines_can_not_be_forged(
    log: logging.Logger, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    log.error("refused: %s", f"name{end}{FORGED}", extra={"action": "file_refused"})

    (line,) = capsys.readouterr().err.splitlines()
    assert not line.startswith("2026-03-03T00")


def test_logs_can_not_control_the_terminal_of_a_reader(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    log.error("refused: %s", "\x1b]0;evil\x07\x1b[2J\u202eevil")

    line = capsys.readouterr().err.removesuffix("\n")
    assert line.isprintable()


def test_a_traceback_is_indented_and_forges_nothing(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError(f"bad\r{FORGED}\n{FORGED}\x1b[2J")
    except ValueError:
        log.exception("it failed", extra={"action": "step_failed"})

    first, *rest = capsys.readouterr().err.split("\n")[:-1]
    assert "step_failed: it failed" in first
    assert rest and all(line.startswith("    ") and line.isprintable() for line in rest)


@pytest.mark.parametrize("kind", [UnavailableError, TransientError])
def test_an_error_that_says_what_to_do_takes_one_line(
    log: logging.Logger, capsys: pytest.CaptureFixture[str], kind: type[InterlockError]
) -> None:
    try:
        raise kind("interlock.db: disk is full; free some space") from OSError("no space")
    except InterlockError:
        log.exception("a step failed 100 %", extra={"action": "step_failed"})

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "step_failed: a step failed 100 %: interlock.db: disk is full; free some space"
    )


def test_the_cause_of_a_failure_forges_no_line_either(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise TransientError(f"s3cret\n{FORGED}")
    except TransientError:
        log.exception("it failed")

    (line,) = capsys.readouterr().err.splitlines()
    assert "s3cret" not in line


def test_a_secret_is_masked_in_messages_and_tracebacks(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError("with s3cret")
    except ValueError:
        log.exception("s3cret")

    assert "s3cret" not in capsys.readouterr().err


def test_what_strangers_send_is_no_reason_for_a_line(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")

    assert capsys.readouterr().err == ""
