"""Terminal: foreign text never controls it, whichever command shows it."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.place import Place
from interlock.cli import app, main
from interlock.errors import ConfigError
from interlock.simulation.scenario import JobResult, JobScript

#: The title of the window, an empty screen, a line written over another, a text turned around.
EVIL = "\x1b]0;evil\x07\x1b[2J\rall is well\x1b[8m\x9b31m\u202eevil\x08\x00"
#: Our own colours.
_OURS = re.compile(r"\x1b\[[0-9;]*m")
_NAME = json.dumps(EVIL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Everything that others may write holds it. Only to look at."""
    place = Place(tmp_path_factory.mktemp("evil"))
    place.scripts["silver-orders"] = (
        JobScript(after="1m", result=JobResult.FAIL, error=f"oh{EVIL}"),
    )
    place.declare(
        f"pipeline: {{id: silver-orders, owner: {_NAME}, description: {_NAME}}}\n"
        "schedule: {trigger: {key: orders, check: exists}}\n"
        "validation: {rules: [{key: orders, check: equals, field: state, value: done}]}\n"
        "job: {type: command, config: {command: ['true']}}"
    )
    place.declare(
        "pipeline: {id: gold-orders}\n"
        "schedule: {trigger: {key: orders, check: exists}}\n"
        "validation: {rules: [{key: orders, check: exists}, "
        f"{{key: orders, check: equals, field: state, value: {_NAME}}}]}}"
    )
    place.put(state="done", note=EVIL, **{EVIL: EVIL})
    place.put(pipeline="gold-orders", state=f"not {EVIL}", **{EVIL: EVIL})
    place.wait(minutes=10)
    (place.folder / "pipelines" / "broken.yaml").write_text(
        f"pipeline: {{id: broken, owner: 3, {_NAME}: {_NAME}}}\n"
    )
    return place


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("why", "silver-orders"),
        ("why", "gold-orders"),
        ("runs",),
        ("run", "silver-orders", "{today}"),
        ("run", "gold-orders", "{today}"),
        ("events",),
        ("events", "--alerts"),
        ("sensor", "list", "silver-orders"),
        ("sensor", "list", "gold-orders"),
        ("doctor",),
        ("validate",),
        ("validate", "--format", "github"),
        ("watchdog",),
        ("job", "test", "silver-orders", "--dry-run"),
        ("status", "--json"),
        ("events", "--json"),
        ("sensor", "list", "gold-orders", "--json"),
    ],
    ids=" ".join,
)
def test_no_command_passes_on_what_would_steer_a_terminal(
    place: Place, arguments: tuple[str, ...]
) -> None:
    given = [each.format(today=place.today) for each in arguments]
    runner = CliRunner(env={"COLUMNS": "100"})

    result = runner.invoke(app, ["--project", str(place.folder), *given], color=True)

    shown = _OURS.sub("", result.stdout + result.stderr)
    assert shown, result.exception
    assert [line for line in shown.split("\n") if not line.isprintable()] == []
    assert "\u202e" not in shown


def test_a_foreign_scenario_does_not_either(tmp_path: Path) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text(
        f"name: {_NAME}\nstart: 2026-03-02T12:00:00Z\nuntil: 2026-03-02T13:00:00Z\n"
        "pipelines:\n"
        "  - pipeline: {id: a, owner: %s}\n"
        "    schedule: {trigger: {key: x, check: exists}}\n"
        "    validation: {rules: [{key: x, check: equals, field: a, value: %s}]}\n"
        "    job: {type: command, config: {command: ['true']}}\n"
        "timeline: [{at: +1m, sensor: {pipeline: a, key: x, data: {a: %s}}}]\n"
        "expect: [{event: JOB_COMPLETED}]\n" % (_NAME, _NAME, json.dumps(EVIL + "x"))
    )

    result = CliRunner().invoke(app, ["simulate", str(path)], color=True)

    shown = _OURS.sub("", result.stdout + result.stderr)
    assert "all is well" in shown
    assert [line for line in shown.split("\n") if not line.isprintable()] == []


def test_an_error_that_holds_it_does_not_either(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--project", str(tmp_path), "sensor", "put", "no-such", "x", "--json", EVIL]
    monkeypatch.setattr("sys.argv", ["interlock", *arguments])

    with pytest.raises(SystemExit):
        main()

    assert all(line.isprintable() for line in capsys.readouterr().err.split("\n"))
    with pytest.raises(ConfigError):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
