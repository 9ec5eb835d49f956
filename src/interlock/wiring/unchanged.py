"""Unchanged: an answer of the store, kept for as long as the store stands still."""

from collections.abc import Callable
from typing import Generic, TypeVar

from interlock.adapters.local.database import Database

T = TypeVar("T")


class Unchanged(Generic[T]):
    """Asks again only after something was written. For stores that one process has to itself."""

    def __init__(self, database: Database, ask: Callable[[], T]) -> None:
        self._database = database
        self._ask = ask
        self._asked_at = -1

    def __call__(self) -> T:
        if self._asked_at != self._database.commits:
            at = self._database.commits
            self._answer = self._ask()
            self._asked_at = at
        return self._answer
