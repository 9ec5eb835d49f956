"""Connection: how the state file is opened."""

import sqlite3
from functools import partial
from pathlib import Path

from interlock.adapters.sqlite.private import make_private

BUSY_SECONDS = 5.0

_STATEMENTS = 256

#: An invalid UTF-8 byte becomes `\xff`, which is not JSON: its row is unreadable, but the query continues.
_as_text = partial(str, encoding="utf-8", errors="backslashreplace")

#: auto_vacuum comes first: it can't be changed once a file has pages.
_WRITER = (
    "PRAGMA auto_vacuum = INCREMENTAL",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)


def in_memory() -> sqlite3.Connection:
    connection = _connect(":memory:")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def for_writing(path: Path) -> sqlite3.Connection:
    make_private(path)
    connection = _connect(str(path))
    try:
        for pragma in _WRITER:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def for_reading(path: Path) -> sqlite3.Connection:
    connection = _connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    """No implicit transactions; callers ensure that one thread at a time uses it."""
    connection = sqlite3.connect(
        name,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
        uri=uri,
    )
    connection.text_factory = _as_text
    return connection
