"""Progress: how far a long piece of work is, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[int, int], None]

#: Redrawing more often than every so many steps only costs time.
_STRIDE = 50


@contextmanager
def progress(what: str) -> Iterator[Step | None]:
    """Gives what is told each step, or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda done, total: _draw(what, done, total)
    finally:
        sys.stderr.write("\r\x1b[K")


def _draw(what: str, done: int, total: int) -> None:
    if done % _STRIDE == 0 and total > _STRIDE:
        sys.stderr.write(f"\r{what}: {done} of {total}")
        sys.stderr.flush()
