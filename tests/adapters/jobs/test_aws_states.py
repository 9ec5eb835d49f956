"""Every state that AWS's own models name has a meaning here; a new one fails this test."""

import logging
from collections.abc import Mapping

import boto3  # type: ignore[import-untyped]
import pytest

from interlock.adapters.jobs.aws import emr, emr_serverless, glue, step_function
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Running, Succeeded


@pytest.mark.parametrize(
    ("service", "shape", "table"),
    [
        ("glue", "JobRunState", glue.STATES),
        ("emr", "StepState", emr.STATES),
        ("emr-serverless", "JobRunState", emr_serverless.STATES),
        ("stepfunctions", "ExecutionStatus", step_function.STATES),
    ],
)
def test_every_state_of_the_model_has_a_meaning(
    service: str, shape: str, table: Mapping[str, Meaning]
) -> None:
    model = boto3.client(service, region_name="eu-west-1").meta.service_model
    assert set(table) == set(model.shape_for(shape).enum)


@pytest.mark.parametrize(
    ("meaning", "category", "stopped"),
    [
        (Meaning.UNEXPLAINED, None, False),
        (Meaning.TRANSIENT, Category.TRANSIENT, False),
        (Meaning.PERMANENT, Category.PERMANENT, False),
        (Meaning.TIMEOUT, Category.TIMEOUT, False),
        (Meaning.STOPPED, None, True),
    ],
)
def test_a_failure_is_of_the_kind_that_its_state_means(
    meaning: Meaning, category: Category | None, stopped: bool
) -> None:
    answer = judged(meaning, "X", "AnalysisException")  # which would be a hint
    assert isinstance(answer, Failed)
    assert (answer.category, answer.stopped) == (category, stopped)
    assert answer.detail == {"state": "X"}


def test_a_failure_that_says_why_is_hinted_at() -> None:
    answer = judged(Meaning.FAILED, "FAILED", "AnalysisException: no x")
    assert isinstance(answer, Failed) and answer.category is Category.PERMANENT
    assert answer.detail == {"state": "FAILED", "hint": "AnalysisException"}


def test_without_a_message_the_state_speaks_for_itself() -> None:
    assert judged(Meaning.RUNNING, "WAITING") == Running("its state is WAITING")
    assert isinstance(judged(Meaning.SUCCEEDED, "DONE"), Succeeded)


def test_an_unknown_state_is_no_end_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        assert meaning_of("glue", "SOMETHING_NEW_7", glue.STATES) is Meaning.RUNNING
    told = [record for record in caplog.records if record.__dict__["action"] == "unknown_state"]
    assert len(told) == 1 and told[0].__dict__["state"] == "SOMETHING_NEW_7"
