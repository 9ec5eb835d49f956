"""Parallel reads: several reads at once, for people who wait; each is as fast as one alone."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

#: As many as a client has connections for.
AT_ONCE = 8


class Fan:
    """Threads are created when first needed."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="interlock-read")

    def map(self, read: Callable[[T], S], items: Iterable[T]) -> list[S]:
        """In the order of the items. Raises the first error."""
        return list(self._pool.map(read, items))
