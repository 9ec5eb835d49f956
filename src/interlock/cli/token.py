"""Token: create, list and revoke API tokens. A secret is shown once, when the token is created."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import click
import msgspec

from interlock.adapters.sqlite.lock import is_served, serving
from interlock.cli.backend import check_folder
from interlock.cli.options import Options
from interlock.cli.shown import document, table
from interlock.client import API, Client
from interlock.errors import ConfigError, NotFoundError, TransientError, UnavailableError
from interlock.runtime.server_address import find_address
from interlock.runtime.tokens import GRANTABLE, make_token, new_secret, shown
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import Settings, read_settings


@click.group("token")
def command() -> None:
    """Create, list and revoke API tokens."""


@command.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice([scope.value for scope in GRANTABLE]),
    help="What the token may do; repeatable.",
)
@click.option(
    "--pipeline",
    "pipelines",
    multiple=True,
    metavar="PIPELINE",
    help="With --scope observe only: restrict the token to this pipeline; repeatable.",
)
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def create(
    options: Options,
    name: str,
    scopes: tuple[str, ...],
    pipelines: tuple[str, ...],
    as_document: bool,
) -> None:
    """Create a token. Its secret is printed only once; the server keeps only its hash."""
    made = _context(options).create(name, scopes, pipelines)
    if as_document:
        document(made)
        return
    click.echo(f"{name}: {_rights(made)}", err=True)
    click.echo(made["secret"])


@command.command("list")
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def list_tokens(options: Options, as_document: bool) -> None:
    """List the tokens, without their secrets."""
    tokens = _context(options).all()
    if as_document:
        document(tokens)
        return
    if not tokens:
        click.echo("no tokens; create one: interlock token create NAME --scope read")
        return
    rows = [(each["name"], _rights(each), _day(each["createdAt"])) for each in tokens]
    table(("NAME", "MAY", "SINCE UTC"), rows, folds=("NAME", "MAY"))


def _rights(token: Mapping[str, Any]) -> str:
    only = f" for {', '.join(token['pipelines'])}" if token.get("pipelines") else ""
    return ", ".join(token["scopes"]) + only


def _day(created_at: object) -> str:
    return str(created_at)[: len("2026-03-03T10:15")].replace("T", " ")


@command.command()
@click.argument("name")
@click.pass_obj
def revoke(options: Options, name: str) -> None:
    """Revoke a token, effective immediately."""
    _context(options).revoke(name)
    click.echo(f"{name}: revoked")


class _Desk(Protocol):
    """The store of tokens: a running server, or the state file."""

    def create(self, name: str, scopes: Sequence[str], pipelines: Sequence[str]) -> Any: ...
    def all(self) -> list[Any]: ...
    def revoke(self, name: str) -> None: ...


def _context(options: Options) -> _Desk:
    settings = read_settings(Path(options.project), os.environ)
    if settings.database.exists() and is_served(settings.database):
        address = find_address(settings.state)
        if address is None:
            raise UnavailableError(
                f"a server holds {settings.database} but has not published its URL; try again"
            )
        return _Served(Client(address.url, address.token))
    return _File(settings)


class _Served:
    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, name: str, scopes: Sequence[str], pipelines: Sequence[str]) -> Any:
        asked = {"name": name, "scopes": list(scopes), "pipelines": list(pipelines)}
        try:
            return self._client.call("POST", f"{API}/tokens", None, asked).json()
        except TransientError as error:  # the name is taken, and a retry won't change that
            raise ConfigError(str(error)) from error

    def all(self) -> list[Any]:
        return list(self._client.call("GET", f"{API}/tokens").json()["items"])

    def revoke(self, name: str) -> None:
        self._client.call("DELETE", f"{API}/tokens/{quote(name, safe='')}")


class _File:
    """No server is running: we hold the file for the moment."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def create(self, name: str, scopes: Sequence[str], pipelines: Sequence[str]) -> Any:
        secret = new_secret()
        with self._opened() as backend:
            token = make_token(name, scopes, pipelines, secret, backend.ports.clock())
            if not backend.store.tokens.create(token):
                raise ConfigError(f"there is a token {name} already")
        return msgspec.to_builtins(shown(token, secret))

    def all(self) -> list[Any]:
        with self._opened() as backend:
            return [msgspec.to_builtins(shown(token)) for token in backend.store.tokens.all()]

    def revoke(self, name: str) -> None:
        with self._opened() as backend:
            if not backend.store.tokens.revoke(name):
                raise NotFoundError(f"there is no token {name}")

    @contextmanager
    def _opened(self) -> Iterator[LocalBackend]:
        settings = self._settings
        check_folder(settings.project)
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with serving(settings.database), open_local_backend(settings) as backend:
            yield backend
