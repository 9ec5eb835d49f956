"""Audit: who did what, and the tokens that identify them."""

import sqlite3
from collections.abc import Iterator

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, micros
from interlock.domain import canonical
from interlock.domain.callers import AuditEntry, AuditFilter, RequestOutcome, Token


class SqliteTokens:
    """Looked up by the hash of the token that a caller presents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, token: Token) -> bool:
        """False if the name is taken."""
        done = self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO tokens (name, hash, token) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO NOTHING",
                (token.name, token.hash, canonical.encode(token)),
            )
        )
        return done.rowcount == 1

    def find(self, digest: str) -> Token | None:
        """An unreadable token grants nothing."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {TOKENS.columns} FROM tokens WHERE hash = ?", (digest,)
            ).fetchall()
        )
        return next(iter(TOKENS.all(self._database, rows)), None)

    def all(self) -> list[Token]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {TOKENS.columns} FROM tokens ORDER BY name"
            ).fetchall()
        )
        return TOKENS.all(self._database, rows)

    def revoke(self, name: str) -> bool:
        """False if no token has that name."""
        done = self._database.write(
            lambda connection: connection.execute("DELETE FROM tokens WHERE name = ?", (name,))
        )
        return done.rowcount == 1


class SqliteAudit:
    """Entries are only added, and each is settled once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, entry: AuditEntry) -> int:
        def unit(connection: sqlite3.Connection) -> int:
            (seq,) = connection.execute(
                "INSERT INTO audit (at, entry) VALUES (?, ?) RETURNING seq",
                (micros(entry.at), canonical.encode(entry)),
            ).fetchone()
            return int(seq)

        return self._database.write(unit)

    def settle(self, seq: int, outcome: RequestOutcome, problem: str = "") -> bool:
        done = self._database.write(
            lambda connection: connection.execute(
                "UPDATE audit SET outcome = ?, problem = ? WHERE seq = ? AND outcome IS NULL",
                (outcome, problem, seq),
            )
        )
        return done.rowcount == 1

    def newest(
        self, limit: int, wanted: AuditFilter = AuditFilter(), before: int | None = None
    ) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        while True:
            rows = self._rows(limit, wanted, before)
            found += AUDIT.all(self._database, rows)
            if len(rows) < limit or len(found) >= limit:
                return found[:limit]
            before = rows[-1][0]  # unreadable entries must not make a page look like the last

    def _rows(self, limit: int, wanted: AuditFilter, before: int | None) -> list[Row]:
        tests = dict(_conditions(wanted, before))
        where = " AND ".join(tests) or "TRUE"
        return self._database.read(
            lambda connection: connection.execute(
                f"SELECT {AUDIT.columns} FROM audit WHERE {where} ORDER BY seq DESC LIMIT ?",
                (*tests.values(), limit),
            ).fetchall()
        )


def _conditions(wanted: AuditFilter, before: int | None) -> Iterator[tuple[str, str | int]]:
    if before is not None:
        yield "seq < ?", before
    if wanted.actor is not None:
        yield "actor = ?", wanted.actor
    if wanted.action is not None:
        yield "action = ?", wanted.action
    if wanted.pipeline_id is not None:
        yield "pipeline = ?", wanted.pipeline_id
    if wanted.since is not None:
        yield "at >= ?", micros(wanted.since)
    if wanted.until is not None:
        yield "at < ?", micros(wanted.until)


def _settled(row: Row) -> AuditEntry:
    """Rows from before outcomes were noted have none."""
    seq, entry, outcome, problem = row
    return msgspec.structs.replace(
        _entry(entry),
        seq=seq,
        outcome=RequestOutcome.UNKNOWN if outcome is None else RequestOutcome(outcome),
        problem=problem or "",
    )


_token = decoder(Token).decode
_entry = decoder(AuditEntry).decode

TOKENS = Reader("tokens", "name, token", 1, lambda row: _token(row[1]))
AUDIT = Reader("audit", "seq, entry, outcome, problem", 1, _settled)
