"""Token: create, list and revoke API tokens. A secret is shown once, when the token is created."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from interlock.adapters.sqlite.lock import is_served, serving
from interlock.cli.backend import ReachedBackend, actor, check_folder
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.remote import remote_commands, remote_queries
from interlock.cli.shown import brief, document, table
from interlock.client import Client
from interlock.domain.callers import GRANTABLE
from interlock.errors import UnavailableError
from interlock.operations.requests import NewToken
from interlock.operations.tokens import TokenShown
from interlock.runtime.server_address import find_address
from interlock.wiring.local_backend import open_local_backend
from interlock.wiring.settings import read_settings


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
@json_option(TokenShown)
@click.pass_obj
def create(
    options: Options,
    name: str,
    scopes: tuple[str, ...],
    pipelines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a token. Its secret is printed only once; the server keeps only its hash."""
    with _reached(options) as backend:
        wanted = NewToken(name=name, scopes=scopes, pipelines=pipelines)
        made = backend.commands.create_token(wanted)
    if as_json:
        document(made)
        return
    click.echo(f"{name}: {_rights(made)}", err=True)
    click.echo(made.secret)


@command.command("list")
@json_option(list[TokenShown])
@click.pass_obj
def list_tokens(options: Options, as_json: bool) -> None:
    """List the tokens, without their secrets."""
    with _reached(options) as backend:
        tokens = backend.queries.tokens().items
    if as_json:
        document(tokens)
        return
    if not tokens:
        click.echo("no tokens; create one: interlock token create NAME --scope read")
        return
    rows = [(each.name, _rights(each), brief(each.created_at)) for each in tokens]
    table(("NAME", "MAY", "SINCE UTC"), rows, folds=("NAME", "MAY"))


def _rights(token: TokenShown) -> str:
    only = f" for {', '.join(token.pipelines)}" if token.pipelines else ""
    return ", ".join(token.scopes) + only


@command.command()
@click.argument("name")
@click.pass_obj
def revoke(options: Options, name: str) -> None:
    """Revoke a token, effective immediately."""
    with _reached(options) as backend:
        backend.commands.revoke_token(name)
    click.echo(f"{name}: revoked")


@contextmanager
def _reached(options: Options) -> Iterator[ReachedBackend]:
    """The server that holds the state file, as its owner; else the file, which may be new."""
    settings = read_settings(Path(options.project), os.environ)
    if settings.database.exists() and is_served(settings.database):
        address = find_address(settings.state)
        if address is None:
            raise UnavailableError(
                f"{settings.database} is held by a server that has not said where it listens; try again"
            )
        client = Client(address.url, address.token)
        yield ReachedBackend(remote_queries(client), remote_commands(client), served=True)
        return
    check_folder(settings.project)
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with serving(settings.database), open_local_backend(settings) as backend:
        yield ReachedBackend(backend.queries, backend.commands(actor()), served=False)
