"""Slack: alerts as messages of a bot, in threads. It translates Slack's answers into ours.

The token is sent to Slack and nowhere else: no error, log line or event holds it.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from interlock.adapters.alerts.exchange import Outgoing, Reply, Send
from interlock.adapters.alerts.sink_context import SinkContext, SinkSettings
from interlock.adapters.alerts.slack_blocks import SlackLook, message
from interlock.adapters.secrets.references import Secrets
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import (
    Answer,
    NoAccess,
    NoChannel,
    NoThread,
    Posted,
    SendFailed,
    TryLater,
)
from interlock.domain.alerting.note import AlertNote, Note
from interlock.domain.alerting.sink_kinds import SINK_KINDS, SlackConfig
from interlock.domain.event import Severity, clean
from interlock.errors import ConfigError, TransientError

API = "https://slack.com/api"
#: When Slack asks to wait and does not say how long.
SOME_TIME = timedelta(seconds=30)
LONGEST_WAIT = timedelta(hours=1)

#: Gives the bot's token, or None when there is none; `fresh` asks again where it is kept.
Token = Callable[[bool], str | None]


class Slack:
    """One workspace. `base_url` is where our own pages are, for links to runs."""

    manner = SINK_KINDS["slack"].manner

    def __init__(
        self,
        send: Send,
        token: Token,
        *,
        base_url: str | None = None,
        api: str = API,
        buttons: bool = False,
    ) -> None:
        """`buttons`: whether our server takes clicks on them."""
        self._send, self._token = send, token
        self._look = SlackLook(base_url, buttons)
        self._api = api.rstrip("/")

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        body: dict[str, Any] = {
            "channel": channel,
            "unfurl_links": False,
            "unfurl_media": False,
            **message(note, self._look),
        }
        if thread is not None:
            body["thread_ts"] = thread
            if isinstance(note, AlertNote) and note.event.severity is Severity.CRITICAL:
                body["reply_broadcast"] = True
        return self._ask("chat.postMessage", body)

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        body = {"channel": channel, "ts": receipt, **message(note, self._look)}
        return self._ask("chat.update", body)

    def _ask(self, method: str, body: dict[str, Any]) -> Answer:
        """What Slack does not take as blocks it gets as text; a token it refuses is read once more."""
        try:
            answer, word = self._call(method, body, fresh=False)
            if word in _BAD_BLOCKS:
                plain = {name: value for name, value in body.items() if name != "blocks"}
                answer, word = self._call(method, plain, fresh=False)
            if word in _NO_ACCESS:
                answer, word = self._call(method, body, fresh=True)
        except TransientError as error:
            return SendFailed(clean(str(error)), unreachable=True)
        except ConfigError as error:
            return SendFailed(clean(str(error)))
        return answer

    def _call(self, method: str, body: dict[str, Any], *, fresh: bool) -> tuple[Answer, str]:
        """The answer, and Slack's own word for what went wrong."""
        token = self._token(fresh)
        if token is None:
            return NoAccess("there is no token: set SLACK_BOT_TOKEN or SLACK_SECRET_ARN"), ""
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json; charset=utf-8",
        }
        text = canonical.encode(body).encode()
        return _understood(self._send(Outgoing(f"{self._api}/{method}", text, headers)))


def slack_sink(context: SinkContext[SlackConfig]) -> Slack:
    settings = context.settings
    token = SlackToken(settings, context.secrets)
    api = settings.slack_api or API
    buttons = settings.slack_signing_secret is not None
    return Slack(context.send, token, base_url=settings.public_url, api=api, buttons=buttons)


class SlackToken:
    """Secrets Manager before the environment. One that Slack refused is read once more."""

    def __init__(self, settings: SinkSettings, secrets: Secrets) -> None:
        self._settings, self._secrets = settings, secrets

    def __call__(self, fresh: bool) -> str | None:
        arn = self._settings.slack_secret_arn
        if arn is None:
            return self._settings.slack_token
        reference = f"aws-sm/{arn}"
        if fresh:
            self._secrets.drop([reference])
        token = _token_in(self._secrets.get(reference).reveal())
        self._secrets.learn(token)
        return token


def _token_in(text: str) -> str:
    """Plain text, or a JSON object that holds it as `token`."""
    if not text.startswith("{"):
        return text.strip()
    try:
        document: Any = canonical.decode(text)
    except ValueError:
        document = {}
    token = document.get("token")
    if not isinstance(token, str):
        raise ConfigError("the secret of SLACK_SECRET_ARN holds no text `token`")
    return token


def _understood(reply: Reply) -> tuple[Answer, str]:
    if reply.status == 429:
        return TryLater(_pause(reply)), "ratelimited"
    if reply.status != 200:
        return SendFailed(f"Slack answered HTTP {reply.status}"), ""
    told = _document(reply)
    if told.get("ok") is True:
        return Posted(str(told.get("ts", ""))), ""
    word = clean(str(told.get("error") or "an answer that is no JSON object"), 100)
    if word in _RATE_LIMITED:
        return TryLater(_pause(reply)), word
    return _MEANINGS.get(word, SendFailed)(f"Slack: {word}"), word


def _document(reply: Reply) -> dict[str, Any]:
    try:
        told = canonical.decode(reply.body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _pause(reply: Reply) -> timedelta:
    text = reply.headers.get("retry-after", "")
    if not (text.isascii() and text.isdigit()):
        return SOME_TIME
    return min(timedelta(seconds=max(1, int(text[:9]))), LONGEST_WAIT)


_RATE_LIMITED = ("ratelimited", "rate_limited", "message_limit_exceeded")
_BAD_BLOCKS = ("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long")
_NO_ACCESS = (
    "invalid_auth",
    "not_authed",
    "token_revoked",
    "token_expired",
    "account_inactive",
    "missing_scope",
)
_NO_CHANNEL = ("channel_not_found", "not_in_channel", "is_archived", "restricted_action")
_NO_THREAD = (
    "thread_not_found",
    "message_not_found",
    "cant_update_message",
    "edit_window_closed",
    "cannot_reply_to_message",
)
#: What Slack's words mean; the others are failures that may pass.
_MEANINGS: dict[str, Callable[[str], Answer]] = {
    **dict.fromkeys(_NO_ACCESS, NoAccess),
    **dict.fromkeys(_NO_CHANNEL, NoChannel),
    **dict.fromkeys(_NO_THREAD, NoThread),
}
