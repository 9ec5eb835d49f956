"""Feed poller: polls a feed in its own thread while it has followers; one poll serves all of them."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from interlock.domain.history import LoggedEvent
from interlock.errors import InterlockError
from interlock.ports.reads import EventFeed

#: For this many polls after a request, the follower counts as present.
_PATIENCE = 6
_CLOSE_SECONDS = 2.0


class PolledFeed(EventFeed, Protocol):
    """A feed that must be polled."""

    def look(self) -> None:
        """Find what is new."""
        ...


class FeedPoller:
    """A feed. While polling fails, every follower gets the error."""

    def __init__(
        self, feed: PolledFeed, every: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._feed = feed
        self._every = every
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._trouble: InterlockError | None = None
        self._troubles = 0
        self._looked_at = -every
        self._wanted_until = 0.0

    def changes(self) -> int:
        self._wanted_until = self._monotonic() + _PATIENCE * self._every
        return self._feed.changes() + self._troubles

    def oldest(self) -> int:
        return self._feed.oldest()

    def last(self) -> int:
        """Polls now if the feed has had no follower for a while."""
        self._begin()
        self._look()
        return self._known().last()

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        return self._known().after(seq, limit)

    def look_if_wanted(self) -> None:
        """One round of the thread."""
        if self._monotonic() < self._wanted_until:
            self._look()

    def close(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)

    def _known(self) -> EventFeed:
        trouble = self._trouble
        if trouble is not None:
            raise trouble.with_traceback(None)
        return self._feed

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._go_on, name="interlock-lookout", daemon=True
                )
                self._thread.start()

    def _go_on(self) -> None:
        while not self._stopping.wait(self._every):
            self.look_if_wanted()

    def _look(self) -> None:
        """Never early: a caller in between gets the last answer."""
        with self._lock:
            if self._monotonic() < self._looked_at + self._every * 0.9:
                return
            try:
                self._feed.look()
                self._trouble = None
            except InterlockError as error:
                self._trouble = error
                self._troubles += 1
            self._looked_at = self._monotonic()
