"""Webhooks: signed as Standard Webhooks has it, judged by its reference library."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import standardwebhooks

from alert_samples import told
from contracts.samples import NOW
from interlock.adapters.alerts.sinks import guarded
from interlock.adapters.alerts.webhook import Webhook, WebhookTarget, message_id, signatures
from interlock.adapters.http.addresses import NOWHERE, AllowedHosts
from interlock.adapters.http.http_client import HttpClient
from interlock.adapters.secrets.references import Secrets
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Posted, SendFailed, SinkGone
from interlock.domain.alerting.note import AlertNote, SummaryNote, TrialNote
from interlock.domain.event import EventType
from interlock.errors import ConfigError
from tiny_server import Asked, Said, Tiny, tiny_server

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
EVENT = told(EventType.JOB_FAILED, message="it failed")
NOTE = AlertNote(EVENT)


class Receiver:
    """Answers as scripted, otherwise with success."""

    def __init__(self) -> None:
        self.said = Said()
        self.server: Tiny | None = None

    def answer(self, asked: Asked) -> Said:
        return self.said

    @property
    def asked(self) -> list[Asked]:
        assert self.server is not None
        return self.server.asked


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with tiny_server(receiver.answer) as server:
        receiver.server = server
        yield receiver


def hook(
    receiver: Receiver,
    *secrets: str,
    allowed: str = "127.0.0.1",
    now: datetime | None = None,
    base_url: str | None = None,
) -> Webhook:
    assert receiver.server is not None
    place = WebhookTarget(f"{receiver.server.url}/hook", secrets or (SECRET,))
    send = guarded(HttpClient(AllowedHosts.parse(allowed) if allowed else NOWHERE), Secrets({}))
    return Webhook("ops", lambda: place, send, lambda: now or datetime.now(UTC), base_url)


def test_the_body_has_the_address_of_the_run(receiver: Receiver) -> None:
    hook(receiver, base_url="https://interlock.example").post("-", NOTE, None)
    (asked,) = receiver.asked
    url = "https://interlock.example/runs/silver-orders/stream/2026-03-03"
    assert asked.body["data"]["url"] == url


def test_the_signature_is_that_of_the_reference_vector() -> None:
    body = b'{"test": 2432232314}'
    name, at = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signatures([SECRET], name, at, body) == expected
    moment = datetime.fromtimestamp(at, UTC)
    assert standardwebhooks.Webhook(SECRET).sign(name, moment, body.decode()) == expected


@pytest.mark.parametrize("secrets", [(SECRET,), (OTHER, SECRET), (SECRET, OTHER)])
def test_the_reference_library_accepts_what_is_sent(
    receiver: Receiver, secrets: tuple[str, ...]
) -> None:
    assert isinstance(hook(receiver, *secrets).post("-", NOTE, None), Posted)
    (asked,) = receiver.asked
    headers = {name.lower(): value for name, value in asked.headers.items()}
    told_of = standardwebhooks.Webhook(SECRET).verify(canonical.encode(asked.body), headers)
    assert told_of["type"] == "JOB_FAILED"
    assert told_of["data"]["eventId"] == EVENT.event_id
    assert set(told_of) == {"type", "timestamp", "data"}


def test_a_receiver_with_another_secret_refuses_it(receiver: Receiver) -> None:
    hook(receiver, OTHER).post("-", NOTE, None)
    (asked,) = receiver.asked
    headers = {name.lower(): value for name, value in asked.headers.items()}
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(SECRET).verify(canonical.encode(asked.body), headers)


def test_every_try_has_the_same_id_and_its_own_time(receiver: Receiver) -> None:
    receiver.said = Said(status=500)
    early, late = datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)
    hook(receiver, now=early).post("-", NOTE, None)
    hook(receiver, now=late).post("-", NOTE, None)
    first, second = ({n.lower(): v for n, v in each.headers.items()} for each in receiver.asked)
    assert first["webhook-id"] == second["webhook-id"] == message_id("ops", NOTE)
    assert second["webhook-timestamp"] == str(int(late.timestamp()))
    assert first["webhook-signature"] != second["webhook-signature"]


def test_an_id_is_of_the_sink_and_the_event() -> None:
    name = message_id("ops", NOTE)
    assert name.startswith("evt_") and len(name) == 36
    assert message_id("audit", NOTE) != name
    assert message_id("ops", AlertNote(told(EventType.SLA_BREACH))) != name
    summary = message_id("ops", SummaryNote(NOW, (EVENT,), ()))
    assert summary not in (name, message_id("ops", SummaryNote(NOW, (), (EVENT,))))
    assert message_id("ops", TrialNote("a", NOW)) != message_id("ops", TrialNote("b", NOW))


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(200, Posted), (204, Posted), (301, SendFailed), (404, SendFailed), (410, SinkGone)],
)
def test_only_a_2xx_is_done_and_a_410_is_for_ever(
    receiver: Receiver, status: int, meaning: type
) -> None:
    receiver.said = Said(status=status, headers={"Location": "http://169.254.169.254/"})
    assert isinstance(hook(receiver).post("-", NOTE, None), meaning)
    assert len(receiver.asked) == 1  # no redirects


def test_a_refused_connection_is_a_failure(receiver: Receiver) -> None:
    receiver.said = Said(hang_up=True)
    answer = hook(receiver).post("-", NOTE, None)
    assert isinstance(answer, SendFailed) and answer.unreachable


def test_the_address_guard_of_jobs_holds(receiver: Receiver) -> None:
    answer = hook(receiver, allowed="").post("-", NOTE, None)
    assert isinstance(answer, SendFailed) and "127.0.0.1" in answer.error
    assert receiver.asked == []


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_short", "whsec_not base64 at all", "whsec_eA=="]
)
def test_what_is_no_secret_is_not_signed_with(receiver: Receiver, secret: str) -> None:
    answer = hook(receiver, secret).post("-", NOTE, None)
    assert isinstance(answer, SendFailed)
    assert len(secret) < 7 or secret not in answer.error
    assert receiver.asked == []
    with pytest.raises(ConfigError):
        signatures([secret], "evt_1", 1, b"")


def test_what_is_sent_can_not_be_changed(receiver: Receiver) -> None:
    assert hook(receiver).update("-", "evt_1", NOTE) == Posted("evt_1")
