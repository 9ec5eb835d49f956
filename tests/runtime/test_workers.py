"""Workers and senders: what they do when they are told to stop in the middle of a lot of work."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from interlock.runtime.alert_sender import SenderThreads
from interlock.runtime.workers import Workers


def test_who_stops_puts_down_what_was_not_begun_and_takes_nothing_more() -> None:
    begun, go_on = threading.Event(), threading.Event()
    advanced: list[str] = []

    def advance(name: str) -> bool:
        advanced.append(name)
        begun.set()
        go_on.wait(30)
        return False

    engine: Any = SimpleNamespace(advance=advance)
    workers = Workers(engine, lambda: None, count=1)
    assert workers.take([f"run-{number}" for number in range(100)])
    assert begun.wait(30)
    threading.Timer(0.1, go_on.set).start()

    workers.stop(30)

    assert not any(workers.holds(f"run-{number}") for number in range(100))
    assert advanced == ["run-0"]
    assert not workers.take(["run-0"])
    assert not workers.holds("run-0")


def test_other_work_is_done_only_while_no_worker_has_the_execution() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def advance(name: str) -> bool:
        begun.set()
        go_on.wait(30)
        return False

    engine: Any = SimpleNamespace(advance=advance)
    idle = threading.Event()
    workers = Workers(engine, idle.set)
    workers.take(["run-0"])
    assert begun.wait(30)
    assert not workers.do("run-0", done.set)
    assert workers.do("run-1", done.set)
    assert done.wait(30)
    go_on.set()
    workers.stop(30)
    assert not workers.do("run-0", done.set)


def test_senders_that_stopped_send_nothing_more() -> None:
    sent: list[str] = []
    senders = SenderThreads(lambda: None)
    senders.stop()
    senders.send("slack", lambda: sent.append("late"))
    assert (sent, senders.busy()) == ([], ())


def test_deadlines_of_one_minute_are_done_together() -> None:
    """Each waits until all have begun: one after another they would wait for ever."""
    workers = Workers(_engine(), lambda: None)
    met = threading.Barrier(4)

    def work() -> bool:
        met.wait(30)
        return True

    assert workers.each([work] * 4) == [True] * 4
    workers.stop(1)


def test_who_stops_fires_nothing_more() -> None:
    workers = Workers(_engine(), lambda: None)
    workers.stop(1)
    works = [lambda: True] * 3
    assert not any(workers.each(works)) and not any(workers.each(works[:1]))


def test_what_could_not_be_handed_over_can_be_taken_again() -> None:
    """As when no further thread can be started."""
    workers = Workers(_engine(), lambda: None)
    workers._pool.shutdown()
    with pytest.raises(RuntimeError):
        workers.take(["run-0"])
    assert not workers.holds("run-0")


def _engine() -> Any:
    return SimpleNamespace(advance=lambda name: False)
