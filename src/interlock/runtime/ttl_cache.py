"""TTL cache: answers shared by all callers who ask the same within a few seconds."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from interlock.errors import InterlockError

T = TypeVar("T")

MOST = 200


class _Slot:
    """An answer, and the caller that is computing it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.until = 0.0
        self.answer: Any = None
        self.error: InterlockError | None = None


class TtlCache:
    """Concurrent callers wait for one answer, even if that answer is an error."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._slots: dict[Hashable, _Slot] = {}

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        if not self._seconds:
            return find()
        slot = self._slot(key)
        with slot.lock:
            if self._monotonic() >= slot.until:
                self._fill(slot, find)
            if slot.error is not None:
                raise slot.error.with_traceback(None)
            answer: T = slot.answer
            return answer

    def _fill(self, slot: _Slot, find: Callable[[], Any]) -> None:
        try:
            slot.answer, slot.error = find(), None
        except InterlockError as error:
            slot.error = error
        slot.until = self._monotonic() + self._seconds

    def _slot(self, key: Hashable) -> _Slot:
        """Evict the least recently used answer."""
        with self._lock:
            slot = self._slots.pop(key, None) or _Slot()
            self._slots[key] = slot
            while len(self._slots) > MOST:
                self._slots.pop(next(iter(self._slots)))
            return slot
