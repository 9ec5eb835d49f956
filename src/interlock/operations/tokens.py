"""Tokens: secrets that identify callers. Only their hashes are stored."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain.callers import GRANTABLE, Scope, Token
from interlock.errors import ConfigError


class TokenShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A token with its secret, which is shown once, at its creation."""

    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    pipelines: tuple[str, ...] = ()
    secret: str = ""


def new_secret() -> str:
    return f"ilk_{secrets.token_urlsafe(32)}"


def digest_of(secret: str) -> str:
    """Secrets are long and random, so a fast hash is safe."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def make_token(
    name: str, scopes: Sequence[str], pipelines: Sequence[str], secret: str, now: datetime
) -> Token:
    """Raises ConfigError for scopes that can't be granted."""
    if not scopes or not set(scopes) <= set(GRANTABLE):
        raise ConfigError(f"unknown scope; the scopes are {', '.join(GRANTABLE)}")
    if pipelines and set(scopes) != {Scope.OBSERVE}:
        raise ConfigError("only a token with the scope observe alone can be limited to pipelines")
    return Token(
        name=name,
        hash=digest_of(secret),
        scopes=tuple(sorted(set(scopes))),
        created_at=now,
        pipelines=tuple(sorted(set(pipelines))),
    )


def shown(token: Token, secret: str = "") -> TokenShown:
    return TokenShown(
        name=token.name,
        scopes=token.scopes,
        created_at=token.created_at,
        pipelines=token.pipelines,
        secret=secret,
    )
