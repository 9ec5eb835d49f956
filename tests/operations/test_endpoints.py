"""Endpoints: every query and command has its row, and a remote backend is derived from the rows."""

import inspect
from typing import Any

import pytest

from interlock.cli.remote import remote_commands, remote_queries
from interlock.client import Client
from interlock.operations.commands import Commands
from interlock.operations.endpoints import ENDPOINTS, Endpoint
from interlock.operations.queries import Queries
from interlock.operations.requests import NewPause, NoQuery, Paging, RunsQuery
from interlock.operations.store_commands import StoreCommands
from interlock.operations.store_queries import StoreQueries


def _declared(protocol: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if name[0] != "_"}


def test_each_query_and_each_command_has_one_row() -> None:
    for protocol, is_query in ((Queries, True), (Commands, False)):
        rows = [row.asks for row in ENDPOINTS if row.is_query is is_query]
        assert sorted(rows) == sorted(_declared(protocol))


def test_names_and_addresses_are_unique() -> None:
    assert len({row.name for row in ENDPOINTS}) == len(ENDPOINTS)
    assert len({(row.method, row.path) for row in ENDPOINTS}) == len(ENDPOINTS)


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: row.name)
def test_a_row_reads_what_it_takes_from_the_declaration(row: Endpoint) -> None:
    assert row.summary.endswith(".")
    parameters = set(inspect.signature(row.operation).parameters) - {"self"}
    assert {*row.path_parts, row.query_name, row.body_name} - {None} == parameters
    assert (row.body is None) == (row.body_name is None)
    assert issubclass(row.query, NoQuery.__mro__[1])


@pytest.mark.parametrize(
    ("store", "protocol"), [(StoreQueries, Queries), (StoreCommands, Commands)]
)
def test_what_is_declared_is_what_the_store_answers(store: type, protocol: type) -> None:
    for name in _declared(protocol):
        declared = inspect.signature(getattr(protocol, name)).parameters
        answered = inspect.signature(getattr(store, name)).parameters
        assert list(declared) == list(answered), name
        assert [p.default for p in declared.values()] == [p.default for p in answered.values()]


class Recording(Client):
    """A client that answers nothing and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def call(self, *given: Any, **named: Any) -> Any:
        self.asked.append(given)
        return type("Response", (), {"body": b""})()


def test_a_remote_backend_calls_what_the_row_says() -> None:
    client = Recording()
    remote_queries(client).run("a/b", "daily", "2026-03-03")
    remote_queries(client).runs(RunsQuery(pipeline="p", limit=5))
    remote_queries(client).pipelines()
    remote_commands(client).pause("p", NewPause(reason="why"))
    assert [each[:2] for each in client.asked] == [
        ("GET", "/api/v1/runs/a%2Fb/daily/2026-03-03"),
        ("GET", "/api/v1/runs"),
        ("GET", "/api/v1/pipelines"),
        ("POST", "/api/v1/pipelines/p/pause"),
    ]
    assert client.asked[1][2] == {
        "pipeline": "p",
        "limit": 5,
        "cursor": None,
        "from": None,
        "to": None,
        "status": None,
    }
    assert client.asked[3][3] == {"until": None, "reason": "why"}


def test_what_is_no_operation_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        getattr(remote_queries(Recording()), "pause")  # noqa: B009 - the type has no such name


def test_defaults_are_the_same_at_every_door() -> None:
    assert Paging().limit == RunsQuery().limit == 100
