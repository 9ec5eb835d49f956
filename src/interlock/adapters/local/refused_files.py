"""Refused files: what of the project could not be used when it was last read, for people who look."""

from collections.abc import Sequence

import msgspec

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder
from interlock.domain import canonical
from interlock.ports import Refusal

_KEY = "refused"
_refusals = decoder(list[Refusal]).decode


class SqliteRefusedFiles:
    """The whole list, replaced with each reading of the files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, refusals: Sequence[Refusal]) -> None:
        text = canonical.encode(list(refusals))
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
                (_KEY, text),
            )
        )

    def kept(self) -> list[Refusal]:
        """Nothing before the first reading, and for a list that this version can't read."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM meta WHERE key = ?", (_KEY,)
            ).fetchone()
        )
        try:
            return [] if row is None else _refusals(row[0])
        except msgspec.MsgspecError:
            return []
