"""Backup: a consistent copy of the store, made while it is in use."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.failures import raise_meaning
from interlock.adapters.sqlite.private import make_private
from interlock.errors import UnavailableError

#: Called after each step with the number of pages left, and the total.
Progress = Callable[[int, int], None]

_PAGES = 100


def back_up(
    database: Database, target: Path, progress: Progress = lambda left, total: None
) -> None:
    """Copy one snapshot of the store. The target appears complete and verified, or not at all."""
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        database.read(lambda connection: _copy(connection, unfinished, progress))
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _copy(source: sqlite3.Connection, path: Path, progress: Progress) -> None:
    make_private(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            # Hold this snapshot: otherwise the copy restarts with every write of another connection.
            source.execute("SELECT 1 FROM sqlite_schema").fetchone()
            source.backup(copy, pages=_PAGES, progress=lambda _, left, total: progress(left, total))
            problems = [text for (text,) in copy.execute("PRAGMA integrity_check(10)")]
    except sqlite3.Error as error:
        raise_meaning(error, str(path))
    if problems != ["ok"]:
        raise UnavailableError(
            "the state file is damaged, and its copy was discarded: replace it with the last backup"
            f" ({problems[0].splitlines()[-1]})"
        )
