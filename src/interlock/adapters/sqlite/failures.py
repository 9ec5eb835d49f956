"""Failures: what a broken store means to its callers, and what the operator can do."""

import sqlite3
from typing import NoReturn

from interlock.errors import TransientError, UnavailableError

#: The low byte of a result code is its kind; the rest says where it happened.
_KIND = 0xFF

#: Errors of the store itself, rather than of a statement.
BROKEN = (sqlite3.Error, MemoryError)

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})

_REMEDIES = {
    sqlite3.SQLITE_FULL: "free some space on its disk; nothing was half done",
    sqlite3.SQLITE_IOERR: "check its disk; nothing was half done",
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists and is writable",
    sqlite3.SQLITE_READONLY: "check the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "check the permissions of the file and its folder",
    sqlite3.SQLITE_NOMEM: "free some memory; no write was left half done",
    sqlite3.SQLITE_CORRUPT: "stop, keep a copy of the file, and replace it with the last backup",
    sqlite3.SQLITE_NOTADB: "this is not a state file; choose another, or replace it with the last backup",
}


def raise_meaning(error: sqlite3.Error | MemoryError, path: str) -> NoReturn:
    """Raise it in our own words, with a remedy; unchanged if the statement was wrong and not the store."""
    found = meaning(error, path)
    if found is error:
        raise error
    raise found from error


def meaning(error: sqlite3.Error | MemoryError, path: str) -> Exception:
    """The error that callers get for it."""
    if isinstance(error, MemoryError):
        return UnavailableError(f"{path}: out of memory; {_REMEDIES[sqlite3.SQLITE_NOMEM]}")
    kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _KIND
    if kind in _BUSY:
        return TransientError(f"{path} is in use: {error}")
    remedy = _REMEDIES.get(kind)
    if remedy is None:
        return error
    return UnavailableError(f"{path}: {error}; {remedy}")
