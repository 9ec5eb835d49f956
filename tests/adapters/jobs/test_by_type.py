"""Which adapter serves a job, and what becomes of what goes wrong in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.job_samples import CANARY, a_context, a_job, surroundings
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.prepared import is_prepared
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running
from interlock.domain.job_kinds import JOB_KINDS, JobKind
from interlock.domain.pipeline import Pipeline
from interlock.errors import ConfigError, LaunchError, TransientError
from interlock.ports.jobs import Jobs

PERMANENT = PlatformError(Category.PERMANENT, f"no: {CANARY}")
TRANSIENT = PlatformError(Category.TRANSIENT, f"not now: {CANARY}", maybe_started=True)


class Breaking:
    """An adapter that raises what the test wants."""

    error: Exception | None = None
    run_id = ""

    def __init__(self, given: Surroundings) -> None:
        given.secrets.get("env/INTERLOCK_CANARY")

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        self._break()
        return Launched(self.run_id, {})

    def find(self, pipeline: Pipeline, context: JobContext) -> Absent:
        self._break()
        return Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Failed:
        self._break()
        return Failed(None, f"x\n{CANARY}{'y' * 1000}", detail={"state": CANARY, "n": 1})

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        self._break()
        return True

    def _break(self) -> None:
        if self.error is not None:
            raise self.error


def a_kind(adapter: str) -> JobKind:
    """The row of Glue with another adapter."""
    return msgspec.structs.replace(JOB_KINDS["glue"], adapter_path=adapter)


def breaking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> JobsByType:
    monkeypatch.setattr(Breaking, "error", error)
    rows = {"glue": a_kind(f"{__name__}:Breaking")}
    return JobsByType(surroundings(tmp_path), rows)


GLUE = a_job("glue")


@pytest.mark.parametrize(
    ("error", "category", "maybe"),
    [
        (PERMANENT, "PERMANENT", False),
        (TRANSIENT, "TRANSIENT", True),
        (ConfigError(f"unset {CANARY}"), "PERMANENT", False),
        (TransientError("no answer"), "TRANSIENT", False),
        (OSError(28, "No space left on device"), "TRANSIENT", True),
        (None, "TRANSIENT", True),  # it started something and has no run id
    ],
)
def test_a_launch_fails_in_one_way_only(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception | None,
    category: str,
    maybe: bool,
) -> None:
    with pytest.raises(LaunchError) as raised:
        breaking(tmp_path, monkeypatch, error).launch(GLUE, a_context())
    assert (raised.value.category, raised.value.maybe_started) == (category, maybe)
    assert CANARY not in str(raised.value)


def test_a_look_that_fails_is_repeated_or_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TransientError):
        breaking(tmp_path, monkeypatch, TRANSIENT).find(GLUE, a_context())
    with pytest.raises(LaunchError):
        breaking(tmp_path, monkeypatch, PERMANENT).find(GLUE, a_context())


@pytest.mark.parametrize("error", [TRANSIENT, OSError(5, "I/O error")])
def test_a_poll_that_fails_for_a_moment_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with pytest.raises(TransientError) as raised:
        breaking(tmp_path, monkeypatch, error).poll({"type": "glue"})
    assert type(raised.value) is TransientError  # the lifecycle knows it by this very name
    assert CANARY not in str(raised.value)


@pytest.mark.parametrize("error", [PERMANENT, ConfigError("unset"), KeyError("x"), ValueError("y")])
def test_a_poll_that_can_not_work_has_not_seen_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    answer = breaking(tmp_path, monkeypatch, error).poll({"type": "glue"})
    assert isinstance(answer, Running) and answer.unseen and CANARY not in answer.message


def test_what_a_job_says_is_masked_and_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = breaking(tmp_path, monkeypatch, None).poll({"type": "glue"})
    assert isinstance(answer, Failed)
    assert answer.message.startswith("x ***yyy") and len(answer.message.encode()) <= 512
    assert answer.detail == {"state": "***", "n": 1}


def test_cancelling_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (PERMANENT, RuntimeError("x"), OSError()):
        assert not breaking(tmp_path, monkeypatch, error).cancel({"type": "glue"})
    assert breaking(tmp_path, monkeypatch, None).cancel({"type": "glue"})
    assert not JobsByType(surroundings(tmp_path)).cancel({})


def test_a_type_that_is_not_installed_says_what_to_install(tmp_path: Path) -> None:
    rows = {"glue": a_kind("interlock.no_such_module:X")}
    with pytest.raises(LaunchError, match=r"pip install 'interlock\[aws\]'") as error:
        JobsByType(surroundings(tmp_path), rows).launch(GLUE, a_context())
    assert error.value.category == Category.PERMANENT


def test_an_unsupported_type_is_permanent(tmp_path: Path) -> None:
    jobs = JobsByType(surroundings(tmp_path), {})
    with pytest.raises(LaunchError, match="glue") as error:
        jobs.launch(GLUE, a_context())
    assert error.value.category == Category.PERMANENT
    for metadata in ({"type": "glue"}, {"type": "unheard-of"}, {}):
        answer = jobs.poll(metadata)
        assert isinstance(answer, Running) and answer.unseen


class Counting(Breaking):
    """Remembers that it was made."""

    made = 0

    def __init__(self, given: Surroundings) -> None:
        Counting.made += 1


def test_an_adapter_is_made_once_and_only_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counting, "made", 0)
    jobs = JobsByType(surroundings(tmp_path), {"glue": a_kind(f"{__name__}:Counting")})
    assert Counting.made == 0
    for _ in range(3):
        jobs.poll({"type": "glue"})
    assert Counting.made == 1


def test_the_structs_of_an_adapter_are_prepared_before_a_thread_has_it(tmp_path: Path) -> None:
    came = msgspec.defstruct("Came", ["a"], module="interlock.came_with_the_adapter")
    jobs = JobsByType(surroundings(tmp_path), {"glue": a_kind(f"{__name__}:Counting")})
    jobs.poll({"type": "glue"})
    assert is_prepared(came)


def test_the_port_is_kept_by_the_table() -> None:
    jobs: type[Jobs] = JobsByType
    assert jobs is JobsByType
