"""The served controller tells people: by the file of alerts, and by its changes."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_stand_in import TOKEN, SlackStandIn, slack_stand_in
from wiring.served import Served, eventually, make_project

FILE = "sinks: {slack: {type: slack, channel: C0MAIN}}\nlimits: {perSecond: 100}\n"


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as opened:
        yield opened


@pytest.fixture
def served(tmp_path: Path, slack: SlackStandIn) -> Iterator[Served]:
    make_project(tmp_path, "alpha")
    (tmp_path / "alerts.yaml").write_text(FILE)
    served = Served(
        tmp_path,
        SLACK_API_URL=slack.url,
        SLACK_BOT_TOKEN=TOKEN,
        INTERLOCK_ALLOW_HOSTS="127.0.0.1",
    )
    yield served
    served.close()


def texts(messages: list[dict[str, Any]]) -> str:
    return " ".join(message["text"] for message in messages)


def test_alerts_follow_their_file_and_the_token_is_nowhere(
    served: Served, slack: SlackStandIn
) -> None:
    pipeline = served.project / "pipelines" / "alpha.yaml"
    good = pipeline.read_text()
    pipeline.write_text(good + "colour: red\n")
    served.start()
    eventually(lambda: "the file is refused" in texts(slack.roots), "told in Slack")
    assert slack.roots[0]["channel"] == "C0MAIN"

    (served.project / "alerts.yaml").write_text(FILE.replace("C0MAIN", "C0OTHER"))
    eventually(lambda: "alerts_changed" in served.output, "read again")
    pipeline.write_text(good + "flavour: sweet\n")
    eventually(lambda: slack.roots[-1]["channel"] == "C0OTHER", "told elsewhere")

    (served.project / "alerts.yaml").write_text("sinks: {a: {type: mail}}")
    eventually(lambda: "alerts.yaml is refused" in texts(slack.roots), "refused, and told")
    assert slack.roots[-1]["channel"] == "C0OTHER"  # the last good one stays in force

    eventually(lambda: _states(served) == {"sent"}, "noted as sent")
    assert served.stop() == 0
    state = b"".join(path.read_bytes() for path in (served.project / ".interlock").rglob("*.db*"))
    assert TOKEN not in served.output and TOKEN.encode() not in state


def test_a_file_that_breaks_between_two_starts_is_seen_everywhere(
    served: Served, slack: SlackStandIn
) -> None:
    served.start()
    served.stop()
    (served.project / "alerts.yaml").write_text("sinks: {a: {type: mail}}")
    served.start()

    eventually(lambda: "alerts.yaml is refused" in texts(slack.roots), "told where it was before")
    assert slack.roots[-1]["channel"] == "C0MAIN"
    for page in ("/", "/timeline", "/pipelines/alpha"):
        assert "alerts.yaml is refused: line 1: " in served.text(page)
    assert "interlock_files_refused 1.0" in served.text("/metrics")
    assert served.ask("GET", "/readyz")

    (served.project / "alerts.yaml").write_text(FILE)
    eventually(lambda: "interlock_files_refused 0.0" in served.text("/metrics"), "fixed")
    assert "is refused" not in served.text("/timeline")
    assert "file refused" not in served.text("/")


def _states(served: Served) -> set[str]:
    shown = served.ask("GET", "/api/v1/events/alerts?type=CONFIG_REJECTED")["items"]
    return {alert["state"] for item in shown for alert in item["alerts"]}


def test_a_job_does_not_see_the_token(served: Served, slack: SlackStandIn) -> None:
    seen = served.project / "seen"
    file = served.project / "pipelines" / "alpha.yaml"
    text = file.read_text()
    start = text.index("    command:")
    file.write_text(f'{text[:start]}    command: [/bin/sh, -c, "env > {seen}"]\n')
    served.start()
    served.put("alpha", "landed", count=100)
    eventually(lambda: seen.exists() and "PATH" in seen.read_text(), "run")
    assert TOKEN not in seen.read_text()


def test_a_server_without_any_settings_of_alerts_starts_and_stops(tmp_path: Path) -> None:
    make_project(tmp_path, "alpha")
    served = Served(tmp_path)
    try:
        served.start()
        assert served.stop() == 0
    except subprocess.TimeoutExpired:
        served.close()
        raise
