"""Alert sinks: what `alerts.yaml` and the settings declare, put together; requests go where jobs' may go."""

from interlock.adapters.alerts.exchange import Outgoing, Reply, Send
from interlock.adapters.alerts.sink_context import SinkContext, SinkSettings
from interlock.adapters.http.http_client import HttpClient, Request
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.secrets.references import Secrets
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts
from interlock.domain.alerting.sink_kinds import SinkConfig
from interlock.domain.budgets import Category
from interlock.domain.job_kinds import loaded
from interlock.errors import ConfigError, TransientError
from interlock.ports.alerts import Sink
from interlock.ports.engine import Clock


def sinks_of(
    alerts: Alerts, settings: SinkSettings, secrets: Secrets, console: Sink, clock: Clock
) -> dict[str, Sink]:
    """Every sink by its name. The console is always there: it is the last resort."""
    send = guarded(HttpClient(settings.allowed, settings.ca_file), secrets)
    made = {
        name: _sink(
            SinkContext(
                name=name,
                config=config,
                settings=settings,
                secrets=secrets,
                send=send,
                console=console,
                clock=clock,
            )
        )
        for name, config in alerts.sinks.items()
    }
    return {CONSOLE.sink: console, **made}


def _sink(context: SinkContext[SinkConfig]) -> Sink:
    made: Sink = loaded(context.config.kind.adapter_path)(context)
    return made


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
