"""A listener hears of ends at once."""

import os
import threading
import time
from pathlib import Path

from adapters.jobs.job_samples import a_context, a_job, surroundings
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.command.exit_pipe import Ends, ends_path
from interlock.domain.job import Succeeded


def test_the_end_of_a_command_is_heard_and_is_then_to_be_seen(tmp_path: Path) -> None:
    jobs = JobsByType(surroundings(tmp_path))
    with Ends(tmp_path) as ends:
        launched = jobs.launch(a_job("command", command=["true"]), a_context())
        assert ends.wait(20) == [a_context().token]
        assert isinstance(jobs.poll(launched.metadata), Succeeded)
    jobs.close()


def test_when_nothing_ends_the_wait_does(tmp_path: Path) -> None:
    with Ends(tmp_path) as ends:
        began = time.monotonic()
        assert ends.wait(0.05) == []
        assert ends.wait(0) == []
        assert time.monotonic() - began < 5


def test_ends_that_come_together_are_reported_together(tmp_path: Path) -> None:
    with Ends(tmp_path) as ends:
        writer = os.open(ends_path(tmp_path), os.O_WRONLY | os.O_NONBLOCK)
        os.write(writer, b"a\nb\nc")
        assert ends.wait(5) == ["a", "b"]
        os.write(writer, b"d\n")
        assert ends.wait(5) == ["cd"]
        os.close(writer)


def test_a_wait_can_be_interrupted(tmp_path: Path) -> None:
    with Ends(tmp_path) as ends:
        threading.Timer(0.05, ends.interrupt).start()
        began = time.monotonic()
        assert ends.wait(30) == []
        assert time.monotonic() - began < 10


def test_an_end_without_a_listener_blocks_nothing(tmp_path: Path) -> None:
    Ends(tmp_path).close()
    jobs = JobsByType(surroundings(tmp_path))
    launched = jobs.launch(a_job("command", command=["true"]), a_context())
    until = time.monotonic() + 20
    while time.monotonic() < until and not isinstance(jobs.poll(launched.metadata), Succeeded):
        time.sleep(0.01)
    assert isinstance(jobs.poll(launched.metadata), Succeeded)
    with Ends(tmp_path) as ends:
        assert ends.wait(0) == []
    jobs.close()


def test_a_state_folder_may_have_a_long_name(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    with Ends(deep) as ends:
        ends.interrupt()
        assert ends.wait(5) == []
