"""Migrations: bring a state file up to the version that this program knows.

Each script runs in one transaction with its version number, after a copy of the file was saved.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from interlock.adapters.sqlite import tables
from interlock.adapters.sqlite.private import make_private
from interlock.errors import ConfigError


def migrate(
    connection: sqlite3.Connection, path: Path | None, scripts: Sequence[str] = tables.SCRIPTS
) -> None:
    """Run the scripts that the store lacks. Raises ConfigError for a file that is not ours."""
    found = version_of(connection)
    name = ":memory:" if path is None else str(path)
    check_version(name, found, len(scripts))
    check_owner(connection, name)
    if path is not None and 0 < found < len(scripts):
        _put_aside(connection, path, found)
    for number in range(found, len(scripts)):
        _run(connection, scripts[number], number + 1)


def version_of(connection: sqlite3.Connection) -> int:
    row = connection.execute("PRAGMA user_version").fetchone()
    return int(row[0])


def check_version(name: str, found: int, known: int) -> None:
    if found > known:
        raise ConfigError(
            f"{name} has version {found}, but this program supports only versions up to {known}:"
            " use the newer program, or the copy of the file that it made before migrating"
        )


def check_owner(connection: sqlite3.Connection, name: str) -> None:
    if version_of(connection) == 0 and _has_tables(connection):
        raise ConfigError(
            f"{name} is a database of another program; choose another folder: state in interlock.toml"
        )


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def _put_aside(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Overwrites a copy from an earlier try: the file has not changed since."""
    aside = path.with_name(f"{path.name}.v{version}.bak")
    make_private(aside)
    copy = sqlite3.connect(aside)
    try:
        connection.backup(copy)
    finally:
        copy.close()


def _run(connection: sqlite3.Connection, script: str, version: int) -> None:
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {version}; COMMIT;"
        )
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
