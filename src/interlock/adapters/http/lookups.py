"""Lookups: a name's addresses, by the system's resolver, within a deadline."""

import socket
import threading
from collections.abc import Callable

#: Answers the addresses of a host as text. Raises OSError.
Resolve = Callable[[str, int], list[str]]


def resolve(host: str, port: int) -> list[str]:
    """Accepts every spelling that the system accepts: the guard judges the resulting addresses."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


def within(seconds: float, lookup: Resolve, host: str, port: int) -> list[str]:
    """The result of a lookup, or TimeoutError: the system's resolver itself has no time limit."""
    found: list[list[str]] = []
    failed: list[OSError] = []

    def look() -> None:
        try:
            found.append(lookup(host, port))
        except (OSError, UnicodeError) as error:
            failed.append(error if isinstance(error, OSError) else OSError(str(error)))

    thread = threading.Thread(target=look, name="lookup", daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    raise failed[0] if failed else TimeoutError("the name lookup timed out")
