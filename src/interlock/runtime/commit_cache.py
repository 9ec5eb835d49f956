"""Commit cache: an answer of the store, valid until the next commit."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class CommitCache(Generic[T]):
    """Asks again only after the stamp has changed. For stores that only one process uses."""

    def __init__(self, stamp: Callable[[], object], ask: Callable[[], T]) -> None:
        self._stamp = stamp
        self._ask = ask
        self._asked_at: object = None

    def __call__(self) -> T:
        stamp = self._stamp()
        if self._asked_at != stamp:
            self._answer = self._ask()
            self._asked_at = stamp
        return self._answer
