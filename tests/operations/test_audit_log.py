"""The audit log: a request is recorded before it is done, and its outcome after."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.callers import AuditEntry, RequestOutcome
from interlock.errors import ConfigError, ConflictError, NotFoundError, UnavailableError
from interlock.operations.requests import AuditQuery, NewPause, NewToken
from interlock.operations.store_commands import StoreCommands
from interlock.operations.store_queries import StoreQueries
from web.house import House, opened


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


def entries(house: House) -> list[AuditEntry]:
    return house.home.queries.audit().items


def test_what_was_done_is_done(house: House) -> None:
    house.home.commands("ada").pause("silver-orders", NewPause(reason="upstream moves"))
    (entry,) = entries(house)
    assert (entry.actor, entry.action, entry.pipeline_id) == ("ada", "pause", "silver-orders")
    assert (entry.reason, entry.outcome, entry.problem) == (
        "upstream moves",
        RequestOutcome.DONE,
        "",
    )


def test_what_was_refused_says_why(house: House) -> None:
    wanted = NewToken(name="ci", scopes=("read",))
    house.home.commands("ada").create_token(wanted)
    with pytest.raises(ConflictError):
        house.home.commands("ada").create_token(wanted)
    with pytest.raises(NotFoundError):
        house.home.commands("ada").revoke_token("nobody")
    assert [(e.action, e.outcome, e.problem) for e in entries(house)] == [
        ("token revoke", RequestOutcome.REFUSED, "there is no token nobody"),
        ("token create", RequestOutcome.REFUSED, "a token named ci already exists"),
        ("token create", RequestOutcome.DONE, ""),
    ]


class Broken:
    """A port that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def fail(*_: Any) -> Any:
            raise self._error

        return fail


class Holding:
    """A state file of which one part is another."""

    def __init__(self, file: Any, **parts: Any) -> None:
        self._file, self._parts = file, parts

    def __getattr__(self, name: str) -> Any:
        return self._parts.get(name) or getattr(self._file, name)


class Forgetful:
    """A log that can't note outcomes."""

    def __init__(self, audit: Any) -> None:
        self.note, self.newest = audit.note, audit.newest

    def settle(self, *_: Any) -> bool:
        raise UnavailableError("the disk is full")


def commands(house: House, **parts: Any) -> StoreCommands:
    file: Any = Holding(house.home.store, **parts)
    return StoreCommands("ada", house.home.ports, house.home.alerting, timedelta(minutes=5), file)


@pytest.mark.parametrize(
    ("error", "problem"),
    [(UnavailableError("the disk is full"), "the disk is full"), (KeyError("secret"), "KeyError")],
)
def test_what_failed_says_why_and_no_more_than_its_kind_if_unforeseen(
    house: House, error: Exception, problem: str
) -> None:
    with pytest.raises(type(error)):
        commands(house, retention=Broken(error)).prune()
    (entry,) = entries(house)
    assert (entry.action, entry.outcome, entry.problem) == ("prune", RequestOutcome.FAILED, problem)


def test_what_was_done_stays_done_if_its_outcome_can_not_be_noted(house: House) -> None:
    config = commands(house, audit=Forgetful(house.home.store.audit)).pause("silver-orders")
    assert config.paused_since is not None
    (entry,) = entries(house)
    assert entry.outcome is RequestOutcome.UNKNOWN


def test_pages_of_the_log_join_without_gap_or_repeat(house: House) -> None:
    for n in range(7):
        house.home.commands(f"user-{n}").pause("silver-orders")
    seen: list[str] = []
    cursor = None
    while True:
        page = house.home.queries.audit(AuditQuery(limit=3, cursor=cursor))
        seen += [entry.actor for entry in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert seen == [f"user-{n}" for n in range(6, -1, -1)]


def test_the_log_is_asked_over_http(house: House) -> None:
    house.home.commands("ada").pause("silver-orders")
    house.home.commands("bob").pause("gold-orders")
    answer = house.client.get("/api/v1/audit", params={"pipeline": "gold-orders"})
    (entry,) = answer.json()["items"]
    assert (entry["actor"], entry["target"], entry["outcome"]) == ("bob", "gold-orders", "done")
    assert house.client.get("/api/v1/audit", params={"actor": "eve"}).json()["items"] == []
    assert house.client.get("/api/v1/audit", params={"cursor": "x"}).status_code == 422
    assert house.client.get("/api/v1/audit", params={"who": "ada"}).status_code == 422


def test_a_backend_without_a_log_says_who_has_one(house: House) -> None:
    home = house.home
    queries = StoreQueries(home.ports, home.history, home.alerting, timedelta(minutes=5))
    with pytest.raises(NotFoundError, match="CloudTrail"):
        queries.audit()


def test_an_invalid_cursor_is_refused(house: House) -> None:
    with pytest.raises(ConfigError, match="invalid cursor"):
        house.home.queries.audit(AuditQuery(cursor="InAi"))
