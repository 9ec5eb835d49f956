"""Progress: how far a long piece of work is, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[int, int], None]

#: Redrawing more often than every so many steps only costs time.
_STRIDE = 50


@contextmanager
def progress(what: str, stride: int = _STRIDE) -> Iterator[Step | None]:
    """Gives what is told each step, or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda done, total: _draw(what, done, total, stride)
    finally:
        sys.stderr.write("\r\x1b[K")


def _draw(what: str, done: int, total: int, stride: int) -> None:
    if done % stride == 0 and total > stride:
        sys.stderr.write(f"\r\x1b[K{what}: {done} of {total}")
        sys.stderr.flush()
