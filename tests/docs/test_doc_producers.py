"""The examples of producers run as they stand, each against a stand-in of what it talks to."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from doc_pages import ROOT, Block, blocks
from moto import mock_aws

from tiny_server import Said, Tiny, tiny_server

PAGE = ROOT / "docs" / "howto" / "report-readings.md"
PATH = "/api/v1/pipelines/silver-orders/sensors/orders-landed"
(SCRIPT,), (DAG,), (FUNCTION,) = (
    [block for block in blocks(PAGE) if block.mark == mark]
    for mark in ("with-server", "with-airflow", "with-aws")
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tiny]:
    with tiny_server(lambda asked: Said({"key": "orders-landed"})) as opened:
        monkeypatch.setenv("INTERLOCK_URL", opened.url)
        monkeypatch.delenv("INTERLOCK_TOKEN", raising=False)
        yield opened


def run(block: Block) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(block.text, f"report-readings.md:{block.line}", "exec"), names)
    return names


def test_the_script_reports(server: Tiny) -> None:
    run(SCRIPT)
    (asked,) = server.asked
    assert (asked.path, asked.body) == (PATH, {"count": 4200, "date": "2026-03-03"})


def test_the_task_of_airflow_reports_for_its_date(
    server: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow itself is too large to be installed for this: its decorators call what they decorate."""
    for name, module in _airflow("2026-03-03").items():
        monkeypatch.setitem(sys.modules, name, module)
    run(DAG)
    (asked,) = server.asked
    assert (asked.path, asked.body) == (PATH, {"count": 4200, "date": "2026-03-03"})


def test_the_function_writes_the_control_table(monkeypatch: pytest.MonkeyPatch) -> None:
    with _control_table(monkeypatch) as table:
        handler = run(FUNCTION)["handler"]
        handler({"Records": [{"s3": {"object": {"key": "orders/2026-03-03/part-0"}}}]}, None)
        (item,) = table.scan()["Items"]
    assert (item["PK"], item["SK"]) == ("PIPELINE#silver-orders", "SENSOR#orders-landed")
    assert item["data"] == {"file": "orders/2026-03-03/part-0", "date": "2026-03-03"}


def _airflow(date: str) -> dict[str, ModuleType]:
    def task(work: Callable[..., Any]) -> Callable[..., Any]:
        given = {"ds": date} if "ds" in work.__annotations__ else {}
        return lambda *args: work(*args, **given)

    def dag(**_: Any) -> Callable[[Callable[[], None]], Callable[[], None]]:
        return lambda work: work

    decorators = ModuleType("airflow.decorators")
    decorators.__dict__.update(task=task, dag=dag)
    pendulum = ModuleType("pendulum")
    pendulum.__dict__.update(datetime=lambda *parts: parts)
    return {
        "airflow": ModuleType("airflow"),
        "airflow.decorators": decorators,
        "pendulum": pendulum,
    }


@contextmanager
def _control_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("CONTROL_TABLE", "dev-interlock-control")
    assert "AWS_ENDPOINT_URL" not in os.environ
    with mock_aws():
        yield boto3.resource("dynamodb").create_table(
            TableName="dev-interlock-control",
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")
            ],
            BillingMode="PAY_PER_REQUEST",
        )
