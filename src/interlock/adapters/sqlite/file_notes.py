"""File notes: the problems of the project's files at the last check."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import decoder
from interlock.domain import canonical
from interlock.domain.config import RefusedConfig
from interlock.domain.missing import Missing

T = TypeVar("T")


class SqliteFileNotes(Generic[T]):
    """A whole list, replaced at each check."""

    def __init__(self, database: Database, key: str, kind: type[list[T]]) -> None:
        self._database = database
        self._key = key
        self._read = decoder(kind).decode

    def keep(self, notes: Sequence[T]) -> None:
        text = canonical.encode(list(notes))
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
                (self._key, text),
            )
        )

    def kept(self) -> list[T]:
        """Empty before the first check, and for a list that this version can't read."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM meta WHERE key = ?", (self._key,)
            ).fetchone()
        )
        try:
            return [] if row is None else self._read(row[0])
        except msgspec.MsgspecError:
            return []


def refused_files(database: Database) -> SqliteFileNotes[RefusedConfig]:
    """The refused files."""
    return SqliteFileNotes(database, "refused", list[RefusedConfig])


def missing_files(database: Database) -> SqliteFileNotes[Missing]:
    """The pipelines in force whose files were gone."""
    return SqliteFileNotes(database, "missing", list[Missing])
