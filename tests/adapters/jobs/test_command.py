"""Commands: real processes, and every way they can end."""

import json
import os
import re
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.job_samples import (
    CANARY,
    ENVIRONMENT,
    a_context,
    a_job,
    ending,
    now,
    soon,
    surroundings,
)
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.command.command_jobs import CommandJobs
from interlock.adapters.jobs.command.exit_codes import exit_category
from interlock.adapters.jobs.command.job_folder import JobFolder, Lost, prune
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError

TOKEN = a_context().token


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobsByType]:
    made = JobsByType(surroundings(tmp_path))
    yield made
    made.cancel({"type": "command", "token": TOKEN})
    made.close()


def a_command(*argv: str, **config: Any) -> Pipeline:
    return a_job("command", command=list(argv), **config)


def sh(script: str, **config: Any) -> Pipeline:
    return a_command("/bin/sh", "-c", script, **config)


def run(jobs: JobsByType, pipeline: Pipeline, **context: Any) -> Succeeded | Failed:
    return ending(jobs, jobs.launch(pipeline, a_context(**context)))


def folder(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / TOKEN


def output(tmp_path: Path, name: str = "stdout") -> str:
    return (folder(tmp_path) / name).read_text()


def failure(jobs: JobsByType, pipeline: Pipeline) -> LaunchError:
    with pytest.raises(LaunchError) as error:
        jobs.launch(pipeline, a_context())
    return error.value


# --- how it ends ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "category"),
    [
        (1, None),
        (63, None),
        (64, Category.PERMANENT),
        (74, Category.PERMANENT),
        (75, Category.TRANSIENT),
        (76, Category.PERMANENT),
        (78, Category.PERMANENT),
        (79, None),
        (124, Category.TIMEOUT),
        (125, None),
        (126, Category.PERMANENT),
        (127, Category.PERMANENT),
        (255, None),
    ],
)
def test_what_an_exit_code_means(code: int, category: Category | None) -> None:
    assert exit_category(code) is category


@pytest.mark.parametrize("code", [1, 64, 75, 124, 126, 127])
def test_a_command_ends_with_its_code(jobs: JobsByType, code: int) -> None:
    answer = run(jobs, sh(f"echo first >&2; echo 'and last' >&2; echo out; exit {code}"))
    assert isinstance(answer, Failed)
    assert answer.category is exit_category(code)
    assert (answer.message, answer.detail) == ("and last", {"state": f"exit code {code}"})


def test_a_command_that_ends_well_says_when(jobs: JobsByType) -> None:
    before = now()
    answer = run(jobs, a_command("true"))
    assert isinstance(answer, Succeeded) and answer.ended_at is not None
    assert before <= answer.ended_at <= now()


def test_a_failure_without_a_word_says_its_code(jobs: JobsByType) -> None:
    answer = run(jobs, sh("exit 3"))
    assert isinstance(answer, Failed) and answer.message == "exit code 3"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_command_killed_by_a_signal_may_be_tried_again(jobs: JobsByType, number: int) -> None:
    answer = run(jobs, sh(f"kill -{int(number)} $$"))
    assert isinstance(answer, Failed)
    assert answer.category is Category.TRANSIENT and not answer.stopped
    assert answer.detail == {"state": f"signal {int(number)}"}


def test_a_broken_pipe_ends_a_command_as_usual(jobs: JobsByType) -> None:
    """Python ignores SIGPIPE, and its children would inherit that."""
    answer = run(jobs, sh("sh -c 'kill -13 $$'; test $? -gt 128"))
    assert isinstance(answer, Succeeded)


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[CommandJobs]:
    """Waits a moment only between TERM and KILL."""
    made = CommandJobs(surroundings(tmp_path), grace=timedelta(milliseconds=200))
    yield made
    made.cancel({"token": TOKEN})
    made.close()


def test_a_command_that_takes_too_long_is_ended(jobs: JobsByType) -> None:
    began = time.monotonic()
    answer = run(jobs, sh("echo waiting >&2; exec sleep 60", timeout="200ms"))
    assert isinstance(answer, Failed)
    assert answer.category is Category.TIMEOUT
    assert re.fullmatch(r"ended after \d+m?s, its timeout: waiting", answer.message)
    assert time.monotonic() - began < 5


def test_a_command_that_ignores_term_is_killed_with_all_it_started(
    hasty: CommandJobs, tmp_path: Path
) -> None:
    script = "trap '' TERM; sleep 60 & echo $! > child; echo $$ > parent; wait; sleep 60"
    launched = hasty.launch(sh(script, timeout="1s"), a_context())
    pids = [number_in(tmp_path / name) for name in ("child", "parent")]
    answer = ending(hasty, launched)
    assert isinstance(answer, Failed) and answer.category is Category.TIMEOUT
    soon(lambda: not any(map(is_alive, pids)))


def test_a_child_that_ignores_term_does_not_outlive_its_ended_parent(
    hasty: CommandJobs, tmp_path: Path
) -> None:
    script = (
        "(trap '' TERM; echo ready > ready; while :; do sleep 0.05; done) & echo $! > child; wait"
    )
    launched = hasty.launch(sh(script), a_context())
    soon((tmp_path / "ready").exists)
    child = number_in(tmp_path / "child")
    assert hasty.cancel(launched.metadata)
    answer = ending(hasty, launched)
    assert isinstance(answer, Failed) and answer.stopped
    soon(lambda: not is_alive(child))


def test_a_command_that_was_asked_to_end_has_not_succeeded_whatever_it_says(
    jobs: JobsByType, tmp_path: Path
) -> None:
    script = "trap 'exit 0' TERM; echo > ready; while :; do sleep 0.01; done"
    launched = jobs.launch(sh(script), a_context())
    soon((tmp_path / "ready").exists)
    assert jobs.cancel(launched.metadata)
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed) and answer.stopped


def test_who_is_left_behind_does_not_hold_up_the_end(jobs: JobsByType, tmp_path: Path) -> None:
    began = time.monotonic()
    assert isinstance(run(jobs, sh("sleep 30 & echo $! > child; echo said")), Succeeded)
    assert time.monotonic() - began < 10
    assert output(tmp_path) == "said\n"
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


# --- what it is given -----------------------------------------------------------------------------


def test_arguments_arrive_as_they_are_and_no_shell_sees_them(
    jobs: JobsByType, tmp_path: Path
) -> None:
    words = ["a b", "", "'", '"', "$HOME", "*", "; rm -rf /", "é\n", "$${DATE}", "${DATE} x"]
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    assert isinstance(run(jobs, a_command(sys.executable, "-c", show, *words)), Succeeded)
    assert json.loads(output(tmp_path)) == [*words[:-2], "${DATE}", "2026-03-03 x"]


def test_the_environment_is_ours_without_what_is_for_us(tmp_path: Path) -> None:
    environment = {
        **ENVIRONMENT,
        "INTERLOCK_TOKEN": "key-of-the-api",
        "HOME": "/home/x",
        "LANG": "C",
    }
    jobs = JobsByType(surroundings(tmp_path, environment))
    env = {"LANG": "de_DE", "SECRET": "a secret://env/INTERLOCK_CANARY b", "DAY": "${DATE}"}
    run(jobs, a_command("env", "-0", env=env), label="2026-03-03T10", attempt=0)
    token = a_context(0, "2026-03-03T10").token
    path = tmp_path / "jobs" / token / "stdout"
    pairs = [line.partition("=") for line in path.read_text().split("\0") if line]
    assert {name: value for name, _, value in pairs} == {
        "PATH": ENVIRONMENT["PATH"],
        "HOME": "/home/x",
        "LANG": "de_DE",
        "SECRET": "a *** b",  # in the file; see the next test for what the command got
        "DAY": "2026-03-03",
        "INTERLOCK_PIPELINE": "silver-orders",
        "INTERLOCK_SCHEDULE": "stream",
        "INTERLOCK_DATE": "2026-03-03",
        "INTERLOCK_HOUR": "10",
        "INTERLOCK_LABEL": "2026-03-03T10",
        "INTERLOCK_ATTEMPT": "0",
        "INTERLOCK_JOB_TOKEN": token,
        "INTERLOCK_PAR_DAY": "20260303",
        "INTERLOCK_PAR_HOUR": "10",
    }
    jobs.close()


def test_a_secret_reaches_the_command_and_nothing_else(jobs: JobsByType, tmp_path: Path) -> None:
    env = {"KEY": "secret://env/INTERLOCK_CANARY"}
    run(jobs, sh('printf %s "$KEY" > got; echo "$KEY"; echo "bad $KEY" >&2; exit 1', env=env))
    assert (tmp_path / "got").read_text() == CANARY
    for path in folder(tmp_path).iterdir():
        if path.is_file():
            assert b"canary" not in path.read_bytes().replace(b"INTERLOCK_CANARY", b"")
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or path.name in (
                "stdout",
                "stderr",
                "spec.json",
            )
    assert stat.S_IMODE(folder(tmp_path).stat().st_mode) == 0o700


def test_what_a_file_takes_from_our_variables_is_masked_in_what_the_command_says(
    tmp_path: Path,
) -> None:
    environment = {
        **ENVIRONMENT,
        "INTERLOCK_WAREHOUSE": "hunter2-hunter2",
        "INTERLOCK_PASSWORD": "abc",
        "INTERLOCK_STAGE": "prod",
    }
    jobs = JobsByType(surroundings(tmp_path, environment))
    env = {"W": "x${INTERLOCK_WAREHOUSE}", "P": "${INTERLOCK_PASSWORD}", "S": "${INTERLOCK_STAGE}"}
    command = ["/bin/sh", "-c", 'echo "$1 $W $P $S" >&2; exit 1', "sh", "${INTERLOCK_WAREHOUSE}"]
    answer = run(jobs, a_command(*command, env=env))
    # a short value that is not called a secret is a word like any other
    assert isinstance(answer, Failed) and answer.message == "*** x*** *** prod"
    assert b"hunter2" not in (folder(tmp_path) / "stderr").read_bytes()
    jobs.close()


@pytest.mark.parametrize("shown", ["cat", "base64 -w 0"])
def test_a_secret_that_the_tail_cuts_in_two_is_masked(
    jobs: JobsByType, tmp_path: Path, shown: str
) -> None:
    """The kept megabyte begins in the middle of it, once or after the file was cut before."""
    env = {"KEY": "secret://env/INTERLOCK_CANARY"}
    for attempt, beyond in enumerate((0, 1024 * 1024)):
        filler = 1024 * 1024 - 8
        script = (
            f'head -c {beyond} /dev/zero; printf %s "$KEY" | {shown}; head -c {filler} /dev/zero'
        )
        run(jobs, sh(script, env=env), attempt=attempt)
        files = (tmp_path / "jobs" / a_context(attempt).token).glob("stdout*")
        in_order = sorted(files, key=lambda path: len(path.name))
        kept = b"".join(path.read_bytes() for path in in_order)
        assert kept.strip(b"\0") == b"***"


def test_thousands_of_variables_arrive(jobs: JobsByType, tmp_path: Path) -> None:
    env = {f"VARIABLE_{number}": "x" * 100 for number in range(5000)}
    assert isinstance(run(jobs, sh("env | grep -c ^VARIABLE_", env=env)), Succeeded)
    assert output(tmp_path) == "5000\n"


def test_it_runs_in_the_project_or_where_it_was_told(jobs: JobsByType, tmp_path: Path) -> None:
    run(jobs, a_command("pwd"))
    assert output(tmp_path).strip() == str(tmp_path.resolve())
    (tmp_path / "deeper").mkdir()
    run(jobs, a_command("pwd", cwd="deeper"), attempt=1)
    path = tmp_path / "jobs" / a_context(1).token / "stdout"
    assert path.read_text().strip() == str(tmp_path.resolve() / "deeper")


def test_its_input_is_empty(jobs: JobsByType) -> None:
    assert isinstance(run(jobs, sh('test -z "$(cat)"')), Succeeded)


def test_of_two_hundred_megabytes_the_last_one_is_kept(jobs: JobsByType, tmp_path: Path) -> None:
    """Neither the disk nor the memory of the supervisor grows with what a command prints."""
    script = (
        "head -c 209715200 /dev/zero | tr '\\0' x; printf END;"
        " grep VmHWM /proc/$PPID/status; printf 'last words' >&2; exit 1"
    )
    answer = run(jobs, sh(script))
    assert isinstance(answer, Failed) and answer.message == "last words"
    files = sorted(folder(tmp_path).glob("stdout*"), key=lambda path: path.name)
    kept = b"".join(path.read_bytes() for path in files)
    assert 1024 * 1024 <= len(kept) <= 2 * 1024 * 1024
    before, _, figures = kept.partition(b"END")
    assert set(before) == {ord("x")}
    assert int(figures.split()[1]) < 40_000  # kilobytes
    assert sum(path.stat().st_size for path in folder(tmp_path).iterdir()) < 6 * 1024 * 1024


def test_output_can_be_read_while_it_runs(jobs: JobsByType, tmp_path: Path) -> None:
    jobs.launch(sh("echo begun; exec sleep 60"), a_context())
    assert soon(lambda: output(tmp_path)) == "begun\n"


# --- what can't be started ------------------------------------------------------------------------


def test_what_is_not_there_or_can_not_be_run_is_permanent(jobs: JobsByType, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("no program")
    for pipeline in (
        a_command("no-such-command"),
        a_command("/no/such/command"),
        a_command(str(script)),
        a_command(str(tmp_path)),
        a_command("true", cwd="no-such-folder"),
        a_command("true", "x" * 200_000),
    ):
        error = failure(jobs, pipeline)
        assert error.category == Category.PERMANENT and not error.maybe_started
    script.chmod(0o755)
    assert "Exec format" in str(failure(jobs, a_command(str(script))))


def test_a_folder_that_is_not_there_is_named_and_not_the_command(jobs: JobsByType) -> None:
    error = failure(jobs, a_command("true", cwd="/no/such/folder"))
    assert str(error) == "it can't run in the folder /no/such/folder: No such file or directory"


def test_after_a_launch_that_failed_another_may_work(jobs: JobsByType) -> None:
    assert "can't be started" in str(failure(jobs, a_command("no-such-command")))
    assert isinstance(jobs.find(a_command("true"), a_context()), Absent)
    assert isinstance(run(jobs, a_command("true")), Succeeded)


def test_a_variable_that_is_not_set_is_permanent(jobs: JobsByType) -> None:
    for pipeline in (a_command("echo", "${INTERLOCK_UNSET}"), a_command("echo", "${HOUR}")):
        assert failure(jobs, pipeline).category == Category.PERMANENT


def test_a_job_from_before_its_run_is_not_ours(jobs: JobsByType) -> None:
    run(jobs, a_command("true"))
    later = a_context(opened_at=now() + timedelta(minutes=6))
    for call in (jobs.find, jobs.launch):
        with pytest.raises(LaunchError, match="INTERLOCK_INSTANCE") as error:
            call(a_command("true"), later)
        assert error.value.category == Category.PERMANENT
    soon_after = a_context(opened_at=now() + timedelta(minutes=4))
    assert isinstance(jobs.find(a_command("true"), soon_after), Launched)


# --- spare supervisors, calls that end, old folders -----------------------------------------------


def test_a_supervisor_that_waits_beforehand_serves_like_any_other(tmp_path: Path) -> None:
    jobs = JobsByType(surroundings(tmp_path, spares=2))
    for attempt in range(5):
        assert isinstance(run(jobs, a_command("true"), attempt=attempt), Succeeded)
    jobs.close()


def test_within_a_call_the_command_ends_before_the_launch_does(tmp_path: Path) -> None:
    jobs = JobsByType(surroundings(tmp_path, time_left=lambda: timedelta(seconds=60)))
    launched = jobs.launch(sh("echo no >&2; exit 75"), a_context())
    assert launched.finished
    stored = json.loads(json.dumps(launched.metadata))
    shutil.rmtree(folder(tmp_path))  # the next call may be on another machine
    answer = jobs.poll(stored)
    assert isinstance(answer, Failed)
    assert (answer.category, answer.message) == (Category.TRANSIENT, "no")
    assert not isinstance(jobs.find(a_command("true"), a_context()), Absent | Launched)
    jobs.close()


def test_within_a_call_the_time_that_is_left_is_the_limit(tmp_path: Path) -> None:
    jobs = JobsByType(surroundings(tmp_path, time_left=lambda: timedelta(seconds=10.3)))
    launched = jobs.launch(a_command("sleep", "60"), a_context())
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is Category.TIMEOUT
    jobs.close()


def test_old_folders_of_ended_commands_can_be_removed(jobs: JobsByType, tmp_path: Path) -> None:
    run(jobs, a_command("true"))
    running = jobs.launch(a_command("sleep", "60"), a_context(1))
    assert prune(tmp_path, now() - timedelta(hours=1)) == 0
    assert prune(tmp_path, now() + timedelta(hours=1)) == 1
    assert not folder(tmp_path).exists()
    assert isinstance(jobs.poll(running.metadata), Running)
    assert jobs.cancel(running.metadata)
    ending(jobs, running)


def test_a_folder_that_its_run_still_needs_stays(jobs: JobsByType, tmp_path: Path) -> None:
    run(jobs, a_command("true"))
    later = now() + timedelta(hours=1)
    assert prune(tmp_path, later, lambda spec: spec.values["LABEL"] == "2026-03-03") == 0
    (folder(tmp_path) / "spec.json").unlink()  # of what nobody knows, nobody needs
    assert prune(tmp_path, later, lambda spec: True) == 1


def test_a_folder_whose_supervisor_is_lost_stays_until_its_command_is_over(
    jobs: JobsByType, tmp_path: Path
) -> None:
    jobs.launch(a_command("sleep", "60"), a_context())
    pid = folder(tmp_path) / "pid"
    group = int(soon(lambda: pid.read_text().split() if pid.exists() else None)[0])
    os.kill(parent_of(group), signal.SIGKILL)
    later = now() + timedelta(hours=1)
    soon(lambda: isinstance(JobFolder(tmp_path, folder(tmp_path).name).look(), Lost))
    assert prune(tmp_path, later) == 0  # the command lives on
    os.killpg(group, signal.SIGKILL)
    assert prune(tmp_path, later, lambda spec: True) == 0  # its run has yet to hear of it
    assert prune(tmp_path, now() - timedelta(hours=1)) == 0
    soon(lambda: prune(tmp_path, later))
    assert not folder(tmp_path).exists()


def test_a_folder_of_another_program_stays(tmp_path: Path) -> None:
    (tmp_path / "jobs" / "not a token").mkdir(parents=True)
    assert prune(tmp_path, now() + timedelta(hours=1)) == 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def number_in(path: Path) -> int:
    """What a script writes there, once it has."""
    return int(soon(lambda: path.read_text().strip() if path.exists() else None))


def is_alive(pid: int) -> bool:
    """Not even dead and unburied."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
