"""The real process: from a reading to a finished job, through reloads, signals and kills."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiring.served import Served, eventually, launched, make_project


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(make_project(tmp_path, "alpha"))
    yield server
    server.close()


def test_a_reading_becomes_a_finished_job_and_sigterm_stops_it_cleanly(served: Served) -> None:
    served.start()

    served.put("alpha", "landed#2026-03-03", count=12)
    served.put("alpha", "landed#2026-03-04", count=1)

    eventually(lambda: served.runs().get(("alpha", "2026-03-03")) == "COMPLETED", "COMPLETED")
    assert launched(served.project) == ["alpha 2026-03-03 0"]
    assert served.runs()["alpha", "2026-03-04"] == "PENDING"
    assert served.stop() == 0
    assert "Stopped." in served.output
    assert "Traceback" not in served.output
    assert not (served.project / ".interlock" / "serve.json").exists()


def test_five_kills_lose_nothing(served: Served) -> None:
    dates = [f"2026-03-{day:02}" for day in range(1, 11)]
    for n in range(5):
        served.start()
        for date in dates[2 * n : 2 * n + 2]:
            served.put("alpha", f"landed#{date}", count=12)
        served.stop(signal.SIGKILL)
    served.start()

    wanted = {("alpha", date): "COMPLETED" for date in dates}
    eventually(lambda: served.runs() == wanted, "all COMPLETED", 60)
    assert sorted(launched(served.project)) == [f"alpha {date} 0" for date in dates]
    assert served.stop() == 0


def test_dates_that_may_not_run_at_once_run_one_after_the_other(served: Served) -> None:
    file = served.project / "pipelines" / "alpha.yaml"
    log = served.project / "launched"
    steps = f"echo begin $INTERLOCK_DATE >> {log}; sleep 0.3; echo end $INTERLOCK_DATE >> {log}"
    text = file.read_text()
    text = text[: text.index("    command:")] + f"    command: [/bin/sh, -c, '{steps}']\n"
    file.write_text(text + "  maxConcurrent: 1\n")
    served.start()
    dates = [f"2026-03-{day:02}" for day in range(1, 9)]
    for date in dates:
        served.put("alpha", f"landed#{date}", count=12)

    wanted = {("alpha", date): "COMPLETED" for date in dates}
    eventually(lambda: served.runs() == wanted, "all COMPLETED", 60)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [word for word, _ in lines] == ["begin", "end"] * len(dates)  # never two at once
    assert sorted(date for _, date in lines[::2]) == dates
    assert served.stop() == 0


def test_a_changed_file_is_taken_up_and_a_wrong_one_refused(served: Served) -> None:
    served.start()
    file = served.project / "pipelines" / "alpha.yaml"
    good = file.read_text()
    config = served.ask("GET", "/api/v1/pipelines/alpha/config")["configHash"]

    file.write_text(good + "colour: red\n")
    eventually(lambda: _count(served, "CONFIG_REJECTED") == 1, "refused")
    assert served.ask("GET", "/api/v1/pipelines/alpha/config")["configHash"] == config
    (event,) = served.ask("GET", "/api/v1/events?type=CONFIG_REJECTED")["items"]
    line = len(good.splitlines()) + 1
    assert f"refused: pipelines/alpha.yaml:{line}:1: colour: unknown key" in event["message"]
    (problem,) = event["detail"]["problems"]
    assert (problem["path"], problem["file"]) == ("colour", "pipelines/alpha.yaml")
    eventually(lambda: len(served.ask("GET", "/api/v1/refused")["items"]) == 1, "listed")
    (refused,) = served.ask("GET", "/api/v1/refused")["items"]
    assert (refused["pipelineId"], refused["line"]) == ("alpha", line)

    file.write_text("pipeline: {id: [broken")
    eventually(lambda: "can't" in served.output or "flow" in served.output, "read")
    make_project(served.project, "beta")
    eventually(lambda: len(served.ask("GET", "/api/v1/pipelines")["items"]) == 2, "two of them")

    file.write_text(good.replace("value: 10", "value: 11"))
    eventually(lambda: _config(served) != config, "changed")
    eventually(lambda: served.ask("GET", "/api/v1/refused")["items"] == [], "corrected")
    file.unlink()
    eventually(lambda: len(served.ask("GET", "/api/v1/missing")["items"]) == 1, "missing")
    served.ask("POST", "/api/v1/pipelines/alpha/retire", {"reason": "replaced"})
    eventually(lambda: len(served.ask("GET", "/api/v1/pipelines")["items"]) == 1, "retired")
    eventually(lambda: served.ask("GET", "/api/v1/missing")["items"] == [], "no longer missing")
    assert served.stop(signal.SIGINT) == 130


def test_alerts_stand_in_a_file_of_the_state_folder(served: Served) -> None:
    file = served.project / "pipelines" / "alpha.yaml"
    file.write_text(file.read_text() + "colour: red\n")
    served.start()

    log = served.project / ".interlock" / "alerts.log"
    eventually(lambda: log.exists() and log.read_text().endswith("\n"), "an alert")
    told = json.loads(log.read_text().splitlines()[0])
    assert told["type"] == "CONFIG_REJECTED"
    eventually(lambda: "CONFIG_REJECTED alpha" in served.output, "a line of it")


def test_one_process_serves_a_state_file(served: Served) -> None:
    served.start()

    second = subprocess.run(
        [sys.executable, "-m", "interlock", "--project", str(served.project), "serve", "--port", "0"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip

    assert second.returncode == 3
    assert "in use by another server" in second.stderr
    assert served.put("alpha", "landed", count=1)


def test_the_address_is_left_for_its_owner_alone(served: Served) -> None:
    served.start()
    state = served.project / ".interlock"

    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "serve.json").stat().st_mode) == 0o600


def test_tokens_are_made_and_revoked_while_it_runs_and_while_it_does_not(served: Served) -> None:
    before = _token(served, "create", "early", "--scope", "read").strip()
    served.start()
    during = _token(served, "create", "late", "--scope", "observe", "--pipeline", "alpha").strip()

    assert _status(served, before) == 200
    assert _status(served, during) == 403
    listed = _token(served, "list")
    assert "early" in listed and "observe for alpha" in listed and before not in listed
    with pytest.raises(subprocess.CalledProcessError) as taken:
        _token(served, "create", "early", "--scope", "read")
    assert (taken.value.returncode, taken.value.stderr) == (
        1,
        "interlock: a token named early already exists\n",
    )
    _token(served, "revoke", "early")
    assert _status(served, before) == 401
    served.stop()
    assert "late" in _token(served, "list")
    assert during not in served.output and before not in served.output


def test_a_stream_does_not_keep_it_from_stopping(served: Served) -> None:
    served.start()
    address = json.loads((served.project / ".interlock" / "serve.json").read_text())

    with socket.create_connection(served.address(), timeout=60) as stream:
        stream.sendall(
            b"GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Authorization: Bearer " + address["token"].encode() + b"\r\n\r\n"
        )
        assert b"200 OK" in stream.recv(1000)
        assert served.stop() == 0


def test_without_its_extra_serve_says_what_to_install(tmp_path: Path) -> None:
    blind = "import sys; sys.modules['starlette'] = None; sys.argv[0] = 'interlock'\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{blind}from interlock.cli import main; main()",
         "--project", str(tmp_path), "serve"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "pip install 'interlock[server]'" in done.stderr


def _count(served: Served, kind: str) -> int:
    return len(served.ask("GET", f"/api/v1/events?type={kind}")["items"])


def _config(served: Served) -> str:
    found: str = served.ask("GET", "/api/v1/pipelines/alpha/config")["configHash"]
    return found


def _token(served: Served, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "--project", str(served.project), "token", *arguments],
        capture_output=True, text=True, timeout=60, check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")},
    )  # fmt: skip
    return done.stdout


def _status(served: Served, secret: str) -> int:
    address = json.loads((served.project / ".interlock" / "serve.json").read_text())
    request = urllib.request.Request(
        f"{address['url']}/api/v1/runs", headers={"Authorization": f"Bearer {secret}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_step_that_fails_is_logged_with_the_run_the_step_and_the_reason(served: Served) -> None:
    file = served.project / "pipelines" / "alpha.yaml"
    file.write_text(file.read_text().replace("/bin/sh", "/no/such/program"))
    served.start()

    served.put("alpha", "landed#2026-03-03", count=12)

    eventually(lambda: served.runs().get(("alpha", "2026-03-03")) == "FAILED", "FAILED")
    line = next(line for line in served.output.splitlines() if "task_failed" in line)
    assert "alpha" in line and "2026-03-03" in line and "the state Trigger of " in line
    assert "/no/such/program can't be started" in line
