"""Progress: the progress of long work, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[int, int], None]

#: Redraw once per this many steps; more often only costs time.
_STRIDE = 50


@contextmanager
def progress(what: str, stride: int = _STRIDE, quiet: bool = False) -> Iterator[Step | None]:
    """Yields the callback for each step, or None when that is not wanted or stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda done, total: _draw(what, done, total, stride)
    finally:
        sys.stderr.write("\r\x1b[K")


@contextmanager
def working(what: str, quiet: bool = False) -> Iterator[None]:
    """That work whose length is unknown goes on, and for how long it has."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # imported here to keep commands fast that don't wait
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(what)
        yield


def _draw(what: str, done: int, total: int, stride: int) -> None:
    if done % stride == 0 and total > stride:
        sys.stderr.write(f"\r\x1b[K{what}: {done} of {total}")
        sys.stderr.flush()
