"""A run of Glue that says SUCCEEDED is believed when Glue's own analysis has no objection."""

import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.aws_stand_in import Refused
from adapters.jobs.cloud_worlds import GlueWorld
from adapters.jobs.job_samples import a_context, a_job, now, surroundings
from interlock.adapters.jobs.aws.glue_analysis import (
    JOB_FAILED,
    MOST_PAGES,
    REASON,
    groups,
    objection,
)
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Running, Succeeded

HIT = json.dumps(
    {
        "Event": JOB_FAILED,
        "Timestamp": 1772531000123,
        REASON: "AnalysisException: Path does not exist: s3://lake/orders",
        "Stack Trace": [{"Declaring Class": "org.apache.spark.sql.Dataset"}],
    }
)
STAGE = json.dumps({"Event": "GlueExceptionAnalysisStageFailed", REASON: JOB_FAILED})
#: A line of a healthy log.
HEALTHY = "26/03/03 10:00:01 ERROR Utils: -XX:OnOutOfMemoryError='kill -9 %p' Error"


class Succeeding:
    """A run that says SUCCEEDED, and the logs beside it."""

    def __init__(self, folder: Path, **config: Any) -> None:
        self.world = GlueWorld(surroundings(folder))
        self.logs = self.world.aws.services["logs"]
        self.jobs = self.world.jobs()
        pipeline = a_job("glue", jobName="succeed", **config)
        self.launched = self.jobs.launch(pipeline, a_context())
        self.run = self.world.service.jobs[self.launched.run_id]

    def logged(self, *pages: list[str], group: str = "/aws-glue/jobs/error") -> None:
        stream = f"{self.launched.run_id}-job-insights-rca-driver"
        self.logs.streams[group, stream] = list(pages)

    def poll(self) -> Running | Succeeded | Failed:
        return self.jobs.poll(self.launched.metadata)

    @property
    def unverified(self) -> int:
        return self.world.given.unverified.count


@pytest.fixture
def run(tmp_path: Path) -> Succeeding:
    return Succeeding(tmp_path)


def test_an_analysis_that_says_failed_goes_before_the_state(run: Succeeding) -> None:
    run.logged([HIT])
    answer = run.poll()
    assert isinstance(answer, Failed) and answer.category is Category.PERMANENT
    assert answer.message.startswith("Glue says SUCCEEDED, its analysis says: AnalysisException")
    assert answer.detail == {"state": "SUCCEEDED", "hint": "AnalysisException"}


@pytest.mark.parametrize(
    "pages",
    [
        [[STAGE]],
        [[HEALTHY]],
        [[f"{JOB_FAILED} is a word in this sentence"]],
        [[f'{{"Event": "Other", "text": "{JOB_FAILED}"}}']],
        [[f'{{"Event": "{JOB_FAILED}"']],  # cut off
        [[]],
        [[], []],
    ],
)
def test_what_is_not_the_analysis_of_the_job_is_no_objection(
    run: Succeeding, pages: list[list[str]]
) -> None:
    run.logged(*pages)
    answer = run.poll()
    assert isinstance(answer, Succeeded) and "verified" not in answer.detail
    assert run.unverified == 0


def test_without_a_stream_there_is_nothing_to_object(run: Succeeding) -> None:
    answer = run.poll()
    assert isinstance(answer, Succeeded) and "verified" not in answer.detail
    asked = [params["logGroupName"] for params in run.world.aws.asked("logs:FilterLogEvents")]
    assert asked == ["/aws-glue/jobs/error", "/aws-glue/jobs/logs-v2", "/aws-glue/jobs"]


def test_a_hit_on_the_third_page_after_two_empty_ones_counts(run: Succeeding) -> None:
    run.logged([], [], [f"26/03/03 10:00:01 {HIT}"])
    assert isinstance(run.poll(), Failed)


def test_the_stream_is_asked_for_what_matters_only(run: Succeeding) -> None:
    run.logged([HIT])
    run.poll()
    [asked] = run.world.aws.asked("logs:FilterLogEvents")
    assert asked["filterPattern"] == f'"{JOB_FAILED}"'
    assert asked["startTime"] == int((run.run["began"] - timedelta(minutes=5)).timestamp() * 1000)
    assert "limit" not in asked


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException"])
def test_a_look_that_fails_is_no_failure_of_the_job(
    run: Succeeding, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    def refuse(operation: str, params: Any) -> None:
        if operation.startswith("logs:"):
            raise Refused(code)

    run.world.aws.fault = refuse
    answer = run.poll()
    assert isinstance(answer, Succeeded) and answer.detail["verified"] is False
    assert run.unverified == 1
    assert [record.__dict__["action"] for record in caplog.records] == ["success_unverified"]


def test_a_log_without_an_end_is_left_alone(run: Succeeding) -> None:
    run.logged(*[[] for _ in range(MOST_PAGES + 5)])
    answer = run.poll()
    assert isinstance(answer, Succeeded) and answer.detail["verified"] is False
    assert len(run.world.aws.asked("logs:FilterLogEvents")) == MOST_PAGES + 2


def test_a_hit_in_one_group_counts_though_another_is_denied(run: Succeeding) -> None:
    run.logged([HIT], group="/aws-glue/jobs/logs-v2")

    def refuse(operation: str, params: Any) -> None:
        if params.get("logGroupName") == "/aws-glue/jobs/error":
            raise Refused("AccessDeniedException")

    run.world.aws.fault = refuse
    assert isinstance(run.poll(), Failed)


def test_logs_arrive_late_so_a_fresh_success_is_confirmed_later(run: Succeeding) -> None:
    run.run["ended"] = now() - timedelta(seconds=5)
    answer = run.poll()
    assert isinstance(answer, Running) and not answer.unseen and "confirming" in answer.message
    run.run["ended"] = now() - timedelta(seconds=16)
    assert isinstance(run.poll(), Succeeded)


def test_a_hit_is_believed_at_once(run: Succeeding) -> None:
    run.run["ended"] = now()
    run.logged([HIT])
    assert isinstance(run.poll(), Failed)


def test_who_handles_exceptions_on_purpose_can_switch_it_off(tmp_path: Path) -> None:
    run = Succeeding(tmp_path, verifySuccess=False)
    run.logged([HIT])
    assert isinstance(run.poll(), Succeeded)
    assert not run.world.aws.asked("logs:FilterLogEvents")


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"GlueVersion": "5.0"}, ["/aws-glue/jobs/error", "/aws-glue/jobs/logs-v2"]),
        ({"GlueVersion": "10.1"}, ["/aws-glue/jobs/error", "/aws-glue/jobs/logs-v2"]),
        ({"GlueVersion": "4.0"}, ["/aws-glue/jobs/logs-v2", "/aws-glue/jobs/error"]),
        ({}, ["/aws-glue/jobs/logs-v2", "/aws-glue/jobs/error"]),
        ({"GlueVersion": "5.0", "LogGroupName": "/mine/"}, ["/mine/error", "/mine/logs-v2"]),
    ],
)
def test_where_the_stream_is_looked_for(run: dict[str, Any], expected: list[str]) -> None:
    found = groups(run)
    assert found[:2] == expected
    assert found[2:] == [expected[0].rpartition("/")[0]]


def test_a_place_of_its_own_is_looked_at_first() -> None:
    arguments = {"--custom-logGroup-prefix": "/own", "--continuous-log-logGroup": "/very/own"}
    found = groups({"Arguments": arguments, "GlueVersion": "5.0"})
    assert found[:4] == ["/very/own", "/own/error", "/own/logs-v2", "/own"]
    assert found[4:] == ["/aws-glue/jobs/error", "/aws-glue/jobs/logs-v2", "/aws-glue/jobs"]


def test_an_objection_without_a_reason_is_one_all_the_same() -> None:
    assert objection(f'{{"Event": "{JOB_FAILED}"}}') == "no reason given"
    assert objection("[1]") is None and objection("") is None
