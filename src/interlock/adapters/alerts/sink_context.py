"""Sink context: what a sink is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from interlock.adapters.alerts.exchange import Send
from interlock.adapters.http.addresses import AllowedHosts
from interlock.adapters.secrets.references import Secrets
from interlock.domain.alerting.sink_kinds import SinkConfig
from interlock.ports.alerts import Sink
from interlock.ports.engine import Clock

Config = TypeVar("Config", bound=SinkConfig)


class SinkSettings(Protocol):
    """What the settings of a backend say about its sinks."""

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
    def slack_signing_secret(self) -> str | None: ...
    @property
    def slack_token(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class SinkContext(Generic[Config]):
    """A sink's name and config, and what it may use. `console` is the sink of last resort."""

    name: str
    config: Config
    settings: SinkSettings
    secrets: Secrets
    send: Send
    console: Sink
    clock: Clock
