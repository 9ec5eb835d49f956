"""Audit: tokens are identified by their hash, and the record of requests stays."""

from datetime import timedelta
from pathlib import Path

import pytest

from contracts.samples import NOW
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.tables import SCRIPTS
from interlock.domain.callers import AuditEntry, AuditFilter, RequestOutcome, Token

TOKEN = Token(name="ci", hash="f00", scopes=("observe",), created_at=NOW, pipelines=("p",))


def test_a_token_is_found_by_its_hash_until_it_is_revoked(store: Store) -> None:
    assert store.tokens.create(TOKEN)
    assert store.tokens.find("f00") == TOKEN
    assert store.tokens.find("ci") is None
    assert store.tokens.all() == [TOKEN]
    assert store.tokens.revoke("ci")
    assert not store.tokens.revoke("ci")
    assert store.tokens.find("f00") is None


def test_a_name_is_given_to_one_token(store: Store) -> None:
    assert store.tokens.create(TOKEN)
    assert not store.tokens.create(Token(name="ci", hash="bad", scopes=(), created_at=NOW))
    assert store.tokens.find("bad") is None


def an_entry(action: str = "pause", actor: str = "ada", pipeline_id: str = "") -> AuditEntry:
    return AuditEntry(
        at=NOW, actor=actor, action=action, target="p", reason="because", pipeline_id=pipeline_id
    )


def test_the_newest_entries_come_first(store: Store) -> None:
    for action in ("pause", "resume", "rerun"):
        store.audit.note(an_entry(action))
    assert [entry.action for entry in store.audit.newest(2)] == ["rerun", "resume"]


def test_an_entry_has_no_outcome_until_it_is_settled_and_the_first_outcome_stays(
    store: Store,
) -> None:
    seq = store.audit.note(an_entry())
    assert store.audit.newest(1)[0].outcome is RequestOutcome.UNKNOWN
    assert store.audit.settle(seq, RequestOutcome.REFUSED, "it is retired")
    assert not store.audit.settle(seq, RequestOutcome.DONE)
    assert not store.audit.settle(seq + 1, RequestOutcome.DONE)
    (entry,) = store.audit.newest(1)
    assert (entry.seq, entry.outcome, entry.problem) == (seq, "refused", "it is retired")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AuditFilter(), ["token create", "rerun", "pause"]),
        (AuditFilter(actor="ada"), ["rerun", "pause"]),
        (AuditFilter(action="pause"), ["pause"]),
        (AuditFilter(pipeline_id="p"), ["rerun", "pause"]),  # not the token of that name
        (AuditFilter(pipeline_id="p", action="rerun", actor="ada"), ["rerun"]),
        (AuditFilter(since=NOW), ["token create", "rerun", "pause"]),
        (AuditFilter(since=NOW + timedelta(seconds=1)), []),
        (AuditFilter(until=NOW), []),
        (AuditFilter(until=NOW + timedelta(seconds=1)), ["token create", "rerun", "pause"]),
        (AuditFilter(actor="' OR TRUE --"), []),
    ],
)
def test_entries_are_found_by_who_what_and_when(
    store: Store, wanted: AuditFilter, found: list[str]
) -> None:
    store.audit.note(an_entry("pause", pipeline_id="p"))
    store.audit.note(an_entry("rerun", pipeline_id="p"))
    store.audit.note(an_entry("token create", actor="bob"))
    assert [entry.action for entry in store.audit.newest(9, wanted)] == found


def test_an_unreadable_entry_does_not_end_the_list(store: Store) -> None:
    first, *rest = [store.audit.note(an_entry(str(n))) for n in range(5)]
    store.database.write(
        lambda connection: connection.execute(
            "UPDATE audit SET entry = '{' WHERE seq IN (?, ?)", (rest[-1], rest[-2])
        )
    )
    assert [entry.action for entry in store.audit.newest(2)] == ["2", "1"]
    assert [entry.seq for entry in store.audit.newest(2, before=rest[0])] == [first]


def test_entries_of_an_older_file_have_no_outcome_and_know_their_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "interlock.db"
    texts = [
        '{"action":"rerun","actor":"ada","at":"2026-03-03T12:00:00Z","target":"p/daily/2026-03-03"}',
        '{"action":"pause","actor":"ada","at":"2026-03-03T12:00:00Z","target":"p"}',
        '{"action":"token create","actor":"ada","at":"2026-03-03T12:00:00Z","target":"p"}',
    ]
    with Database(path, scripts=SCRIPTS[:5]) as old:
        statement = "INSERT INTO audit (at, entry) VALUES (1, ?)"
        rows = [(text,) for text in texts]
        old.write(lambda connection: connection.executemany(statement, rows))
    with Database(path) as database:
        found = Store(database, lambda: NOW).audit.newest(9, AuditFilter(pipeline_id="p"))
    assert [(entry.action, entry.outcome) for entry in found] == [
        ("pause", RequestOutcome.UNKNOWN),
        ("rerun", RequestOutcome.UNKNOWN),
    ]
