"""Unreadable rows: rows that the stores of one process could not read, until they are reported."""

import threading

import msgspec

from interlock.domain.unreadable import UnreadableRow

#: What reading a row raises when the row is to blame. A broken store raises its own errors.
DAMAGED = (
    msgspec.MsgspecError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
#: How many rows wait to be reported, and how many are remembered as reported.
_MOST = 1000


class MetRows:
    """The port, and where the adapters record what they meet. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._met: dict[str, UnreadableRow] = {}
        self._reported: dict[str, None] = {}

    def note(self, row: UnreadableRow) -> None:
        with self._lock:
            if row.id not in self._reported and len(self._met) < _MOST:
                self._met.setdefault(row.id, row)

    def met(self) -> list[UnreadableRow]:
        with self._lock:
            return list(self._met.values())

    def reported(self, row: UnreadableRow) -> None:
        with self._lock:
            self._met.pop(row.id, None)
            self._reported[row.id] = None
            while len(self._reported) > _MOST:
                del self._reported[next(iter(self._reported))]
