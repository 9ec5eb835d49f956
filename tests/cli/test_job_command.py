"""`interlock job test`: a job tried once, or only shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from interlock.cli import app
from interlock.errors import InterlockError

SECRET = "hush-hush-hush"

JOBS = {
    "http": """{url: "https://etl.example.com/${INTERLOCK_PATH_KEY}",
                headers: {Authorization: "Bearer SECRET"}}""",
    "command": """{command: [etl, "${DATE}"], env: {KEY: "SECRET"}}""",
    "airflow": """{url: "https://airflow.example.com", dagId: orders,
                   auth: {username: u, password: "SECRET"}}""",
    "databricks": """{workspaceUrl: "https://dbc.example.com", jobId: 7,
                      headers: {Authorization: "Bearer SECRET"}}""",
    "glue": "{jobName: orders, region: eu-west-1}",
    "emr": "{clusterId: j-1, arguments: [spark-submit, x.py]}",
    "emr-serverless": """{applicationId: app, executionRoleArn: "arn:aws:iam::123456789012:role/r",
                          jobDriver: {sparkSubmit: {entryPoint: x.py, entryPointArguments: [a]}}}""",
    "step-function": """{stateMachineArn:
                         "arn:aws:states:eu-west-1:123456789012:stateMachine:orders"}""",
    "lambda": "{functionName: orders, payload: {a: 1}}",
}


class Bench:
    """A project with one pipeline."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pipelines").mkdir()

    def declare(self, kind: str, config: str) -> None:
        text = (
            "pipeline: {id: orders}\n"
            "schedule: {cron: '0 6 * * *'}\n"
            "validation: {rules: [{key: k, check: exists}]}\n"
            f"job: {{type: {kind}, config: {config}}}\n"
        )
        (self.folder / "pipelines" / "orders.yaml").write_text(text, encoding="utf-8")

    def run(self, *arguments: str, answer: str = "") -> Result:
        environment = {"INTERLOCK_SECRET": SECRET, "INTERLOCK_PATH_KEY": f"path-{SECRET}"}
        return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", **environment}).invoke(
            app, ["--project", str(self.folder), "job", "test", *arguments], input=answer
        )

    def steps(self, *arguments: str, code: int = 0) -> list[str]:
        result = self.run("orders", "--yes", *arguments)
        assert result.exit_code == code, result.output
        lines = result.stdout.splitlines()[1:]
        return [line.split()[0] for line in lines if not line.startswith("   ")]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("kind", JOBS)
def test_a_dry_run_shows_the_request_of_every_type_and_no_secret(bench: Bench, kind: str) -> None:
    bench.declare(kind, JOBS[kind].replace("SECRET", "secret://env/INTERLOCK_SECRET"))
    result = bench.run("orders", "--dry-run", "--date", "2026-03-03")
    assert result.exit_code == 0, result.output
    shown: Any = json.loads(result.stdout)
    assert shown["type"] == kind and "il-test-" in result.stdout
    assert SECRET not in result.output
    assert ("***" in result.output) is ("SECRET" in JOBS[kind])
    assert not (bench.folder / ".interlock").exists()


def test_a_dry_run_reads_no_secret(bench: Bench) -> None:
    missing = "secret://aws-sm/arn:aws:secretsmanager:eu-west-1:123456789012:secret:x"
    bench.declare("http", JOBS["http"].replace("SECRET", missing))
    assert bench.run("orders", "--dry-run").exit_code == 0


def test_a_job_is_launched_once_and_followed_to_its_end(bench: Bench) -> None:
    marks = bench.folder / "marks"
    bench.declare("command", f"{{command: [sh, -c, 'echo $INTERLOCK_DATE >> {marks}']}}")
    steps = bench.steps("--date", "2026-03-03")
    assert (steps[:2], steps[-1]) == (["launch", "find"], "end")
    assert marks.read_text() == "2026-03-03\n"
    [folder] = (bench.folder / ".interlock" / "jobs").glob("il-*")
    assert folder.name.startswith("il-test-")


def test_a_job_that_fails_is_a_problem(bench: Bench) -> None:
    bench.declare("command", "{command: [sh, -c, 'echo broken >&2; exit 65']}")
    result = bench.run("orders", "--yes")
    assert result.exit_code == 1
    assert "failed (PERMANENT): broken" in result.stdout


def test_a_launch_that_fails_is_a_problem(bench: Bench) -> None:
    bench.declare("command", "{command: [no-such-program-7]}")
    assert bench.steps(code=1) == ["launch"]


def test_without_a_yes_nothing_is_launched(bench: Bench) -> None:
    marks = bench.folder / "marks"
    bench.declare("command", f"{{command: [touch, {marks}]}}")
    for answer in ("n\n", ""):
        result = bench.run("orders", answer=answer)
        assert result.exit_code == 1 and "for real" in result.output
    assert not marks.exists()
    assert bench.run("orders", answer="y\n").exit_code == 0
    assert marks.exists()


def test_a_job_that_takes_longer_is_left_alone(bench: Bench) -> None:
    bench.declare("command", "{command: [sleep, '600'], timeout: 20m}")
    result = bench.run("orders", "--yes", "--wait", "100ms")
    assert result.exit_code == 1 and "has not ended yet" in result.stdout
    [folder] = (bench.folder / ".interlock" / "jobs").glob("il-*")
    assert not (folder / "exit.json").exists()
    _end(folder)


def _end(folder: Path) -> None:
    from interlock.adapters.jobs.command.job_folder import JobFolder

    assert JobFolder(folder.parent.parent, folder.name).ask_to_end()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "no valid file declares the pipeline nothing"),
        (["orders", "--date", "soon"], "--date"),
        (["orders", "--schedule", "other"], "it has: cron"),
        (["orders", "--yes", "--wait", "soon"], "--wait"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(
    bench: Bench, arguments: list[str], said: str
) -> None:
    bench.declare("command", "{command: ['true']}")
    result = bench.run(*arguments)
    assert isinstance(result.exception, InterlockError) and said in str(result.exception)


def test_a_file_with_errors_is_shown_with_them(bench: Bench) -> None:
    bench.declare("command", "{}")
    result = bench.run("orders", "--dry-run")
    assert result.exit_code == 1 and "orders.yaml:4" in result.output
