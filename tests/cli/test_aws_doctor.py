"""`interlock --backend aws doctor`: what is wrong with an installation on AWS, and what mends it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aws.homes import NAMES, client, table_form
from aws.installation import NAME, complete_installation, dead_letter
from aws.table_server import refused
from cli.aws_place import AwsPlace, installed
from contracts.samples import wanted
from declared import declared
from interlock.cli.aws_checkup import AwsCheckup
from interlock.cli.checkup import Finding, Level
from interlock.domain import canonical
from interlock.errors import UnavailableError
from interlock.usecases.adopt_config import adopt_config
from interlock.wiring.aws_backend import aws_queries, open_aws_backend
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.clock import utc_now


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsPlace]:
    """A whole installation, with a pipeline in force and a watchdog that has just passed."""
    with installed(tmp_path, monkeypatch) as place:
        complete_installation()
        place.shown("watchdog")
        yield place


def wrong(place: AwsPlace) -> list[dict[str, Any]]:
    """Everything that is not fine."""
    code = 1 if any(each["level"] == "wrong" for each in place.json_of_any("doctor")) else 0
    return [each for each in place.json("doctor", code=code) if each["level"] != "fine"]


def test_a_whole_installation_has_nothing_wrong(place: AwsPlace) -> None:
    assert wrong(place) == []
    shown = place.shown("doctor")
    for part in (*vars(NAMES).values(), "pipeline", "events", "timers", "watchdog", "undelivered"):
        assert part in shown
    assert "1 pipeline in force, as deployed" in shown
    assert "the local clock and the AWS clock agree" in shown


def test_a_table_that_is_not_as_it_must_be_says_what_is_wrong_with_it(place: AwsPlace) -> None:
    tables = client("dynamodb")
    tables.delete_table(TableName=NAMES.events)
    form = table_form(NAMES.rerun)
    tables.create_table(**{**form, "TableName": NAMES.events})
    tables.update_table(TableName=NAMES.joblog, StreamSpecification={"StreamEnabled": False})

    found = {each["what"]: each["remedy"] for each in wrong(place)}

    assert f"{NAMES.events}: it has no index GSI1" in found
    assert f"{NAMES.events}: its TTL attribute is not set, but must be ttl" in found
    assert f"{NAMES.joblog}: its stream is off, but must be NEW_IMAGE" in found
    assert "terraform apply" in found[f"{NAMES.events}: it has no index GSI1"]


def test_what_is_not_there_is_named(place: AwsPlace) -> None:
    client("lambda").delete_function(FunctionName=f"{NAME}-orchestrator")
    client("sqs").delete_queue(
        QueueUrl=client("sqs").get_queue_url(QueueName=f"{NAME}-control-dlq")["QueueUrl"]
    )
    client("scheduler").delete_schedule_group(Name=f"{NAME}-timers")
    client("events").delete_event_bus(Name=f"{NAME}-events")

    found = {each["what"] for each in wrong(place)}

    assert found >= {
        f"{NAME}-{part} does not exist" for part in ("orchestrator", "control-dlq", "events")
    }
    assert any(f"{NAME}-timers" in each for each in found)


def test_unhandled_messages_are_counted_with_their_remedy(
    place: AwsPlace,
) -> None:
    dead_letter("control-dlq")
    dead_letter("alerts-dlq")
    dead_letter("alerts-dlq")

    found = {each["what"]: each["remedy"] for each in wrong(place)}

    assert "interlock --backend aws watchdog" in found[f"{NAME}-control-dlq holds 1 message"]
    assert "start-message-move-task" in found[f"{NAME}-alerts-dlq holds 2 messages"]


def test_retry_says_what_there_is_to_try_again(place: AwsPlace) -> None:
    dead_letter("joblog-dlq")
    result = place.run("doctor", "--retry")
    assert result.exit_code == 1
    assert "Nothing is parked on AWS" in result.stderr
    assert f"{NAME}-joblog-dlq holds 1 message" in result.stdout


def test_configs_that_wait_and_configs_that_were_refused_are_reported(place: AwsPlace) -> None:
    pipelines = place.home.store.pipelines
    pipelines.want(wanted(declared("pipeline: {id: fresh}")))
    bad = msgspec.structs.replace(wanted(declared("pipeline: {id: bad}")), config={"pipeline": {}})
    pipelines.want(bad)
    adopt_config("bad", place.home.ports)

    found = {each["what"]: each for each in wrong(place) if each["check"] == "configs"}

    assert found["fresh: the deployed config is not in force yet"]["level"] == "note"
    (refused,) = (each for what, each in found.items() if what.startswith("refused: bad: "))
    assert "pipeline.id: " in refused["what"]
    assert refused["level"] == "wrong" and "CONFIG_REJECTED --pipeline bad" in refused["remedy"]
    assert "in force, as deployed" not in place.shown("doctor", code=1)


def test_rows_written_by_hand_that_were_refused_are_reported_with_their_paths(
    place: AwsPlace,
) -> None:
    """Such a row is in no listing: what is refused of it must be."""
    table = client("dynamodb")
    good = canonical.as_json(declared("pipeline: {id: silver-orders}"))
    for name in ("first", "second", "silver-orders"):  # the last over one that is in force
        config = {**good, "pipeline": {"id": name}, "job": {"type": "command", "retries": 3}}
        table.put_item(
            TableName=NAMES.control,
            Item={
                "PK": {"S": f"PIPELINE#{name}"},
                "SK": {"S": "CONFIG"},
                "config": {"S": canonical.encode(config)},
            },
        )
        adopt_config(name, place.home.ports)

    found = [each["what"] for each in wrong(place) if each["check"] == "configs"]

    assert [what.split(": ")[1] for what in found] == ["first", "second", "silver-orders"]
    assert all("job.retries: unknown key" in what for what in found)
    shown = place.run("status").output
    assert "3 files refused, see `interlock --backend aws doctor`" in shown
    assert [each["path"] for each in place.json("status")["refused"]] == ["job.retries"] * 3

    table.delete_item(
        TableName=NAMES.control, Key={"PK": {"S": "PIPELINE#first"}, "SK": {"S": "CONFIG"}}
    )
    place.declare("pipeline: {id: second}")
    place.declare()
    assert wrong(place) == []


def test_alert_routes_that_can_not_be_used_are_reported(place: AwsPlace) -> None:
    client("dynamodb").put_item(
        TableName=NAMES.events,
        Item={
            "PK": {"S": "PIPELINE#_system"},
            "SK": {"S": "ALERTS"},
            "config": {"S": '{"routes": [{"match": {}, "too": []}]}'},
        },
    )
    found = [each for each in wrong(place) if each["check"] == "alerts"]
    assert any("routes[0].too: unknown key" in each["what"] for each in found)
    assert all(each["level"] == "wrong" for each in found)


def test_files_that_differ_from_what_is_in_force_are_reported(place: AwsPlace) -> None:
    folder = place.folder / "pipelines"
    folder.mkdir()
    text = "pipeline: {{id: {name}}}\nschedule: {{trigger: {{key: a, check: exists}}}}\n"
    text += "validation: {{rules: [{{key: a, check: exists}}]}}\n"
    text += "job: {{type: command, config: {{command: [etl]}}}}\n"
    for name in ("silver-orders", "new-one"):
        (folder / f"{name}.yaml").write_text(text.format(name=name))

    found = {each["what"] for each in wrong(place)}

    assert "new-one is declared here but not in force on AWS" in found
    assert "silver-orders is declared differently here than it is in force on AWS" in found


# --- with clients that answer as a test says


def checkup(place: AwsPlace, answer: Any, ahead: timedelta = timedelta()) -> list[Finding]:
    """`answer` may raise for an operation; the clock here is so far ahead."""

    def make(service: str) -> Any:
        return _Between(client(service), answer)

    home: AwsBackend = open_aws_backend(
        place.folder, {}, make=make, clock=lambda: utc_now() + ahead
    )
    queries = aws_queries(home, timedelta(minutes=5))
    return AwsCheckup(home, queries, place.folder).findings()


class _Between:
    def __init__(self, client: Any, answer: Any) -> None:
        self._client, self._answer = client, answer

    def __getattr__(self, operation: str) -> Any:
        def call(**given: Any) -> Any:
            self._answer(operation)
            return getattr(self._client, operation)(**given)

        return call


def test_rights_that_are_missing_are_named_and_hide_nothing_else(place: AwsPlace) -> None:
    def answer(operation: str) -> None:
        if operation in _DENIED:
            raise refused(_DENIED[operation], "AccessDeniedException", "no")

    found = checkup(place, answer)

    notes = {each.what for each in found if each.level is Level.NOTE}
    assert f"can't check {NAMES.control}: the permission dynamodb:DescribeTable is missing" in notes
    assert any("lambda:GetFunctionConfiguration" in each for each in notes)
    assert any("sqs:GetQueueUrl" in each for each in notes)
    assert not [each for each in found if each.level is Level.WRONG]
    assert any("last good pass" in each.what for each in found)
    assert all("viewer_policy_json" in e.remedy for e in found if e.level is Level.NOTE)


_DENIED = {
    "describe_table": "DescribeTable",
    "get_function_configuration": "GetFunctionConfiguration",
    "get_queue_url": "GetQueueUrl",
}


@pytest.mark.parametrize(("ahead", "said"), [(600, "ahead of"), (-600, "behind"), (5, "agree")])
def test_clocks_that_differ_are_reported(place: AwsPlace, ahead: int, said: str) -> None:
    found = checkup(place, lambda operation: None, timedelta(seconds=ahead))
    (clock,) = (each.what for each in found if each.check == "clock")
    assert said in clock


def test_a_watchdog_that_sleeps_is_wrong_and_its_function_named(place: AwsPlace) -> None:
    found = checkup(place, lambda operation: None, timedelta(hours=1))
    (watchdog,) = (each for each in found if each.check == "watchdog")
    assert watchdog.level is Level.WRONG and f"{NAME}-watchdog" in watchdog.remedy


def test_a_check_that_breaks_is_a_finding(place: AwsPlace) -> None:
    def answer(operation: str) -> None:
        if operation == "describe_event_bus":
            raise RuntimeError("unforeseen")
        if operation == "describe_state_machine":
            raise refused("DescribeStateMachine", "ThrottlingException")

    found = {each.check: each.what for each in checkup(place, answer) if each.level is Level.WRONG}

    assert "the check itself failed: RuntimeError" in found["bus"]
    assert "ThrottlingException" in found["state machine"]


def test_whom_aws_does_not_know_can_check_nothing(place: AwsPlace) -> None:
    def answer(operation: str) -> None:
        raise refused("DescribeTable", "UnrecognizedClientException", "who are you")

    with pytest.raises(UnavailableError, match="AWS_PROFILE"):
        checkup(place, answer)
