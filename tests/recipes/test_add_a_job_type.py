"""To add a job type: a config struct, an adapter, and one row of JOB_KINDS. Everything else reads the row.

Beyond this made-up one, a real type has a world in tests/adapters/jobs/kinds.py, in which the contract suite
holds it to the promises of its row, a page docs/howto/jobs/NAME.md, and, on AWS, its rights in
deploy/terraform/jobs.tf, which the tests compare with its row.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta

from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import JobConfig
from interlock.domain.job_kinds import JOB_KINDS, JobKind, Promises
from interlock.domain.objection import Objection, ProblemKind, known
from interlock.domain.pipeline import Pipeline
from interlock.files import load_text, pipeline_schema
from recipes.at_work import ProjectAtWork, reference, registered


class AbacusConfig(JobConfig, frozen=True, kw_only=True):
    """A sum on an abacus."""

    beads: Annotated[int, Meta(ge=1, le=100, description="How many.")]
    rods: Annotated[int, Meta(ge=1, description="On how many rods.")] = 1

    def objections(self) -> Iterator[Objection]:
        if known(self.rods, self.beads) and self.rods > self.beads:
            yield Objection(("rods",), ProblemKind.CONFLICT, "there are more rods than beads")


class AbacusJobs:
    """Counts until it is polled for the second time."""

    sums: dict[str, int] = {}  # noqa: RUF012 - it stands for a platform

    def __init__(self, surroundings: Surroundings) -> None:
        self._clock = surroundings.clock

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        return {"beads": config_of(pipeline, AbacusConfig).beads}

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        self.sums.setdefault(context.token, config_of(pipeline, AbacusConfig).beads)
        return Launched(f"sum-{context.attempt}", {"token": context.token})

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        known = context.token in self.sums
        return self.launch(pipeline, context) if known else Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        left = self.sums[metadata["token"]] = self.sums[metadata["token"]] - 10
        if left > 0:
            return Running(f"{left} beads left")
        return Succeeded("all beads counted", self._clock())

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        return self.sums.pop(metadata["token"], None) is not None


ABACUS = JobKind(
    name="abacus",
    config_path=f"{__name__}:AbacusConfig",
    adapter_path=f"{__name__}:AbacusJobs",
    promises=Promises(recognised_by="a knot in the string", one_job="yes"),
)

FILE = "pipelines/orders.yaml"
PIPELINE = """\
pipeline: {id: orders}
schedule:
  trigger: {key: landed, check: exists}
validation: {rules: [{key: landed, check: exists}]}
job:
  type: abacus
  config: {beads: 20}
  pollInterval: 10s
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ProjectAtWork]:
    AbacusJobs.sums.clear()
    with registered(JOB_KINDS, ABACUS):
        yield ProjectAtWork(tmp_path, {FILE: PIPELINE})


def test_validate_accepts_a_file_that_uses_it(project: ProjectAtWork) -> None:
    assert "0 errors, 0 warnings" in project.output("validate")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{beads: 200}", "7:19: job.config.beads: must be 1 to 100"),
        ("{beads: many}", "7:19: job.config.beads: expected a whole number, found text"),
        ("{}", "7:11: job.config.beads: is missing"),
        ("{beads: 2, colour: red}", "7:22: job.config.colour: unknown key"),
        ("{beads: 2, rods: 3}", "7:28: job.config.rods: there are more rods than beads"),
    ],
)
def test_validate_refuses_a_wrong_config_and_says_where(
    project: ProjectAtWork, config: str, said: str
) -> None:
    project.write(FILE, PIPELINE.replace("{beads: 20}", config))
    assert f"orders.yaml:{said}" in project.output("validate", code=1)


def test_without_its_row_the_type_is_unknown() -> None:
    (problem,) = load_text(PIPELINE).errors
    assert problem.path == "job.type"
    assert problem.message == f"'abacus' is not one of {', '.join(JOB_KINDS)}"


def test_a_run_launches_it_polls_it_and_completes(project: ProjectAtWork) -> None:
    with project.serving() as controller:
        controller.put()
        controller.wait(seconds=10)
        assert "abacus" in controller.page(f"/runs/orders/stream/{project.date}")
        assert "type: abacus" in controller.page("/pipelines/orders")
        assert "triggered abacus job" in controller.page("/events")
        controller.wait(seconds=30)
        (run,) = controller.backend.ports.runs.of_pipeline("orders", "0000", "9999", 10)
        assert (run.status, run.job_type, run.run_id) == ("COMPLETED", "abacus", "sum-0")
        assert AbacusJobs.sums == {run.job["token"]: 0}
    assert "done: completed" in project.output("why", "orders", project.date)
    assert "triggered abacus job" in project.output("events")


def test_why_says_what_the_job_says_while_it_runs(project: ProjectAtWork) -> None:
    with project.serving() as controller:
        controller.put()
        controller.wait(seconds=10)
        assert "10 beads left" in controller.page(f"/runs/orders/stream/{project.date}")
    assert "running" in project.output("why", "orders", project.date)


def test_it_can_be_previewed_and_tried(project: ProjectAtWork) -> None:
    shown = project.output("job", "test", "orders", "--dry-run")
    assert '"type": "abacus"' in shown and '"beads": 20' in shown
    tried = project.output("job", "test", "orders", "--yes")
    assert "found again by its token" in tried and "succeeded: all beads counted" in tried


def test_schema_and_reference_have_it() -> None:
    with registered(JOB_KINDS, ABACUS):
        job = pipeline_schema()["$defs"]["Job"]
        assert job["properties"]["type"]["enum"][-1] == "abacus"
        assert job["allOf"][-1]["then"]["properties"]["config"] == {"$ref": "#/$defs/AbacusConfig"}
        pages = reference()
        assert "## `abacus`\n\nA sum on an abacus.\n" in pages.job_types()
        assert "| a knot in the string | yes |" in pages.job_promises()
