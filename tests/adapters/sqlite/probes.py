"""Probes: the smallest units and queries, and waiting for something with a deadline."""

import sqlite3
import time
from collections.abc import Callable


class Crash(BaseException):
    """A process that dies here."""


def put(key: str, value: str = "") -> Callable[[sqlite3.Connection], str]:
    def unit(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))
        return key

    return unit


def keys(connection: sqlite3.Connection) -> set[str]:
    return {key for (key,) in connection.execute("SELECT key FROM meta")}


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)
