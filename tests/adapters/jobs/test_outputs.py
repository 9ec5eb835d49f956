"""Outputs: what a job printed, read while it runs and afterwards, without secrets and within bounds."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.job_samples import (
    CANARY,
    ENVIRONMENT,
    a_context,
    a_job,
    ending,
    soon,
    surroundings,
)
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.command.kept_output import KeptStream
from interlock.adapters.jobs.command.supervisor import KEPT, Mask, Tail, without
from interlock.domain.job_output import (
    JobOutput,
    OutputPart,
    OutputRequest,
    OutputStream,
    plain_lines,
)
from interlock.domain.pipeline import Pipeline

TOKEN = a_context().token
LIMIT = 256 * 1024


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobsByType]:
    made = JobsByType(surroundings(tmp_path))
    yield made
    made.cancel({"type": "command", "token": TOKEN})
    made.close()


def sh(script: str, **config: Any) -> Pipeline:
    return a_job("command", command=["/bin/sh", "-c", script], **config)


def read(jobs: JobsByType, stream: str = "both", **part: Any) -> JobOutput:
    wanted = OutputPart(stream=OutputStream(stream), **{"limit": LIMIT, **part})
    return jobs.outputs().read(
        OutputRequest(job_type="command", token=TOKEN, run_id=TOKEN, job={}, part=wanted)
    )


def printed(jobs: JobsByType, script: str, **config: Any) -> JobOutput:
    ending(jobs, jobs.launch(sh(script, **config), a_context()))
    return read(jobs)


# --- streams --------------------------------------------------------------------------------------


def test_streams_are_read_apart_and_together(jobs: JobsByType) -> None:
    found = printed(jobs, "echo out; sleep 0.2; echo err >&2; exit 3")
    assert found.text == "out\nerr\n"
    assert (found.ended, found.exit_code, found.signal) == (True, 3, None)
    assert read(jobs, "stdout").text == "out\n" and read(jobs, "stderr").text == "err\n"
    assert found.sizes == {"stdout": 4, "stderr": 4} and found.size == 8


def test_the_last_lines_are_those_before_the_end(jobs: JobsByType) -> None:
    printed(jobs, "seq 1 100; printf open")
    assert read(jobs, tail=3).text == "99\n100\nopen"
    assert read(jobs, tail=1).text == "open"
    assert read(jobs, tail=1000).text.startswith("1\n2\n")
    found = read(jobs, tail=2)
    assert found.end == found.size and found.start == found.size - len("100\nopen")


def test_a_growing_output_is_read_on_from_where_the_last_part_ended(jobs: JobsByType) -> None:
    jobs.launch(sh("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"), a_context())
    first = soon(lambda: (found := read(jobs, offset=0)).text and found)
    assert isinstance(first, JobOutput) and first.text == "one\n" and not first.ended
    assert read(jobs, offset=first.end).text == ""
    (jobs._surroundings.project / "go").touch()
    soon(lambda: read(jobs).ended)
    assert read(jobs, offset=first.end).text == "two\n"
    assert read(jobs, offset=10_000).text == "" and read(jobs, offset=10_000).start == 8


def test_an_output_beyond_the_bound_keeps_its_end_and_its_offsets(jobs: JobsByType) -> None:
    total = 5 * KEPT + 3
    found = printed(jobs, f"head -c {total} /dev/zero | tr '\\0' x")
    assert found.size == total and found.sizes["stdout"] == total
    assert KEPT <= total - found.kept_from <= 2 * KEPT
    assert read(jobs, offset=0).start == found.kept_from
    parts, at = [], 0
    while at < total:
        part = read(jobs, offset=at)
        parts.append(part.text)
        at = part.end
    assert "".join(parts) == "x" * (total - found.kept_from)


def test_no_part_cuts_a_character_in_two(jobs: JobsByType) -> None:
    text = "aé€😀" * 50
    printed(jobs, f"printf %s '{text}'")
    for limit in range(4, 12):
        parts, at = [], 0
        while at < len(text.encode()):
            part = read(jobs, offset=at, limit=limit)
            parts.append(part.text)
            at = part.end
        assert "".join(parts) == text
        assert "\ufffd" not in read(jobs, limit=limit).text


def test_bytes_that_are_no_text_are_shown_as_such_and_do_not_stop_the_reader(
    jobs: JobsByType,
) -> None:
    found = printed(jobs, r"printf 'a\377\376b\n'; printf '\303'")
    assert found.text == "a\ufffd\ufffdb\n\ufffd" and found.end == found.size


def test_output_can_not_move_a_cursor_or_turn_text_around() -> None:
    evil = "\x1b[31mred\x1b[0m \x1b]0;title\x07\u202etxt\rback\r\nnext\x00\x9b1m\ttab"
    assert plain_lines(evil) == "red txt\nback\nnext1m\ttab"


def test_a_job_of_which_nothing_is_kept_says_so(jobs: JobsByType) -> None:
    assert read(jobs).note == "its output is no longer kept"


def test_what_an_older_version_still_writes_is_shown_only_at_its_end(
    jobs: JobsByType, tmp_path: Path
) -> None:
    """It masks its output only then."""
    printed(jobs, "echo kept")
    folder = tmp_path / "jobs" / TOKEN
    spec = (folder / "spec.json").read_text().replace('"isMasked":true', '"isMasked":false')
    (folder / "spec.json").write_text(spec)
    (folder / "exit.json").rename(folder / "exit.later")
    assert read(jobs).text == "" and "older version" in read(jobs).note
    (folder / "exit.later").rename(folder / "exit.json")
    assert read(jobs).text == "kept\n"


# --- secrets --------------------------------------------------------------------------------------


def test_a_secret_is_masked_on_disk_while_the_command_runs(
    jobs: JobsByType, tmp_path: Path
) -> None:
    script = 'printf "%s" "$KEY" | cut -c 1-7 | tr -d "\\n"; sleep 0.3; printf "%s\\n" "$KEY" | cut -c 8-'
    script += "; exec sleep 60"
    jobs.launch(sh(script, env={"KEY": "secret://env/INTERLOCK_CANARY"}), a_context())
    soon(lambda: "\n" in read(jobs).text)
    assert read(jobs).text == "***\n"
    for path in (tmp_path / "jobs" / TOKEN).glob("*"):
        if path.is_file():
            assert CANARY[:6].encode() not in path.read_bytes()


def test_a_stream_is_masked_wherever_it_is_cut() -> None:
    """Pieces of any size, secrets that are the beginning, the end or the inside of others."""
    chance = random.Random(7)
    secrets = [b"hunter2", b"hunter2-and-more", b"r2-and", b"2hun", b"key-key-key"]
    words = [*secrets, b"hunt", b"er2", b"x", b"\n", b"key-", b"hunter2-and-m", b"2hu"]
    for _ in range(300):
        text = b"".join(chance.choices(words, k=chance.randint(1, 30)))
        mask, kept, at = Mask(secrets), b"", 0
        while at < len(text):
            size = chance.randint(1, 9)
            kept += mask.add(text[at : at + size])
            at += size
        kept += mask.rest()
        assert not any(secret in kept for secret in secrets), (text, kept)


def test_a_stream_without_secrets_comes_out_as_it_went_in() -> None:
    chance = random.Random(8)
    text = bytes(chance.choices(b"abc", k=5000))
    mask = Mask([b"abcabcabcabcabcabcabcabcabcabcabcabc"])
    kept = b"".join(mask.add(text[at : at + 7]) for at in range(0, 5000, 7)) + mask.rest()
    assert kept == without([b"abcabcabcabcabcabcabcabcabcabcabcabc"], text)


def test_a_secret_that_overlaps_itself_is_not_held_back_for_ever() -> None:
    mask = Mask([b"aa"])
    kept = b"".join(mask.add(b"a" * 100) for _ in range(100))
    assert len(kept) > 100 and b"aaaa" not in kept


# --- disks ----------------------------------------------------------------------------------------


def test_a_full_disk_costs_the_output_and_not_the_reader(tmp_path: Path) -> None:
    """The rotation finds no room for its next file, and finds it later."""
    tail = Tail(str(tmp_path / "stdout"))
    tail.add(b"x" * KEPT)
    blocked = tmp_path / f"stdout.{KEPT}"
    blocked.mkdir()
    tail.add(b"lost")
    blocked.rmdir()
    tail.add(b"found")
    stream = KeptStream(tmp_path, "stdout")
    assert stream.size == KEPT + len("found")
    part = OutputPart(offset=KEPT, limit=100)
    assert stream.part(part, whole=True) == (KEPT, b"found")


def test_a_file_that_goes_away_while_it_is_read_is_no_longer_kept(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"old")
    (tmp_path / "stdout.3").write_bytes(b"new")
    stream = KeptStream(tmp_path, "stdout")
    (tmp_path / "stdout").unlink()
    assert stream.part(OutputPart(offset=0, limit=100), whole=True) == (3, b"new")


def test_foreign_files_beside_the_output_are_not_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"own")
    (tmp_path / "stdout.bak").write_bytes(b"foreign")
    assert KeptStream(tmp_path, "stdout").size == 3


# --- other platforms ------------------------------------------------------------------------------

LINKS: dict[str, tuple[dict[str, Any], str, str]] = {
    "glue": (
        {"jobName": "load orders", "runId": "jr_1", "region": "eu-west-1"},
        "jr_1",
        "https://eu-west-1.console.aws.amazon.com/gluestudio/home?region=eu-west-1"
        "#/job/load%20orders/run/jr_1",
    ),
    "emr": (
        {"clusterId": "j-2A", "stepId": "s-1"},
        "s-1",
        "https://eu-central-1.console.aws.amazon.com/emr/home?region=eu-central-1"
        "#/clusterDetails/j-2A",
    ),
    "emr-serverless": (
        {"applicationId": "00f", "runId": "00g"},
        "00g",
        "https://eu-central-1.console.aws.amazon.com/cloudwatch/home?region=eu-central-1"
        "#logsV2:log-groups/log-group/$252Faws$252Femr-serverless$3FlogStreamNameFilter"
        "$3Dapplications$252F00f$252Fjobs$252F00g",
    ),
    "step-function": (
        {"executionArn": "arn:aws:states:eu-west-3:1:execution:m:n"},
        "arn:aws:states:eu-west-3:1:execution:m:n",
        "https://eu-west-3.console.aws.amazon.com/states/home?region=eu-west-3"
        "#/v2/executions/details/arn:aws:states:eu-west-3:1:execution:m:n",
    ),
    "databricks": (
        {"workspaceUrl": "https://${INTERLOCK_WORKSPACE}/", "jobId": 7, "runId": "8", "run": {}},
        "8",
        "https://dbc.example/#job/7/run/8",
    ),
    "airflow": (
        {"url": "https://air.example/p", "dagId": "a b", "apiVersion": "v2", "runId": "r+1"},
        "r+1",
        "https://air.example/p/dags/a%20b/runs/r%2B1",
    ),
}


def linked(tmp_path: Path, kind: str, job: dict[str, Any], run_id: str | None) -> JobOutput:
    environment = {
        **ENVIRONMENT,
        "AWS_REGION": "eu-central-1",
        "INTERLOCK_WORKSPACE": "dbc.example",
    }
    outputs = JobsByType(surroundings(tmp_path, environment)).outputs()
    part = OutputPart(limit=LIMIT)
    return outputs.read(
        OutputRequest(job_type=kind, token=TOKEN, run_id=run_id, job=job, part=part)
    )


@pytest.mark.parametrize("kind", LINKS)
def test_a_platform_that_keeps_the_output_is_linked(kind: str, tmp_path: Path) -> None:
    job, run_id, address = LINKS[kind]
    found = linked(tmp_path, kind, job, run_id)
    assert found.link == address
    assert found.note == f"the platform keeps the output of this {kind} job"


def test_airflow_2_has_its_own_address(tmp_path: Path) -> None:
    job = {"url": "http://air:8080", "dagId": "d", "apiVersion": "v1"}
    assert linked(tmp_path, "airflow", job, "r").link == "http://air:8080/dags/d/grid?dag_run_id=r"


@pytest.mark.parametrize(
    ("kind", "job", "run_id"),
    [
        ("http", {"runId": "1"}, "1"),
        ("lambda", {}, "1"),
        ("no-such-type", {}, "1"),
        ("databricks", {"workspaceUrl": "https://dbc.example", "runId": "8"}, "8"),
        ("databricks", {"workspaceUrl": "https://${INTERLOCK_GONE}", "jobId": 7}, "8"),
        ("airflow", {"url": "https://ada:pass@air.example", "dagId": "d"}, "r"),
        ("airflow", {"url": "javascript:alert(1)//x", "dagId": "d"}, "r"),
        ("airflow", {"url": "https://air.example", "dagId": "d"}, None),
        ("airflow", {"url": "https://[air", "dagId": "d"}, "r"),
    ],
)
def test_without_a_safe_address_there_is_none(
    tmp_path: Path, kind: str, job: dict[str, Any], run_id: str | None
) -> None:
    found = linked(tmp_path, kind, job, run_id)
    assert found.link is None and "knows no address" in found.note
