"""Overdue: who watches the watchdog. A controller that has hung ends, so that a supervisor restarts it."""

import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from queue import Empty, SimpleQueue

from interlock.adapters.local.database import Database
from interlock.ports import Clock, Watch

PATIENCE = timedelta(seconds=30)
HUNG = 70


def end_process(message: str) -> None:
    """At once: what has hung can't be asked to stop."""
    sys.stderr.write(f"interlock: {message}\n")
    sys.stderr.flush()
    os._exit(HUNG)


class Overdue:
    """Looks only whether the watchdog is overdue, and if so, whether the writer still answers."""

    def __init__(
        self,
        database: Database,
        watch: Watch,
        clock: Clock,
        every: timedelta,
        end: Callable[[str], None] = end_process,
        patience: timedelta = PATIENCE,
    ) -> None:
        self._database, self._watch, self._clock = database, watch, clock
        self._every, self._end = every, end
        self._patience = patience.total_seconds()
        self._started = time.monotonic()
        self._late_since: float | None = None

    def look(self) -> None:
        """After a sleep of the whole machine everything is late for a moment: hence the patience.

        A store that refuses to be written to has not hung: a full disk is mended by others, and what
        is due is tried again until then.
        """
        if not self._is_late():
            self._late_since = None
            return
        now = time.monotonic()
        self._late_since = self._late_since or now
        if now - self._late_since < self._patience:
            return
        answer = self._writer_answers()
        if answer is None:
            self._end("the writer of the state file has hung; restart me, and check the disk")
        elif answer:
            self._end("the watchdog is overdue and nothing moves it on; restart me")

    def _is_late(self) -> bool:
        allowed = 3 * self._every
        if time.monotonic() - self._started < allowed.total_seconds():
            return False
        try:
            last = self._watch.load().last_pass_at
        except Exception:  # noqa: BLE001 - a store that can't be read: the pass can't be seen
            return True
        return last is None or self._clock() - last > allowed

    def _writer_answers(self) -> bool | None:
        """Whether a write succeeds; None when nobody answers."""
        answered: SimpleQueue[bool] = SimpleQueue()

        def ask() -> None:
            try:
                self._database.write(lambda connection: None)
            except Exception:  # noqa: BLE001 - whatever it is, it is an answer
                answered.put(False)
            else:
                answered.put(True)

        threading.Thread(target=ask, name="interlock-probe", daemon=True).start()
        try:
            return answered.get(timeout=self._patience)
        except Empty:
            return None
