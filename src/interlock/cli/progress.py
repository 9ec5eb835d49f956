"""Progress: the progress of long work, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[int, int], None]

#: Redraw once per this many steps; more often only costs time.
_STRIDE = 50


@contextmanager
def progress(what: str, stride: int = _STRIDE) -> Iterator[Step | None]:
    """Yields the callback for each step, or None when the output is not a terminal."""
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
