"""Commands when a process is killed: never two, never lost silently."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event

import pytest

from adapters.jobs import dying_supervisor
from adapters.jobs.dying_launcher import marking
from adapters.jobs.job_samples import a_context, a_job, ending, soon, surroundings
from adapters.jobs.test_command import is_alive, sh
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.command.command_jobs import CommandJobs
from interlock.adapters.jobs.command.job_folder import CommandEnding, CommandSupervised, JobFolder
from interlock.adapters.jobs.command.supervisor import LOCK, PID, began
from interlock.adapters.jobs.command.supervisors import COMMAND, Supervisors
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, Launched, Running, Succeeded

TESTS = Path(__file__).parents[2]
#: More than a supervisor takes until its command has ended.
SUPERVISOR_STEPS = 100
TOKEN = a_context().token
METADATA = {"type": "command", "token": TOKEN}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobsByType]:
    (tmp_path / "marks").mkdir()
    made = JobsByType(surroundings(tmp_path))
    yield made
    made.cancel(METADATA)
    made.close()


def marks(folder: Path, attempt: int) -> int:
    path = folder / "marks" / str(attempt)
    return len(path.read_text().split()) if path.exists() else 0


def pid_of(folder: Path, attempt: int = 0) -> int:
    path = folder / "jobs" / a_context(attempt).token / "pid"
    return int(soon(lambda: path.read_text() if path.exists() else None).split()[0])


def is_unattended(folder: Path) -> bool:
    """Whether no supervisor is there any more."""
    with (folder / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


# --- the controller dies --------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(4))
def test_a_controller_killed_at_any_step_of_a_launch_starts_one_job_in_the_end(
    jobs: JobsByType, tmp_path: Path, first: int
) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "adapters.jobs.dying_launcher", tmp_path, str(1 + first), "4"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert re.fullmatch("k{4,}l", told.stdout)  # the last was a whole launch
    for step in range(1 + first, 1 + first + 4 * len(told.stdout), 4):
        context = a_context(step)
        found = jobs.find(marking(tmp_path), context)
        launched = found if isinstance(found, Launched) else jobs.launch(marking(tmp_path), context)
        assert isinstance(ending(jobs, launched), Succeeded)
        assert marks(tmp_path, step) == 1


def test_a_poll_starts_what_was_claimed_and_not_begun(jobs: JobsByType, tmp_path: Path) -> None:
    launched = jobs.launch(marking(tmp_path), a_context())
    ending(jobs, launched)
    folder = tmp_path / "jobs" / TOKEN
    soon(lambda: is_unattended(folder))
    for name in ("pid", "exit.json"):  # as if its controller had died before the order
        (folder / name).unlink()
    assert isinstance(jobs.find(marking(tmp_path), a_context()), Absent)
    assert isinstance(jobs.poll(METADATA), Running)
    assert isinstance(ending(jobs, launched), Succeeded)
    assert marks(tmp_path, 0) == 2


def test_after_a_restart_of_the_machine_what_may_have_run_is_not_run_again(
    jobs: JobsByType, tmp_path: Path
) -> None:
    ending(jobs, jobs.launch(marking(tmp_path), a_context()))
    folder = tmp_path / "jobs" / TOKEN
    soon(lambda: is_unattended(folder))
    spec = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(json.dumps({**spec, "boot": "another"}))
    (folder / "exit.json").unlink()
    for name in ("lock", "pid"):
        (folder / name).unlink()
        found = jobs.find(marking(tmp_path), a_context())
        assert isinstance(found, Launched)
        answer = jobs.poll(found.metadata)
        assert isinstance(answer, Failed) and answer.category is Category.TRANSIENT
    assert marks(tmp_path, 0) == 1


def test_of_many_who_launch_at_once_one_starts_the_job(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    together = Barrier(6)

    def launch(_: int) -> Launched:
        mine = JobsByType(surroundings(tmp_path))
        together.wait(10)
        try:
            return mine.launch(marking(tmp_path), a_context())
        finally:
            mine.close()

    with ThreadPoolExecutor(6) as pool:
        launched = list(pool.map(launch, range(6)))
    assert {each.run_id for each in launched} == {TOKEN}
    assert isinstance(ending(JobsByType(surroundings(tmp_path)), launched[0]), Succeeded)
    assert marks(tmp_path, 0) == 1


def test_who_looks_all_the_time_does_not_disturb_a_start(jobs: JobsByType, tmp_path: Path) -> None:
    enough = Event()

    def look(attempt: int) -> set[type]:
        seen: set[type] = set()
        while not enough.is_set():
            seen.add(type(jobs.find(marking(tmp_path), a_context(attempt))))
        return seen

    with ThreadPoolExecutor(2) as pool:
        looks = [pool.submit(look, attempt) for attempt in (0, 1)]
        try:
            for attempt in (0, 1):
                launched = jobs.launch(marking(tmp_path), a_context(attempt))
                assert isinstance(ending(jobs, launched), Succeeded)
        finally:
            enough.set()
        for each in looks:
            assert each.result() <= {Absent, Launched}
    assert [marks(tmp_path, attempt) for attempt in (0, 1)] == [1, 1]


# --- the supervisor dies --------------------------------------------------------------------------


@contextmanager
def dying(folder: Path, step: int) -> Iterator[CommandJobs]:
    """Jobs whose supervisors are killed at a step."""
    command = (*COMMAND[:3], dying_supervisor.__file__, str(step), COMMAND[3])
    made = CommandJobs(surroundings(folder), timedelta(seconds=0.1), Supervisors(command=command))
    yield made
    made.close()


@pytest.mark.parametrize("first", range(4))
def test_a_supervisor_killed_at_any_step_leaves_one_job_or_none_and_says_so(
    jobs: JobsByType, tmp_path: Path, first: int
) -> None:
    endings: dict[str, int] = {}
    for step in range(1 + first, SUPERVISOR_STEPS, 4):
        context = a_context(step)
        with dying(tmp_path, step) as mortal:
            try:
                mortal.launch(marking(tmp_path), context)
            except PlatformError as error:
                if error.category is not Category.TRANSIENT:
                    raise
        found = jobs.find(marking(tmp_path), context)
        launched = found if isinstance(found, Launched) else jobs.launch(marking(tmp_path), context)
        answer = ending(jobs, launched)
        if isinstance(answer, Succeeded):
            assert marks(tmp_path, step) == 1
        else:
            assert answer.category is Category.TRANSIENT and "lost" in answer.message
            assert marks(tmp_path, step) <= 1
        endings[type(answer).__name__] = endings.get(type(answer).__name__, 0) + 1
    assert set(endings) == {"Succeeded", "Failed"}  # the steps do span a whole life


def test_a_job_that_lost_its_supervisor_is_ended_before_it_is_given_up(
    jobs: JobsByType, tmp_path: Path
) -> None:
    launched = jobs.launch(sh("sleep 60 & sleep 60"), a_context())
    pid = pid_of(tmp_path)
    os.kill(parent_of(pid), signal.SIGKILL)
    first = soon(lambda: (said := jobs.poll(launched.metadata)).message and said)
    assert isinstance(first, Running) and "lost" in first.message and is_alive(pid) in (True, False)
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed) and answer.category is Category.TRANSIENT
    assert not is_alive(pid)


def test_a_lost_job_that_ignores_term_is_killed(tmp_path: Path) -> None:
    hasty = CommandJobs(surroundings(tmp_path), timedelta(seconds=0.2))
    script = "trap '' TERM; echo > ready; while :; do sleep 0.05; done"
    launched = hasty.launch(sh(script), a_context())
    soon((tmp_path / "ready").exists)
    pid = pid_of(tmp_path)
    os.kill(parent_of(pid), signal.SIGKILL)
    answer = ending(hasty, launched)
    assert isinstance(answer, Failed) and answer.category is Category.TRANSIENT
    assert not is_alive(pid)
    hasty.close()


def test_cancelling_a_lost_job_ends_what_is_left_of_it(jobs: JobsByType, tmp_path: Path) -> None:
    launched = jobs.launch(sh("exec sleep 60"), a_context())
    pid = pid_of(tmp_path)
    os.kill(parent_of(pid), signal.SIGKILL)
    soon(lambda: is_unattended(tmp_path / "jobs" / TOKEN))
    assert jobs.cancel(launched.metadata)
    soon(lambda: not is_alive(pid))
    assert not jobs.cancel(launched.metadata)


def test_a_supervisor_that_is_shut_down_takes_its_command_along(
    jobs: JobsByType, tmp_path: Path
) -> None:
    launched = jobs.launch(sh("exec sleep 60"), a_context())
    os.kill(parent_of(pid_of(tmp_path)), signal.SIGTERM)
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed)
    assert answer.category is Category.TRANSIENT and not answer.stopped
    assert answer.detail == {"state": "signal 15"}


TIDY = "trap 'echo half done; exit 0' TERM; echo ready > ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("every_process", [False, True])
def test_a_command_that_was_shut_down_has_not_succeeded_whatever_it_says(
    jobs: JobsByType, tmp_path: Path, every_process: bool
) -> None:
    """A service manager sends TERM to all processes at once; the command may be the first to end."""
    job = a_job("command", command=["sh", "-c", TIDY], cwd=str(tmp_path))
    launched = jobs.launch(job, a_context())
    soon((tmp_path / "ready").exists)
    pid = pid_of(tmp_path)
    for process in (parent_of(pid), *((pid,) if every_process else ())):
        with suppress(ProcessLookupError):  # its supervisor may have ended it by now
            os.kill(process, signal.SIGTERM)
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed)
    assert answer.category is Category.TRANSIENT and not answer.stopped
    assert answer.detail == {"state": "exit code 0"}


# --- pids are given away again --------------------------------------------------------------------


@contextmanager
def stranger(token: str | None = None) -> Iterator[int]:
    """A process group that some other pid of ours may have become."""
    environment = {} if token is None else {"INTERLOCK_JOB_TOKEN": token}
    script = "sleep 60 & exec sleep 60"
    process = subprocess.Popen(["/bin/sh", "-c", script], env=environment, start_new_session=True)
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def lose(jobs: JobsByType, folder: Path, pid: str) -> None:
    """A job that ended long ago, without a word, and whose pid is now this one."""
    ending(jobs, jobs.launch(a_job("command", command=["true"]), a_context()))
    (folder / "jobs" / TOKEN / "pid").write_text(pid)
    (folder / "jobs" / TOKEN / "exit.json").unlink()


@pytest.mark.parametrize("when", ["1", "-", ""])
def test_a_reused_pid_is_left_alone(jobs: JobsByType, tmp_path: Path, when: str) -> None:
    with stranger() as pid:
        lose(jobs, tmp_path, f"{pid} {when}\n")
        answer = ending(jobs, Launched(TOKEN, METADATA))
        assert isinstance(answer, Failed) and answer.category is Category.TRANSIENT
        assert is_alive(pid)


@pytest.mark.parametrize("token", [TOKEN, "another"])
def test_a_group_without_its_first_process_is_known_by_the_token(
    jobs: JobsByType, tmp_path: Path, token: str
) -> None:
    with stranger(token) as pid:
        lose(jobs, tmp_path, f"{pid} {began(pid)}\n")
        other = soon(lambda: [each for each in children(pid) if is_alive(each)])[0]
        os.kill(pid, signal.SIGKILL)
        soon(lambda: not is_alive(pid))
        answer = ending(jobs, Launched(TOKEN, METADATA))
        assert isinstance(answer, Failed)
        assert is_alive(other) is (token != TOKEN)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_command_that_is_over_and_not_on_record_is_ending(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path, TOKEN)
    assert folder.claim()
    ended = subprocess.Popen(["true"], start_new_session=True)
    started = began(ended.pid)
    ended.wait()
    (folder.path / PID).write_text(f"{ended.pid} {started}\n")
    with (folder.path / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # its supervisor is there
        assert folder.look() == CommandEnding()
        (folder.path / PID).write_text(f"{os.getpid()} {began(os.getpid())}\n")
        assert folder.look() == CommandSupervised()
        (folder.path / PID).unlink()
        assert folder.look() == CommandSupervised()  # it is about to begin
