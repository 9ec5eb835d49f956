"""Clicks in Slack: what is signed, fresh and new is done in the clicker's name; the rest is refused."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from alert_samples import told
from interlock.adapters.alerts.slack_signature import SlackSignature
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.threads import alert_key, opened
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.wiring.settings import read_settings
from web.house import House, client_of

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
PATH = "/slack/actions"
KEY = "silver-orders/stream/2026-03-03"


def signature(secret: str, stamp: str, body: str) -> str:
    """HMAC as RFC 2104 has it, written out: not with the code under test."""
    key = secret.encode().ljust(64, b"\0")
    inner = hashlib.sha256(bytes(k ^ 0x36 for k in key) + f"v0:{stamp}:{body}".encode()).digest()
    return "v0=" + hashlib.sha256(bytes(k ^ 0x5C for k in key) + inner).hexdigest()


def test_the_signature_is_that_of_slacks_own_example() -> None:
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
        "%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    expected = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body) == expected


def payload(action: str = "interlock_acknowledge", value: str = KEY, **changes: Any) -> str:
    told_of = {
        "type": "block_actions",
        "user": {"id": "U1", "username": "ada"},
        "actions": [{"action_id": action, "value": value, "type": "button"}],
        "response_url": "https://169.254.169.254/",
    }
    return urlencode({"payload": json.dumps({**told_of, **changes})})


class Slack:
    """Signs as Slack does, unless a test says otherwise."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def send(self, body: str, *, ago: int = 0, secret: str = SECRET, **headers: str) -> Any:
        stamp = str(int(time.time()) - ago)
        given = {
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature(secret, stamp, body),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self.client.post(PATH, content=body, headers={**given, **headers})


@pytest.fixture
def slack(house: House) -> Iterator[Slack]:
    house.desk.slack = SlackSignature(lambda: SECRET, house.home.ports.clock)
    app = application(house.desk, KnownHosts("127.0.0.1", ["interlock.example"]))
    event = told()
    house.home.store.events.publish([event])
    assert house.home.store.threads.save(opened(event, Target("console"), event.timestamp))
    with client_of(app, None) as client:
        yield Slack(client)


def handling(house: House) -> Handling | None:
    return house.home.store.handlings.find(alert_key(told()))


def test_a_click_acknowledges_in_the_name_of_who_clicked(house: House, slack: Slack) -> None:
    assert slack.send(payload()).status_code == 200
    found = handling(house)
    assert found is not None and found.acknowledged is not None
    assert (found.acknowledged.by, found.acknowledged.reason) == (
        "slack:ada",
        "acknowledged in Slack",
    )
    (entry,) = house.home.store.audit.newest(1)
    assert (entry.actor, entry.action, entry.outcome) == ("slack:ada", "acknowledge", "done")


@pytest.mark.parametrize(("action", "hours"), [("1h", 1), ("4h", 4)])
def test_a_click_snoozes(house: House, slack: Slack, action: str, hours: int) -> None:
    assert slack.send(payload(f"interlock_snooze_{action}")).status_code == 200
    found = handling(house)
    assert found is not None and found.snoozed is not None
    assert (found.snoozed.until - found.snoozed.at).total_seconds() == hours * 3600
    assert not found.snoozed.include_critical


def test_without_a_signing_secret_there_is_no_such_address(house: House) -> None:
    with client_of(house.app, None) as client:
        assert Slack(client).send(payload()).status_code == 404
    assert handling(house) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"secret": "another-secret-of-16"},
        {"ago": 301},
        {"ago": -301},
        {"X-Slack-Signature": ""},
        {"X-Slack-Signature": "v0="},
        {"X-Slack-Signature": "v0=" + "0" * 64},
        {"X-Slack-Signature": "v1=" + "0" * 64},
        {"X-Slack-Signature": "v0=" + "f" * 100_00},
        {"X-Slack-Request-Timestamp": ""},
        {"X-Slack-Request-Timestamp": "-5"},
        {"X-Slack-Request-Timestamp": "1e9"},
        {"X-Slack-Request-Timestamp": "9" * 40},
        {"X-Slack-Request-Timestamp": "1795000000"},  # not the one that is signed
    ],
    ids=str,
)
def test_what_slack_did_not_sign_just_now_is_refused(
    house: House, slack: Slack, changed: dict[str, Any]
) -> None:
    answer = slack.send(payload(), **changed)
    assert answer.status_code in (401, 431)
    assert SECRET not in answer.text
    assert handling(house) is None and house.home.store.audit.newest(1) == []


def test_a_changed_body_is_refused(house: House, slack: Slack) -> None:
    body, stamp = payload(), str(int(time.time()))
    given = {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature(SECRET, stamp, body),
    }
    assert slack.client.post(PATH, content=body + "&x=1", headers=given).status_code == 401
    assert handling(house) is None


def test_a_request_is_taken_once(house: House, slack: Slack) -> None:
    first = slack.send(payload("interlock_snooze_1h"))
    sent = {
        name: first.request.headers[name]
        for name in ("X-Slack-Request-Timestamp", "X-Slack-Signature")
    }
    before = handling(house)
    again = slack.client.post(PATH, content=first.request.content, headers=sent)
    assert again.status_code == 401 and "taken before" in again.text
    assert handling(house) == before


def test_what_was_signed_before_the_start_is_refused(house: House) -> None:
    began = time.time()
    later = SlackSignature(lambda: SECRET, house.home.ports.clock)
    stamp = str(int(began) - 10)
    objection = later.objection(stamp, signature(SECRET, stamp, "x"), b"x")
    assert objection == "the request is too old"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "payload=",
        "payload=5",
        "payload={",
        "payload=" + "[" * 3000,
        "payload=%ff",
        "a=1&" * 20,
        urlencode([("payload", "{}"), ("payload", "{}")]),
        payload(type="view_submission"),
        payload(user={}),
        payload(user={"username": "\u202e\x00"}),
        payload(actions="x"),
        payload(value="silver-orders"),
        payload(value="a/b/c/d"),
        payload(value="x" * 600 + "/b/c"),
    ],
    ids=lambda body: body[:40],
)
def test_what_is_no_click_of_ours_is_refused(house: House, slack: Slack, body: str) -> None:
    assert slack.send(body).status_code == 422
    assert handling(house) is None


@pytest.mark.parametrize(
    "value", ["gold-orders/stream/2026-03-03", "none/stream/2026-03-03", "a/b/x"]
)
def test_a_click_on_an_alert_that_is_not_there_does_nothing(
    house: House, slack: Slack, value: str
) -> None:
    assert slack.send(payload(value=value)).status_code in (400, 404, 409, 422)
    assert handling(house) is None


def test_a_click_on_a_button_that_is_not_ours_is_ignored(house: House, slack: Slack) -> None:
    assert slack.send(payload("other_app")).status_code == 200
    assert handling(house) is None


def test_a_body_that_is_too_large_is_refused(slack: Slack) -> None:
    assert slack.send("payload=" + "x" * 70_000).status_code == 413


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_a_post_is_a_click(slack: Slack, method: str) -> None:
    assert slack.client.request(method, PATH).status_code == 405


def test_the_signing_secret_comes_from_the_environment_or_by_reference(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, {"SLACK_SIGNING_SECRET": SECRET})
    assert settings.slack_signing_secret == SECRET and SECRET not in repr(settings)
    (tmp_path / "interlock.toml").write_text('slack_signing_secret = "secret://file/slack"\n')
    assert read_settings(tmp_path, {}).slack_signing_secret == "secret://file/slack"
    (tmp_path / "interlock.toml").write_text(f'slack_signing_secret = "{SECRET}"\n')
    with pytest.raises(Exception, match="needs a reference such as secret://file") as refused:
        read_settings(tmp_path, {})
    assert SECRET not in str(refused.value)
