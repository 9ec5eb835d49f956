"""Webhook: each alert as a signed POST, as Standard Webhooks 1.0 has it."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import msgspec

from interlock.adapters.alerts.exchange import Outgoing, Send
from interlock.adapters.alerts.sink_context import SinkContext
from interlock.adapters.secrets.texts import Texts
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Answer, Posted, SendFailed, SinkGone
from interlock.domain.alerting.note import Note, about, document
from interlock.domain.alerting.sink_kinds import SIGNING_SECRET, SINK_KINDS, WebhookConfig
from interlock.domain.event import clean
from interlock.errors import ConfigError, TransientError

SHORTEST_KEY = 24


class WebhookTarget(msgspec.Struct, frozen=True):
    """Where it goes, and the secrets it is signed with: several while one is replaced."""

    url: str
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return "Place(...)"


class Webhook:
    """`place` is asked before each request: a secret may have been replaced. It raises ConfigError."""

    manner = SINK_KINDS["webhook"].manner

    def __init__(
        self,
        name: str,
        place: Callable[[], WebhookTarget],
        send: Send,
        clock: Callable[[], datetime],
        base_url: str | None = None,
    ) -> None:
        self._name, self._place, self._send, self._clock = name, place, send, clock
        self._base_url = base_url

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        name = message_id(self._name, note)
        body = canonical.encode(document(note, self._base_url)).encode()
        now = int(self._clock().timestamp())
        try:
            place = self._place()
            headers = {
                "Content-Type": "application/json",
                "webhook-id": name,
                "webhook-timestamp": str(now),
                "webhook-signature": signatures(place.secrets, name, now, body),
            }
            reply = self._send(Outgoing(place.url, body, headers))
        except TransientError as error:
            return SendFailed(clean(str(error)), unreachable=True)
        except ConfigError as error:
            return SendFailed(clean(str(error)))
        if 200 <= reply.status < 300:
            return Posted(name)
        if reply.status == 410:
            return SinkGone("the address answered HTTP 410: it wants no more messages")
        return SendFailed(f"the address answered HTTP {reply.status}")

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return Posted(receipt)  # what was sent can't be changed


def webhook_sink(context: SinkContext[WebhookConfig]) -> Webhook:
    target, base_url = partial(_target, context), context.settings.public_url
    return Webhook(context.name, target, context.send, context.clock, base_url)


def _target(context: SinkContext[WebhookConfig]) -> WebhookTarget:
    config, secrets = context.config, context.secrets
    texts = Texts(
        context.settings.environment, {}, lambda reference: secrets.get(reference).reveal()
    )
    url, keys = texts.text(config.url), texts.secret_text(config.secret).split()
    if url != config.url:
        secrets.learn(url)  # an operator who keeps it out of the file may have a reason
    for key in keys:
        secrets.learn(key)
    if not keys:
        raise ConfigError("the signing secret is empty")
    return WebhookTarget(url, tuple(keys))


def message_id(sink: str, note: Note) -> str:
    """The same on every try: receivers tell repeats by it."""
    events = about(note)
    told = document(note)
    fact = events[0].event_id if told["type"] in {event.type for event in events} else None
    text = f"{sink}/{fact or canonical.encode(told)}"
    return f"evt_{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def signatures(secrets: Sequence[str], name: str, at: int, body: bytes) -> str:
    """One for each secret, with spaces between them. Raises ConfigError for what is no secret."""
    signed = f"{name}.{at}.".encode() + body
    return " ".join(_signature(_key(secret), signed) for secret in secrets)


def _signature(key: bytes, signed: bytes) -> str:
    digest = hmac.digest(key, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(SIGNING_SECRET), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < SHORTEST_KEY:
        raise ConfigError(
            f"a signing secret is {SIGNING_SECRET} and base64 of {SHORTEST_KEY} bytes or more"
        )
    return key
