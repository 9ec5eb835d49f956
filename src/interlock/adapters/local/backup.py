"""Backup: a sound copy of the store, made while it is in use."""

import os
import sqlite3
from pathlib import Path

from interlock.adapters.local.database import Database
from interlock.errors import UnavailableError

_PAGES = 100


def back_up(database: Database, target: Path) -> None:
    """Copy one moment of the store. The target appears whole and checked, or not at all."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        database.read(lambda connection: _copy(connection, unfinished))
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _copy(source: sqlite3.Connection, path: Path) -> None:
    copy = sqlite3.connect(path, isolation_level=None)
    try:
        source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        source.backup(copy, pages=_PAGES)
        problems = [text for (text,) in copy.execute("PRAGMA integrity_check(10)")]
    finally:
        copy.close()
    if problems != ["ok"]:
        raise UnavailableError(f"the copy is not sound: {'; '.join(problems)}")
