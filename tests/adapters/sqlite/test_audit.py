"""Audit: tokens are known by their hash, and every action stays recorded."""

from contracts.samples import NOW
from interlock.adapters.sqlite.audit import AuditEntry, Token
from interlock.adapters.sqlite.store import Store

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


def test_the_newest_entries_come_first(store: Store) -> None:
    entries = [
        AuditEntry(at=NOW, actor="ada", action=action, target="p", reason="because")
        for action in ("pause", "resume", "rerun")
    ]
    for entry in entries:
        store.audit.note(entry)
    assert store.audit.newest(2) == [entries[2], entries[1]]
