"""The token of Slack in Secrets Manager: read when it is needed, once more if refused, never shown."""

import json
from collections.abc import Iterator

import pytest

from adapters.jobs.aws_stand_in import AwsStandIn, Refused, SecretsService
from aws.alert_board import Board, Queue, messages
from aws.functions import function_home
from aws.homes import Services
from contracts.samples import ManualClock
from interlock.adapters.jobs.aws.job_clients import AwsClients
from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.lambdas.alert_dispatcher import handle
from interlock.wiring.aws_alerts import AwsAlerting
from interlock.wiring.aws_settings import Function
from slack_stand_in import TOKEN, SlackStandIn, slack_stand_in

ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:slack"
DONE: dict[str, list[object]] = {"batchItemFailures": []}


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as served:
        yield served


@pytest.fixture
def aws() -> AwsStandIn:
    return AwsStandIn(secretsmanager=SecretsService(slack=TOKEN))


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def alerting(
    services: Services, clock: ManualClock, slack: SlackStandIn, aws: AwsStandIn, queue: Queue
) -> AwsAlerting:
    clock.advance(minutes=16)  # after the events that were recorded
    home = function_home(
        Function.ALERT_DISPATCHER,
        services,
        clock,
        wrap=lambda service, client: queue if service == "sqs" else client,
        SLACK_API_URL=slack.url,
        SLACK_CHANNEL_ID="C0MAIN",
        SLACK_SECRET_ARN=ARN,
        SLACK_BOT_TOKEN="an older one, which the secret goes before",
        INTERLOCK_ALLOW_HOSTS="127.0.0.1",
    )
    clients = AwsClients(aws.client)
    return AwsAlerting(home, Board(), fetch=lambda arn: fetch_secret(arn, clients))


@pytest.mark.parametrize("kept", [TOKEN, f"{TOKEN}\n", json.dumps({"token": TOKEN})])
def test_the_secret_is_the_token_as_text_or_under_its_name(
    alerting: AwsAlerting, aws: AwsStandIn, slack: SlackStandIn, kept: str
) -> None:
    aws.services["secretsmanager"].secrets["slack"] = kept
    assert handle(messages(1), alerting) == DONE
    (root,) = slack.roots
    assert root["channel"] == "C0MAIN"
    assert aws.asked("secretsmanager:GetSecretValue") == [{"SecretId": ARN}]


def test_a_token_that_was_replaced_is_read_once_more(
    alerting: AwsAlerting, aws: AwsStandIn, slack: SlackStandIn
) -> None:
    slack.tokens = {"xoxb-the-next"}
    answers = iter(["xoxb-revoked", "xoxb-the-next"])
    aws.fault = lambda operation, params: aws.services["secretsmanager"].secrets.update(
        slack=next(answers)
    )
    assert handle(messages(1), alerting) == DONE
    assert len(slack.roots) == 1 and len(aws.calls) == 2


def test_a_secret_that_can_not_be_read_holds_the_alert_and_shows_nothing(
    alerting: AwsAlerting,
    aws: AwsStandIn,
    slack: SlackStandIn,
    queue: Queue,
    clock: ManualClock,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def deny(operation: str, params: dict[str, object]) -> None:
        raise Refused("AccessDeniedException", "not allowed", 403)

    aws.fault = deny
    assert handle(messages(1), alerting) == {"batchItemFailures": [{"itemIdentifier": "msg-1"}]}
    assert slack.messages == {} and len(queue.later) == 1 and queue.dead == []

    aws.fault = lambda operation, params: None
    clock.advance(seconds=queue.later[0][1])
    assert handle(messages(1), alerting) == DONE
    assert len(slack.roots) == 1
    assert TOKEN not in capsys.readouterr().out + caplog.text
