"""Secrets of AWS, by their ARN."""

import sys
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError  # type: ignore[import-untyped]

from adapters.jobs.aws_stand_in import AwsStandIn, Params, SecretsService
from interlock.adapters.jobs.aws import secrets_manager as aws_secrets
from interlock.adapters.jobs.aws.job_clients import AwsClients
from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.adapters.secrets.references import Secrets
from interlock.errors import ConfigError, TransientError

ARN = "arn:aws:secretsmanager:us-east-2:123456789012:secret:etl"


@pytest.fixture
def aws() -> AwsStandIn:
    return AwsStandIn(secretsmanager=SecretsService(etl='{"user": "u", "password": "hush"}'))


def test_a_secret_is_asked_for_in_the_region_of_its_arn(aws: AwsStandIn) -> None:
    clients = AwsClients(aws.client)
    secrets = Secrets({}, fetch=lambda arn: fetch_secret(arn, clients))
    assert secrets.get(f"aws-sm/{ARN}#password").reveal() == "hush"
    assert [region for _, region, _ in aws.configs] == ["us-east-2"]


def test_a_secret_that_does_not_exist_is_a_mistake(aws: AwsStandIn) -> None:
    with pytest.raises(ConfigError, match="ResourceNotFoundException"):
        fetch_secret(f"{ARN}-other", AwsClients(aws.client))


def test_an_unanswered_secret_may_come_later(aws: AwsStandIn) -> None:
    def lose(operation: str, params: Params) -> None:
        raise ReadTimeoutError(endpoint_url="https://x", error="late")

    aws.lost = lose
    with pytest.raises(TransientError):
        fetch_secret(ARN, AwsClients(aws.client))


def test_a_secret_that_is_no_text_is_a_mistake(aws: AwsStandIn) -> None:
    def binary(params: Params) -> Any:
        return {"SecretBinary": b"hush"}

    aws.services["secretsmanager"].GetSecretValue = binary
    with pytest.raises(ConfigError, match="not text") as raised:
        fetch_secret(ARN, AwsClients(aws.client))
    assert "hush" not in str(raised.value)


def test_without_the_sdk_a_secret_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "interlock.adapters.jobs.aws.job_clients", raising=False)
    aws_secrets._clients.cache_clear()
    with pytest.raises(ConfigError, match=r"interlock\[aws\]"):
        fetch_secret(ARN)
