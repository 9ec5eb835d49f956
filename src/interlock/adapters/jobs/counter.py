"""Tally: how often something happened since the controller started."""

from threading import Lock


class Counter:
    """For threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def add(self) -> None:
        with self._lock:
            self._count += 1

    @property
    def count(self) -> int:
        return self._count
