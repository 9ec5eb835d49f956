"""Fan: several reads in parallel, because a person is waiting; each takes as long as one alone."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

#: As many as a client has connections.
AT_ONCE = 8


class Fan:
    """Threads are created when they are first needed."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="interlock-read")

    def map(self, read: Callable[[T], S], items: Iterable[T]) -> list[S]:
        """Results in the order of the items. Raises the error of the first item that failed."""
        return list(self._pool.map(read, items))
