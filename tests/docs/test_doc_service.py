"""The unit file of the how-to page is one that systemd takes, and keeps jobs alive."""

import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from doc_pages import ROOT, blocks


def _unit() -> str:
    page = ROOT / "docs" / "howto" / "run-as-a-service.md"
    (found,) = (block.text for block in blocks(page) if block.file == "interlock.service")
    return found


def test_jobs_outlive_the_controller() -> None:
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(_unit())

    assert unit["Service"]["KillMode"] == "process"
    assert unit["Service"]["ExecStart"].endswith(" serve")
    assert unit.getboolean("Service", "NoNewPrivileges")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_has_nothing_to_say_about_it(tmp_path: Path) -> None:
    text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable} -m interlock", _unit())
    unit = tmp_path / "interlock.service"
    unit.write_text(text)

    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    said = [line for line in done.stderr.splitlines() if "interlock.service" in line]
    assert said == []
