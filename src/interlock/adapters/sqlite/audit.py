"""Audit: who did what, and the tokens that identify them."""

import sqlite3

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, decoder, micros
from interlock.domain import canonical
from interlock.domain.callers import AuditEntry, Token


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
    """Append-only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, entry: AuditEntry) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO audit (at, entry) VALUES (?, ?)",
                (micros(entry.at), canonical.encode(entry)),
            )

        self._database.write(unit)

    def newest(self, limit: int) -> list[AuditEntry]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {AUDIT.columns} FROM audit ORDER BY seq DESC LIMIT ?", (limit,)
            ).fetchall()
        )
        return AUDIT.all(self._database, rows)


_token = decoder(Token).decode
_entry = decoder(AuditEntry).decode

TOKENS = Reader("tokens", "name, token", 1, lambda row: _token(row[1]))
AUDIT = Reader("audit", "seq, entry", 1, lambda row: _entry(row[1]))
