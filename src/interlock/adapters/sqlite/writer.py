"""Writer: the thread that owns the only writing connection, and commits in groups.

Units of work queue up. The thread takes what is there, runs each in its own savepoint inside one transaction,
commits once, and only then reports success: no caller gets a result before the commit. A commit waits for the
disk unless all of its units are lazy; the next one that waits flushes those too, in order.

Any failure, including running out of memory, fails a group and not the thread: every caller in the group gets
the error, and the thread takes the next group.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from interlock.errors import UnavailableError

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], Any]
#: Called with the outcome of a unit that no caller waits for: None, or its error.
Settled = Callable[[BaseException | None], None]

log = logging.getLogger(__name__)

GROUP = 256
_AFTER_TROUBLE = 0.05
_ENDED = "the writer of the state file has ended; restart the server"


class _Work:
    """A queued unit; `settled` is called once it is durable or has failed."""

    __slots__ = ("answer", "error", "lazy", "settled", "unit")

    def __init__(self, unit: Unit, lazy: bool, settled: Callable[["_Work"], None]) -> None:
        self.unit = unit
        self.lazy = lazy
        self.settled = settled
        self.answer: Any = None
        self.error: BaseException | None = None


class Writer:
    """Takes units from any thread; `write` returns when the unit is durable, or raises its error."""

    def __init__(
        self, connection: sqlite3.Connection, problem: Callable[[], str | None] = lambda: None
    ) -> None:
        """`problem` says why nothing can be stored; it is called around each commit."""
        self._connection = connection
        self._problem = problem
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._door = threading.Lock()
        self._closed = False
        self._waits = True
        self.thread = threading.Thread(target=self._serve, name="interlock-writer", daemon=True)
        self.thread.start()

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        if threading.current_thread() is self.thread:
            raise RuntimeError("a unit of work can't begin another one")
        durable = threading.Lock()
        durable.acquire()
        work = _Work(unit, lazy, lambda work: durable.release())
        self._queue_up(work)
        durable.acquire()
        if work.error is not None:
            try:
                raise work.error
            finally:
                del work  # the error's traceback would hold it, and it the error
        answer: T = work.answer
        return answer

    def submit(self, unit: Unit, settled: Settled, *, lazy: bool = False) -> None:
        """Without waiting. `settled` is called in the writer's thread, and must be quick."""
        self._queue_up(_Work(unit, lazy, lambda work: settled(work.error)))

    def _queue_up(self, work: _Work) -> None:
        with self._door:
            if self._closed:
                raise UnavailableError("the store is closed")
            self._queue.put(work)

    def close(self) -> None:
        """Finish what is queued, then release the file."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self.thread.join()
        self._connection.close()

    def _serve(self) -> None:
        more = True
        group: list[_Work] = []
        try:
            while more:
                try:
                    more = self._take_group(group)
                    self._commit(group)
                except MemoryError as error:
                    self._abandon(group, error)
                _settle_all(group)
        finally:  # closed, or ended by a fatal error
            self._refuse_all(group)

    def _take_group(self, group: list[_Work]) -> bool:
        """The queued units, after waiting for the first; False when the queue is closed."""
        while not group or (len(group) < GROUP and not self._queue.empty()):
            work = self._queue.get()
            if work is None:
                return False
            try:
                group.append(work)
            except MemoryError as error:
                work.error = error
                _settle(work)
        return True

    def _refuse_all(self, group: list[_Work]) -> None:
        """No caller must wait for a thread that has ended."""
        with self._door:
            self._closed = True
        for work in group:
            work.error = work.error or UnavailableError(_ENDED)
        _settle_all(group)
        with suppress(Empty):
            while True:
                left = self._queue.get_nowait()
                if left is not None:
                    left.error = UnavailableError(_ENDED)
                    _settle(left)

    def _commit(self, group: list[_Work]) -> None:
        if not group:
            return
        try:
            self._check()
            self._wait_for_the_disk(not all(work.lazy for work in group))
            self._connection.execute("BEGIN IMMEDIATE")
            for work in group:
                self._perform(work)
            self._connection.execute("COMMIT")
            self._check()
        except BaseException as error:  # noqa: BLE001 - its callers get it, and the thread goes on
            self._abandon(group, error)

    def _check(self) -> None:
        """Also after the commit: data written to a file that is gone by now is lost."""
        problem = self._problem()
        if problem is not None:
            raise UnavailableError(problem)

    def _wait_for_the_disk(self, wanted: bool) -> None:
        """With a write-ahead log NORMAL appends without waiting, and FULL waits for all of the log."""
        if wanted != self._waits:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if wanted else 'NORMAL'}")
            self._waits = wanted

    def _perform(self, work: _Work) -> None:
        """A failing unit rolls back alone, unless the store gave up the whole transaction."""
        connection = self._connection
        connection.execute("SAVEPOINT unit")
        try:
            work.answer = work.unit(connection)
        except BaseException as error:  # passed on to its caller
            work.error = error
            if not connection.in_transaction:
                raise sqlite3.OperationalError("the transaction was rolled back") from error
            connection.execute("ROLLBACK TO unit")
        connection.execute("RELEASE unit")

    def _abandon(self, group: list[_Work], error: BaseException) -> None:
        """Nothing of the group was stored: every unit without its own error gets this one."""
        cause = error.__cause__ if isinstance(error.__cause__, sqlite3.Error) else error
        for work in group:
            work.error = work.error or cause
        self._roll_back()

    def _roll_back(self) -> None:
        """Retry until it succeeds: an open transaction would absorb the next group."""
        while self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except (sqlite3.Error, MemoryError):
                time.sleep(_AFTER_TROUBLE)


def _settle_all(group: list[_Work]) -> None:
    while group:
        _settle(group.pop(0))


def _settle(work: _Work) -> None:
    """The writer survives a callback that fails."""
    try:
        work.settled(work)
    except BaseException:  # even without memory left to log it
        with suppress(Exception):
            log.exception("a callback failed", extra={"action": "not_told"})
