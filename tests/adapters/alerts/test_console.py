"""The console: a line on the screen, and a record of everything in a file."""

import json
from pathlib import Path

import msgspec
import pytest

from alert_samples import told
from contracts.samples import NOW, a_thread
from interlock.adapters.alerts import console
from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.domain.alerting.deliveries import Posted, SendFailed
from interlock.domain.alerting.note import AlertNote, DigestNote, RootNote, SummaryNote, TrialNote
from interlock.domain.event import EventType, Severity

FAILED = told(EventType.JOB_FAILED, message="it failed")


class Screen:
    def __init__(self) -> None:
        self.lines: list[tuple[Severity, str]] = []

    def show(self, severity: Severity, line: str) -> None:
        self.lines.append((severity, line))


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.mark.parametrize("kind", EventType)
def test_every_type_is_a_line_and_a_line_of_json(
    kind: EventType, tmp_path: Path, screen: Screen
) -> None:
    event = told(kind)
    assert isinstance(
        ConsoleAlerts(tmp_path, screen.show).post("-", AlertNote(event), None), Posted
    )
    ((severity, line),) = screen.lines
    assert severity is event.severity and kind in line and "\n" not in line and " :" not in line
    (written,) = (tmp_path / "alerts.log").read_text().splitlines()
    assert json.loads(written)["type"] == kind


def test_a_failure_is_printed_with_the_last_lines_of_its_job(
    tmp_path: Path, screen: Screen
) -> None:
    output = "\n".join(f"line {number}" for number in range(40)) + "\x1b[2J\n"
    event = told(EventType.JOB_FAILED, message="it failed", detail={"output": output})
    ConsoleAlerts(tmp_path, screen.show).post("-", AlertNote(event), None)
    shown = [line for _, line in screen.lines]
    assert shown[0].endswith("it failed") and len(shown) == 21
    assert (shown[1], shown[-1]) == ("  | line 20", "  | line 39")


def test_the_address_of_the_run_is_printed_below_the_alert(tmp_path: Path, screen: Screen) -> None:
    sink = ConsoleAlerts(tmp_path, screen.show, "https://interlock.example")
    sink.post("-", AlertNote(FAILED), None)
    url = "https://interlock.example/runs/silver-orders/stream/2026-03-03"
    assert [line for _, line in screen.lines][1:] == [f"  {url}"]
    assert json.loads((tmp_path / "alerts.log").read_text())["data"]["url"] == url


def test_every_note_is_printed(tmp_path: Path, screen: Screen) -> None:
    sink = ConsoleAlerts(tmp_path, screen.show)
    for note in (
        AlertNote(FAILED, "slack C1: is_archived"),
        RootNote(a_thread(), FAILED),
        DigestNote((FAILED,) * 9),
        SummaryNote(NOW, (FAILED,), ()),
        TrialNote("a test", NOW),
    ):
        assert sink.post("-", note, None) == sink.update("-", "", note) == Posted("")
    assert [severity for severity, _ in screen.lines] == [Severity.ERROR] * 4 + [Severity.INFO]
    assert screen.lines[0][1] == (
        "2026-03-03 10:00:00 UTC JOB_FAILED silver-orders stream 2026-03-03:"
        " it failed (slack C1: is_archived)"
    )
    kinds = [
        json.loads(line)["type"] for line in (tmp_path / "alerts.log").read_text().splitlines()
    ]
    assert kinds == ["JOB_FAILED", "JOB_FAILED", "ALERTS_DIGEST", "ALERTS_HELD", "ALERT_TEST"]


def test_a_file_that_can_not_be_written_is_a_failure(tmp_path: Path, screen: Screen) -> None:
    answer = ConsoleAlerts(tmp_path / "nowhere", screen.show).post("-", AlertNote(FAILED), None)
    assert isinstance(answer, SendFailed) and screen.lines == []


def test_one_older_file_is_kept(
    tmp_path: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LARGEST", 1000)
    sink = ConsoleAlerts(tmp_path, screen.show)
    for part in range(9):
        sink.post("-", AlertNote(msgspec.structs.replace(FAILED, message=f"m{part}" * 20)), None)
    assert {path.name for path in tmp_path.iterdir()} <= {"alerts.log", "alerts.log.1"}
    assert (tmp_path / "alerts.log.1").exists()
