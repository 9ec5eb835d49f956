"""Of what kind a failure is."""

import boto3  # type: ignore[import-untyped]
import pytest

from interlock.adapters.jobs.classification import (
    EMR_FULL,
    PERMANENT_CODES,
    TRANSIENT_CODES,
    hint,
    launch_category,
    maybe_started,
)
from interlock.domain.budgets import Category

P, T = Category.PERMANENT, Category.TRANSIENT


@pytest.mark.parametrize(
    ("code", "status", "category"),
    [
        ("ResourceNotFoundException", 404, P),
        ("InvalidZipFileException", 502, P),  # codes go before status
        ("InvalidSomethingNew", 500, P),
        ("KMSDisabledException", 502, P),
        ("KmsAccessDeniedException", 400, P),
        ("ValidationException", 400, P),
        ("NoCredentialsError", None, P),
        ("ConcurrentRunsExceededException", 400, T),
        ("ThrottlingException", 400, T),
        ("ThrottledSomehow", 400, T),
        ("KmsThrottlingException", 400, T),
        ("ServiceUnavailableException", 400, T),
        ("ExpiredTokenException", 400, T),
        ("EFSMountTimeoutException", 408, T),
        ("NeverHeardOf", 400, P),  # then by status
        ("NeverHeardOf", 503, T),
        ("NeverHeardOf", None, T),
        (None, 301, P),
        (None, 400, P),
        (None, 401, P),
        (None, 408, T),
        (None, 409, P),
        (None, 425, T),
        (None, 429, T),
        (None, 500, T),
        (None, 599, T),
        (None, 200, T),
        (None, None, T),
    ],
)
def test_a_launch_that_failed(code: str | None, status: int | None, category: Category) -> None:
    assert launch_category(code, status) is category


def test_a_full_cluster_is_not_a_mistake_in_the_request() -> None:
    assert launch_category("ValidationException", 400, f"{EMR_FULL} exceeded") is T
    assert launch_category("ResourceNotFoundException", 400, f"{EMR_FULL} exceeded") is P


def test_no_code_is_of_both_kinds() -> None:
    assert not PERMANENT_CODES & TRANSIENT_CODES
    assert not any(code.startswith("Invalid") for code in TRANSIENT_CODES)


def test_every_error_that_a_launch_can_end_with_is_of_a_kind() -> None:
    """From the service's own model: what is in neither list goes by its status."""
    for service, operation in (
        ("glue", "StartJobRun"),
        ("emr-serverless", "StartJobRun"),
        ("stepfunctions", "StartExecution"),
    ):
        model = boto3.client(service, region_name="eu-west-1").meta.service_model
        for shape in model.operation_model(operation).error_shapes:
            if shape.name != "ExecutionAlreadyExists":  # not a failure: it is ours
                assert launch_category(shape.name, None) is launch_category(shape.name, 500)
                assert launch_category(shape.name, 400) is launch_category(shape.name, 500)


@pytest.mark.parametrize(
    ("status", "maybe"), [(502, True), (504, True), (500, False), (None, False)]
)
def test_a_gateway_that_gave_up_may_have_started_the_job(status: int | None, maybe: bool) -> None:
    assert maybe_started(status) is maybe


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("java.lang.OutOfMemoryError: heap", T),
        ("-XX:OnOutOfMemoryError='kill -9 %p'", None),  # a flag in every healthy log
        ("Container killed by YARN for exceeding memory limits", T),
        ("Command failed with exit code 137", T),
        ("[Errno 104] Connection reset by peer", T),
        ("AnalysisException: cannot resolve 'x'", P),
        ("ModuleNotFoundError: No module named 'x'", P),
        ("User: x is not authorized to perform: s3:GetObject", P),
        ("AccessDenied while Service Unavailable", None),  # both kinds: unknown
        ("it did not work", None),
        ("", None),
        ("x" * 4096 + "SyntaxError", None),  # only the beginning is looked at
    ],
)
def test_the_words_of_a_message_are_a_hint(message: str, category: Category | None) -> None:
    assert hint(message).category is category
    assert (hint(message).name is None) is (category is None)
