"""Alert sinks: what `alerts.yaml` and the settings declare, put together; requests go where jobs' may go."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from interlock.adapters.alerts.exchange import Outgoing, Reply, Send
from interlock.adapters.alerts.slack import API, Slack
from interlock.adapters.alerts.webhook import Webhook, WebhookTarget
from interlock.adapters.http.addresses import AllowedHosts
from interlock.adapters.http.http_client import HttpClient, Request
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.secrets.references import Secrets
from interlock.adapters.secrets.texts import Texts
from interlock.domain import canonical
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts, SinkConfig, SinkType
from interlock.domain.budgets import Category
from interlock.errors import ConfigError, TransientError
from interlock.ports.alerts import Sink
from interlock.ports.engine import Clock


class SinkSettings(Protocol):
    """What the settings of a home say about its sinks."""

    @property
    def allowed(self) -> AllowedHosts: ...
    @property
    def ca_file(self) -> Path | None: ...
    @property
    def environment(self) -> Mapping[str, str]: ...
    @property
    def public_url(self) -> str | None: ...
    @property
    def slack_api(self) -> str | None: ...
    @property
    def slack_channel(self) -> str | None: ...
    @property
    def slack_secret_arn(self) -> str | None: ...
    @property
    def slack_token(self) -> str | None: ...


def sinks_of(
    alerts: Alerts, settings: SinkSettings, secrets: Secrets, console: Sink, clock: Clock
) -> dict[str, Sink]:
    """Every sink by its name. The console is always there: it is the last resort."""
    send = guarded(HttpClient(settings.allowed, settings.ca_file), secrets)
    made = {
        name: _sink(name, config, settings, secrets, send, console, clock)
        for name, config in alerts.sinks.items()
    }
    return {CONSOLE.sink: console, **made}


def slack_channel(settings: SinkSettings) -> str | None:
    """Where alerts go when no file says so: nowhere in Slack without a token."""
    has_token = settings.slack_token is not None or settings.slack_secret_arn is not None
    return settings.slack_channel if has_token else None


def guarded(http: HttpClient, secrets: Secrets) -> Send:
    """Requests of sinks, under the address guard of HTTP jobs; without redirects."""

    def send(outgoing: Outgoing) -> Reply:
        request = Request(
            url=outgoing.url,
            method="POST",
            given=dict(outgoing.headers),
            body=outgoing.body,
            timeout=outgoing.seconds,
            holds_secret="Authorization" in outgoing.headers,
        )
        try:
            answer = http.send(request)
        except PlatformError as error:
            kind = ConfigError if error.category is Category.PERMANENT else TransientError
            raise kind(secrets.mask(str(error))) from None
        return Reply(answer.status, answer.body, answer.headers)

    return send


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


def _sink(
    name: str,
    config: SinkConfig,
    settings: SinkSettings,
    secrets: Secrets,
    send: Send,
    console: Sink,
    clock: Clock,
) -> Sink:
    if config.type is SinkType.SLACK:
        token = SlackToken(settings, secrets)
        api = settings.slack_api or API
        return Slack(send, token, base_url=settings.public_url, api=api)
    if config.type is SinkType.WEBHOOK:
        place = partial(_place, config, settings.environment, secrets)
        return Webhook(name, place, send, clock)
    return console


def _place(config: SinkConfig, environment: Mapping[str, str], secrets: Secrets) -> WebhookTarget:
    texts = Texts(environment, {}, lambda reference: secrets.get(reference).reveal())
    url, keys = texts.text(config.url or ""), texts.secret_text(config.secret or "").split()
    if url != config.url:
        secrets.learn(url)  # an operator who keeps it out of the file may have a reason
    for key in keys:
        secrets.learn(key)
    if not keys:
        raise ConfigError("the signing secret is empty")
    return WebhookTarget(url, tuple(keys))
