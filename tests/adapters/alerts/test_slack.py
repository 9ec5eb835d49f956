"""Slack: what is sent, and what its answers mean, against a stand-in of its API."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from alert_samples import told
from contracts.samples import NOW, a_thread
from interlock.adapters.alerts.exchange import Outgoing, Reply
from interlock.adapters.alerts.sinks import guarded
from interlock.adapters.alerts.slack import Slack
from interlock.adapters.http.addresses import NOWHERE, AllowedHosts
from interlock.adapters.http.http_client import HttpClient
from interlock.adapters.secrets.references import Secrets
from interlock.domain.alerting.deliveries import (
    NoAccess,
    NoChannel,
    NoThread,
    Posted,
    SendFailed,
    TryLater,
)
from interlock.domain.alerting.note import AlertNote, DigestNote, RootNote, TrialNote
from interlock.domain.event import EventType, Severity
from interlock.errors import ConfigError
from slack_stand_in import TOKEN, SlackStandIn, refused, slack_stand_in, too_many
from tiny_server import Said

NOTE = AlertNote(told(EventType.JOB_FAILED, message="it failed"))
HERE = AllowedHosts.parse("127.0.0.1")


@pytest.fixture
def server() -> Iterator[SlackStandIn]:
    with slack_stand_in() as opened:
        yield opened


@pytest.fixture
def slack(server: SlackStandIn) -> Slack:
    send = guarded(HttpClient(HERE), Secrets({}))
    return Slack(send, lambda fresh: TOKEN, base_url="https://pages.example", api=server.url)


def test_a_message_is_posted_and_named(slack: Slack, server: SlackStandIn) -> None:
    answer = slack.post("C0MAIN", NOTE, None)
    assert isinstance(answer, Posted)
    message = server.messages[answer.receipt]
    assert message["text"] == "error: silver-orders 2026-03-03: it failed"
    assert message["unfurl_links"] is False and message["unfurl_media"] is False
    assert "pages.example/runs/silver-orders/stream/2026-03-03" in str(message["blocks"])
    (asked,) = server.asked
    assert asked.headers["Content-Type"].startswith("application/json")


def test_a_reply_stays_in_its_thread_and_only_a_critical_one_is_broadcast(
    slack: Slack, server: SlackStandIn
) -> None:
    root = slack.post("C0MAIN", RootNote(a_thread(), NOTE.event, is_first=True), None)
    assert isinstance(root, Posted)
    slack.post("C0MAIN", NOTE, root.receipt)
    grave = told(EventType.INFRA_FAILURE, severity=Severity.CRITICAL)
    slack.post("C0MAIN", AlertNote(grave), root.receipt)
    plain, loud = server.replies
    assert plain["thread_ts"] == loud["thread_ts"] == root.receipt
    assert "reply_broadcast" not in plain and loud["reply_broadcast"] is True


def test_a_first_message_is_changed_in_place(slack: Slack, server: SlackStandIn) -> None:
    root = slack.post("C0MAIN", NOTE, None)
    assert isinstance(root, Posted)
    done = told(EventType.JOB_COMPLETED, 9, message="it succeeded")
    assert slack.update("C0MAIN", root.receipt, RootNote(a_thread().moved(done), done)) == root
    assert "it succeeded" in str(server.messages[root.receipt]["blocks"])


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        (too_many(30), TryLater(timedelta(seconds=30))),
        (too_many(0), TryLater(timedelta(seconds=1))),
        (too_many(10**8), TryLater(timedelta(hours=1))),
        (Said(status=429), TryLater(timedelta(seconds=30))),
        (refused("ratelimited"), TryLater(timedelta(seconds=30))),
        (Said(status=500), SendFailed("Slack answered HTTP 500")),
        (Said(status=302, headers={"Location": "/else"}), SendFailed("Slack answered HTTP 302")),
        (refused("internal_error"), SendFailed("Slack: internal_error")),
        (refused("something_new"), SendFailed("Slack: something_new")),
        (Said(text="<html>"), SendFailed("Slack: an answer that is no JSON object")),
        (Said(["ok"]), SendFailed("Slack: an answer that is no JSON object")),
        (refused("channel_not_found"), NoChannel("Slack: channel_not_found")),
        (refused("not_in_channel"), NoChannel("Slack: not_in_channel")),
        (refused("is_archived"), NoChannel("Slack: is_archived")),
        (refused("thread_not_found"), NoThread("Slack: thread_not_found")),
        (refused("message_not_found"), NoThread("Slack: message_not_found")),
    ],
)
def test_what_slack_says_is_reported_in_our_words(
    slack: Slack, server: SlackStandIn, said: Said, meaning: Any
) -> None:
    server.plans.append(said)
    assert slack.post("C0MAIN", NOTE, None) == meaning


def test_a_refused_connection_is_a_failure_that_others_would_meet_too(server: SlackStandIn) -> None:
    server.plans.append(Said(hang_up=True))
    send = guarded(HttpClient(HERE), Secrets({}))
    answer = Slack(send, lambda fresh: TOKEN, api=server.url).post("C0MAIN", NOTE, None)
    assert isinstance(answer, SendFailed) and answer.unreachable


@pytest.mark.parametrize("word", ["invalid_blocks", "msg_blocks_too_long"])
def test_what_is_not_taken_as_blocks_is_sent_as_text(
    slack: Slack, server: SlackStandIn, word: str
) -> None:
    server.plans.append(refused(word))
    answer = slack.post("C0MAIN", NOTE, None)
    assert isinstance(answer, Posted)
    assert "blocks" not in server.messages[answer.receipt]
    assert "it failed" in server.messages[answer.receipt]["text"]


def test_it_is_tried_as_text_once_only(slack: Slack, server: SlackStandIn) -> None:
    server.plans += [refused("invalid_blocks")] * 3
    assert slack.post("C0MAIN", NOTE, None) == SendFailed("Slack: invalid_blocks")
    assert len(server.asked) == 2


def test_a_token_that_is_refused_is_read_once_more(server: SlackStandIn) -> None:
    read: list[bool] = []

    def token(fresh: bool) -> str:
        read.append(fresh)
        return TOKEN if fresh else "xoxb-old"

    slack = Slack(guarded(HttpClient(HERE), Secrets({})), token, api=server.url)
    assert isinstance(slack.post("C0MAIN", NOTE, None), Posted)
    assert read == [False, True]
    server.tokens.clear()
    assert slack.post("C0MAIN", NOTE, None) == NoAccess("Slack: invalid_auth")


def test_without_a_token_no_request_is_sent(server: SlackStandIn) -> None:
    slack = Slack(guarded(HttpClient(HERE), Secrets({})), lambda fresh: None, api=server.url)
    assert isinstance(slack.post("C0MAIN", NOTE, None), NoAccess)
    assert server.asked == []


def test_the_address_guard_holds_for_slack_as_for_jobs(server: SlackStandIn) -> None:
    slack = Slack(guarded(HttpClient(NOWHERE), Secrets({})), lambda fresh: TOKEN, api=server.url)
    answer = slack.post("C0MAIN", NOTE, None)
    assert isinstance(answer, SendFailed) and "127.0.0.1" in answer.error
    assert server.asked == []


def test_no_answer_tells_the_token(server: SlackStandIn) -> None:
    def send(outgoing: Outgoing) -> Reply:
        assert outgoing.headers["Authorization"] == f"Bearer {TOKEN}"
        raise ConfigError("not there")

    slack = Slack(send, lambda fresh: TOKEN, api=server.url)
    assert TOKEN not in str(slack.post("C0MAIN", NOTE, None))
    server.plans.append(Said(text='{"ok": false, "error": "echo"}'))
    real = Slack(guarded(HttpClient(HERE), Secrets({})), lambda fresh: TOKEN, api=server.url)
    assert TOKEN not in str(real.post("C0MAIN", NOTE, None))
    assert all(TOKEN not in str(asked.body) for asked in server.asked)


def test_digests_and_trials_are_messages_too(slack: Slack, server: SlackStandIn) -> None:
    assert isinstance(slack.post("C0MAIN", DigestNote((NOTE.event,) * 9), None), Posted)
    assert isinstance(slack.post("C0MAIN", TrialNote("a test", NOW), None), Posted)
    assert len(server.roots) == 2
