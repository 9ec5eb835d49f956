"""The command line on the AWS home: the same commands, over tables that moto keeps."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from aws.functions import ENVIRONMENT
from aws.homes import MACHINE, NAMES, REGION, TARGETS, client, table_form
from contracts.samples import wanted
from declared import declared
from interlock.cli import app
from interlock.usecases.adopt_config import adopt_config
from interlock.wiring.aws_backend import open_aws_backend

_NAMES = (
    "CONTROL_TABLE", "JOBLOG_TABLE", "RERUN_TABLE", "EVENTS_TABLE", "EVENT_BUS_NAME",
    "STATE_MACHINE_ARN", "SFN_TIMEOUT_SECONDS", "SCHEDULER_GROUP_NAME", "SCHEDULER_ROLE_ARN",
    "UNDELIVERED_QUEUE_ARN", "SLA_MONITOR_ARN", "STREAM_ROUTER_ARN", "ENVIRONMENT",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose interlock.toml names an installation with one pipeline in force."""
    lines = [f'{name.lower()} = "{ENVIRONMENT[name]}"' for name in _NAMES]
    text = "\n".join(["[aws]", f'region = "{REGION}"', *lines])
    (tmp_path / "interlock.toml").write_text(text + "\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        for table in (NAMES.control, NAMES.joblog, NAMES.rerun, NAMES.events):
            client("dynamodb").create_table(**table_form(table))
        client("events").create_event_bus(Name=ENVIRONMENT["EVENT_BUS_NAME"])
        client("scheduler").create_schedule_group(Name=ENVIRONMENT["SCHEDULER_GROUP_NAME"])
        client("stepfunctions").create_state_machine(
            name=MACHINE.rsplit(":", 1)[1], definition="{}", roleArn=TARGETS.role_arn
        )
        _adopt(tmp_path)
        yield tmp_path


def _adopt(project: Path) -> None:
    home = open_aws_backend(project, os.environ, make=client)
    pipeline = declared("validation: {rules: [{key: orders, check: gte, field: count, value: 10}]}")
    home.store.pipelines.want(wanted(pipeline))
    adopt_config(pipeline.id, home.ports)


def run(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--project", str(project), "--backend", "aws", *arguments])


def test_a_reading_is_written_and_listed(project: Path) -> None:
    put = run(project, "sensor", "put", "silver-orders", "orders", "count=4200")
    assert put.exit_code == 0, put.output
    item: dict[str, Any] = client("dynamodb").get_item(
        TableName=NAMES.control,
        Key={"PK": {"S": "PIPELINE#silver-orders"}, "SK": {"S": "SENSOR#orders"}},
    )["Item"]
    assert item["data"]["M"]["count"] == {"N": "4200"}
    assert "orders" in run(project, "sensor", "list", "silver-orders").output


@pytest.mark.parametrize("command", [["why", "silver-orders"], ["runs"], ["events"]], ids=" ".join)
def test_looking_works_there_as_here(command: list[str], project: Path) -> None:
    done = run(project, *command, "--json")
    assert done.exit_code == 0, (done.output, done.exception)


def test_a_rerun_is_asked_for_and_a_pipeline_paused(project: Path) -> None:
    asked = run(project, "rerun", "silver-orders", "2026-03-02", "--reason", "late upstream")
    assert asked.exit_code == 0, (asked.output, asked.exception)
    assert run(project, "pause", "silver-orders").exit_code == 0
    assert "paused" in run(project, "status").output


def test_after_a_pass_of_the_watchdog_all_is_well(project: Path) -> None:
    before = run(project, "status", "--json")
    assert before.exit_code == 1 and '"lastPassAt": null' in before.output
    passed = run(project, "watchdog")
    assert passed.exit_code == 0, (passed.output, passed.exception)
    assert run(project, "status").exit_code == 0


def test_what_is_missing_is_said_all_at_once_with_its_remedy(tmp_path: Path) -> None:
    done = run(tmp_path, "status")
    assert done.exit_code != 0
    said = str(done.exception)
    assert all(name in said for name in _NAMES)
    assert "terraform output -raw interlock_toml" in said


def test_a_name_that_means_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text('[aws]\ncontrol_tabel = "x"\n')
    assert "control_tabel" in str(run(tmp_path, "status").exception)


def test_what_is_only_local_says_so(project: Path) -> None:
    assert "local home" in str(run(project, "backup", "copy.db").exception)
