"""What each command prints with --json, run for real, fits the schema that `interlock schema` prints."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from click.testing import Result

from alert_samples import told
from cli.place import ORDERS, Place
from cli.served import served
from cli.test_retire_command import lose
from interlock.cli import app
from interlock.cli.json_answers import FOLLOW, answers_of, commands_answering
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.threads import opened
from interlock.domain.run import RunKey
from interlock.simulation.scenario import JobScript
from interlock.wiring.local_backend import LocalBackend

_SCENARIO = Path(__file__).parents[2] / "scenarios" / "drift-rerun.yaml"
_DONE, _ALERTED = "2026-03-03", "2026-03-04"

#: Command lines for each command that prints JSON; each form of its answer is met.
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "validate": [
        ("--format", "json", "{folder}"),
        ("--format", "json", "{broken}"),
        ("--format", "json", "--against", "running", "{folder}"),
    ],
    "token create": [("ada", "--scope", "read", "--json")],
    "token list": [("--json",)],
    "simulate": [
        ("--json", str(_SCENARIO)),
        ("--json", "{broken}"),
        ("--json", "--random", "1"),
    ],
    "sensor list": [("silver-orders", "--json"), ("gold", "--json")],
    "status": [("--json",)],
    "why": [("silver-orders", "--json"), ("silver-orders", _DONE, "--json"), ("gold", "--json")],
    "runs": [("--json",), ("--json", "--limit", "1")],
    "run": [("silver-orders", _DONE, "--json")],
    "logs": [("silver-orders", _DONE, "--json"), ("silver-orders", _DONE, "--json", "--follow")],
    "events": [("--json",), ("--json", "--alerts"), ("--json", "--type", "SLA_BREACH")],
    "audit": [("--json",)],
    "rerun": [("silver-orders", _DONE, "--force", "--reason", "x", "--json", "--wait", "20")],
    "cancel": [("silver-orders", "{today}", "--reason", "x", "--json")],
    "backfill": [
        ("silver-orders", "2026-03-01", "2026-03-04", "--dry-run", "--json"),
        ("gold", "2026-03-29T02", "2026-03-29T02", "--reason", "x", "--json"),  # never occurs
        ("silver-orders", "2026-03-01", "2026-03-02", "--reason", "x", "--detach", "--json"),
    ],
    "backfills": [("--json",)],
    "backfills show": [("{backfill}", "--json")],
    "backfills pause": [("{backfill}", "--reason", "x", "--json")],
    "backfills resume": [("{backfill}", "--reason", "x", "--json")],
    "backfills cancel": [("{backfill}", "--reason", "x", "--json")],
    "pause": [("gold", "--reason", "it moves", "--json")],
    "resume": [("gold", "--dry-run", "--json"), ("gold", "--json")],
    "retire": [("gone", "--json")],
    "watchdog": [("--json",)],
    "backup": [("{folder}/copy.db", "--json")],
    "prune": [("--dry-run", "--json"), ("--runs-before", "2026-01-01", "--yes", "--json")],
    "doctor": [("--json",)],
    "skip": [("silver-orders", "2026-03-05", "--reason", "x", "--json")],
    "unskip": [("silver-orders", "2026-03-06", "--reason", "x", "--json")],
    "mark": [("silver-orders", "2026-03-07", "done", "--reason", "x", "--json")],
    "alert routes": [("--json",)],
    "alert ack": [("silver-orders", _ALERTED, "--reason", "x", "--json")],
    "alert snooze": [("silver-orders", _ALERTED, "--for", "2h", "--reason", "x", "--json")],
    "alert unsnooze": [("silver-orders", _ALERTED, "--reason", "x", "--json")],
}
_GOLD = """\
pipeline: {id: gold}
schedule: {cron: '0 * * * *', timezone: Europe/Berlin}
validation: {rules: [{key: x, check: exists}]}
sla: {deadline: ':30', expectedDuration: 10m}
job: {type: command, config: {command: ["true"]}}
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Done, waiting, failed, paused: something of each, and a server that answers."""
    place = Place(tmp_path_factory.mktemp("busy"))
    place.scripts["silver-orders"] = (JobScript(),) * 20
    place.declare(ORDERS)
    place.declare(_GOLD)
    place.put(count=1000, date=_DONE)
    place.wait(minutes=10)
    place.put(count=1)
    place.put(key="x", pipeline="gold", n=1.5, text="é", nested={"a": [1, None]})
    (place.folder / "broken.yaml").write_text("pipeline: {id: broken, owner: 3}\n")
    event = told(key=RunKey("silver-orders", "stream", _ALERTED), message="it failed")

    def alert(home: LocalBackend) -> None:
        home.store.events.publish([event])
        assert home.store.threads.save(opened(event, Target("console"), home.ports.clock()))

    place.happen(alert)
    for date in ("2026-03-06", "2026-03-07"):
        place.put(count=1, date=date)
    assert place.run("skip", "silver-orders", "2026-03-06", "--reason", "x").exit_code == 0
    place.declare(ORDERS.replace("silver-orders", "gone"))
    lose(place, "gone")
    assert place.run("token", "create", "eve", "--scope", "read").exit_code == 0
    with served(place):
        yield place


def run(place: Place, name: str, arguments: tuple[str, ...]) -> Result:
    given = [
        each.format(
            today=place.today,
            folder=place.folder,
            broken=place.folder / "broken.yaml",
            backfill=_backfill(place) if "{backfill}" in arguments else "",
        )
        for each in arguments
    ]
    return place.run(*name.split(), *given)


def _backfill(place: Place) -> str:
    """A backfill that can be steered: the newest, or a new one if that is over."""
    newest = place.json("backfills", "--pipeline", "gold")
    if newest and newest[0]["state"] in ("RUNNING", "PAUSED"):
        return str(newest[0]["id"])
    dates = ("gold", "2026-02-01T00", "2026-02-01T09", "--reason", "x", "--detach")
    return str(place.json("backfill", *dates)["id"])


def commands() -> dict[str, click.Command]:
    return dict(commands_answering(app, click.Context(app, **app.context_settings)))


def schema_of(place: Place, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(place.run("schema", *name.split()).stdout)
    return shown


def closed(node: Any) -> Any:
    """The same schema, where an object has no properties but those that it names."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: closed(each) for key, each in node.items()}
    if node.get("type") == "object" and "properties" in node:
        found.setdefault("additionalProperties", False)
    return found


def test_every_command_that_prints_json_is_run_here() -> None:
    assert set(commands()) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_document_fits_the_schema_of_its_command(busy: Place, name: str) -> None:
    schema = closed(schema_of(busy, name))
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    met: list[Any] = []
    for arguments in COMMANDS[name]:
        result = run(busy, name, arguments)
        assert result.stdout, (arguments, result.output, result.exception)
        if FOLLOW in arguments:
            documents = [json.loads(line) for line in result.stdout.splitlines()]
        else:
            documents = [json.loads(result.stdout)]
        for document in documents:
            wrong = [f"{each.json_path}: {each.message}" for each in checker.iter_errors(document)]
            assert not wrong, (arguments, wrong[:3])
        met.extend(documents)
    assert any(met), "nothing was printed that a schema could refuse"


def test_a_schema_refuses_what_the_command_never_prints(busy: Place) -> None:
    checker = jsonschema.Draft202012Validator(schema_of(busy, "runs"))
    (run, *_) = busy.json("runs")
    assert checker.is_valid([run])
    assert not checker.is_valid([{**run, "attempt": "first"}])
    assert not checker.is_valid({"items": [run]})


def test_an_option_that_changes_the_document_has_its_own_form(busy: Place) -> None:
    titles = [form["title"] for form in schema_of(busy, "events")["anyOf"]]
    assert titles == ["usually", "with --alerts", "each line, with --follow"]


def test_only_types_are_declared_that_have_a_schema() -> None:
    for name, command in commands().items():
        assert all(kind is not Any for kind in answers_of(command).values()), name


def test_a_command_without_json_names_those_that_have_it(busy: Place) -> None:
    result = busy.run("schema", "serve")
    assert "serve is no command that prints JSON; those that do: validate," in str(result.exception)
    assert "did you mean runs?" in str(busy.run("schema", "rnus").exception)
