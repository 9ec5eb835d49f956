"""Settings: what `interlock.toml` and the environment say, read once; one error lists every problem.

A variable of the environment wins over a line of the file. Values that may be secret never appear in an
error, nor when settings are printed.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from interlock.adapters.http.addresses import NOWHERE, AllowedHosts
from interlock.adapters.secrets.references import SECRETS_FOLDER
from interlock.adapters.sqlite.retention import Spans
from interlock.domain import duration
from interlock.domain.alerting.sink_kinds import CHANNEL_ID
from interlock.domain.lineage import LineageSource
from interlock.domain.ping import PingSource
from interlock.domain.run import EXECUTION_TIMEOUT
from interlock.domain.suggestion import did_you_mean
from interlock.errors import ConfigError
from interlock.wiring.reading_sources import (
    lineage_sources,
    ping_sources,
    unset_tokens,
    with_tokens,
)

FILE = "interlock.toml"
DATABASE = "interlock.db"
PORT = 8787
SHORTEST_TOKEN = 16

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:_-]{0,252}")
_SHORTEST = timedelta(seconds=1)
_LONGEST = timedelta(days=3660)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One installation: a project, its state folder, and how the two are served."""

    project: Path
    state: Path
    host: str = "127.0.0.1"
    port: int = PORT
    #: Further names by which this server may be called.
    hosts: tuple[str, ...] = ()
    instance: str = "interlock"
    execution_timeout: timedelta = EXECUTION_TIMEOUT
    watchdog_every: timedelta = timedelta(minutes=5)
    retention: Spans = field(default_factory=Spans)
    allowed: AllowedHosts = NOWHERE
    ca_file: Path | None = None
    secrets_folder: Path = SECRETS_FOLDER
    token: str | None = field(default=None, repr=False)
    dead_man_url: str | None = field(default=None, repr=False)
    #: Where people find our pages, for links in alerts.
    public_url: str | None = None
    slack_channel: str | None = None
    slack_token: str | None = field(default=None, repr=False)
    slack_secret_arn: str | None = None
    #: Proves that a click comes from Slack; it may be a reference to a secret.
    slack_signing_secret: str | None = field(default=None, repr=False)
    slack_api: str | None = None
    lineage: tuple[LineageSource, ...] = ()
    pings: tuple[PingSource, ...] = ()
    #: Variables that `[[ping]]` names and the environment does not set.
    unset: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def database(self) -> Path:
        return self.state / DATABASE


def read_settings(
    project: Path,
    environment: Mapping[str, str],
    *,
    host: str | None = None,
    port: int | None = None,
) -> Settings:
    """Raises ConfigError with every problem; `host` and `port` are those of the command line."""
    file = project / FILE
    written = read_file(file)
    problems: list[str] = []
    found: dict[str, Any] = {}
    for name, value in written.items():
        if name in _LINES:
            _take(found, name, value, _LINES[name], f"{file}: {name}", problems)
        elif name not in _OF_OTHERS:
            problems.append(f"{file}: {name} is not a setting; {_meant(name)}")
    for variable, (name, read) in _VARIABLES.items():
        if environment.get(variable):
            _take(found, name, environment[variable], read, variable, problems)
    for name, given in (("host", host), ("port", port)):
        if given is not None:
            _take(found, name, given, _LINES[name], f"--{name}", problems)
    if "ping" in found:
        pings = found.pop("ping")
        found["unset"] = unset_tokens(pings, environment)
        read = partial(with_tokens, environment=environment)
        _take(found, "pings", pings, read, f"{file}: ping", problems)
    if problems:
        raise ConfigError("\n".join(problems))
    state = project / found.pop("state", Path(".interlock"))
    return Settings(project=project, state=state, environment=dict(environment), **found)


def _meant(name: str) -> str:
    hint = did_you_mean(name, _LINES)
    return hint or f"there are: {', '.join(_LINES)}"


def read_file(file: Path) -> dict[str, Any]:
    """What it says; nothing where there is none."""
    try:
        with file.open("rb") as text:
            return tomllib.load(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{file} can't be read: {reason}") from None


def _take(
    found: dict[str, Any],
    name: str,
    value: Any,
    read: Callable[[Any], Any],
    where: str,
    problems: list[str],
) -> None:
    """A reader says in its ValueError what is right, never what was given."""
    try:
        found[name] = read(value)
    except (ValueError, ConfigError) as error:
        problems.append(str(error) if str(error).startswith(where) else f"{where} {error}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value:
        raise ValueError("needs a text")
    return value


def _path(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _host(value: Any) -> str:
    host = _text(value).strip("[]")
    if _HOST.fullmatch(host) is None:
        raise ValueError("needs the name or address of a host")
    return host


def _hosts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("needs a list of names of hosts")
    return tuple(map(_host, value))


def _port(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65535:
        raise ValueError("needs a port from 0 to 65535")
    return value


def _instance(value: Any) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise ValueError("needs a name of 1 to 64 letters, digits, points, dashes or underscores")
    return value


def _span(value: Any) -> timedelta:
    try:
        span = duration.parse(value) if isinstance(value, str) else None
    except ValueError:
        span = None
    if span is None or not _SHORTEST <= span <= _LONGEST:
        raise ValueError("needs a duration such as 90s, 2h30m or 1d, of a second at least")
    return span


def _retention(value: Any) -> Spans:
    names = [each.name for each in fields(Spans)]
    if not isinstance(value, dict) or not value.keys() <= set(names):
        raise ValueError(f"is a table with durations for: {', '.join(names)}")
    spans = {}
    for name, text in value.items():
        try:
            spans[name] = _span(text)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return Spans(**spans)


def _token(value: Any) -> str:
    if not isinstance(value, str) or len(value) < SHORTEST_TOKEN or not _is_plain(value):
        raise ValueError(f"needs at least {SHORTEST_TOKEN} characters, without spaces")
    return value


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _url(value: Any) -> str:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("needs a URL with http or https")
    return str(value)


def _base_url(value: Any) -> str:
    url = _url(value).rstrip("/")
    if any(character in url for character in "<>|?#") or not url.isprintable() or " " in url:
        raise ValueError("needs a URL without a query")
    return url


def _channel(value: Any) -> str:
    if not isinstance(value, str) or re.fullmatch(CHANNEL_ID, value) is None:
        raise ValueError("needs the id of a channel such as C0123456789")
    return value


def _slack_token(value: Any) -> str:
    if not isinstance(value, str) or not value or not _is_plain(value):
        raise ValueError("needs the token of a bot, xoxb-...")
    return value


def _reference(value: Any) -> str:
    if not isinstance(value, str) or not value.startswith("secret://") or not _is_plain(value):
        raise ValueError("needs a reference such as secret://file/slack-signing")
    return value


#: What may stand in the file.
_LINES: dict[str, Callable[[Any], Any]] = {
    "state": _path,
    "host": _host,
    "port": _port,
    "hosts": _hosts,
    "instance": _instance,
    "execution_timeout": _span,
    "watchdog_every": _span,
    "retention": _retention,
    "public_url": _base_url,
    "slack_signing_secret": _reference,
    "lineage": lineage_sources,
    "ping": ping_sources,
}
#: Tables that other parts read.
_OF_OTHERS = frozenset({"aws"})
#: Variables of the environment, and the setting that each is.
_VARIABLES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "INTERLOCK_INSTANCE": ("instance", _instance),
    "INTERLOCK_WATCHDOG_EVERY": ("watchdog_every", _span),
    "INTERLOCK_ALLOW_HOSTS": ("allowed", AllowedHosts.parse),
    "INTERLOCK_CA_FILE": ("ca_file", _path),
    "INTERLOCK_SECRETS_DIR": ("secrets_folder", _path),
    "INTERLOCK_TOKEN": ("token", _token),
    "DEAD_MAN_URL": ("dead_man_url", _url),
    "INTERLOCK_PUBLIC_URL": ("public_url", _base_url),
    "SLACK_CHANNEL_ID": ("slack_channel", _channel),
    "SLACK_BOT_TOKEN": ("slack_token", _slack_token),
    "SLACK_SECRET_ARN": ("slack_secret_arn", _text),
    "SLACK_SIGNING_SECRET": ("slack_signing_secret", _token),
    "SLACK_API_URL": ("slack_api", _base_url),
}
