"""Sources: `[[lineage]]` and `[[ping]]` of interlock.toml, who feeds which sensor by other ways than ours."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from interlock.domain.lineage import LineageSource
from interlock.domain.ping import SHORTEST_TOKEN, TOKEN, PingSource

_FROM_ENVIRONMENT = re.compile(r"\$\{(INTERLOCK_[A-Z0-9_]+)\}")

Source = TypeVar("Source", LineageSource, PingSource)


def lineage_sources(value: Any) -> tuple[LineageSource, ...]:
    """Raises ValueError."""
    return tuple(_rows(value, LineageSource))


def ping_sources(value: Any) -> tuple[PingSource, ...]:
    """Raises ValueError; a token is checked once the environment has given it."""
    return tuple(_rows(value, PingSource))


def with_tokens(
    sources: tuple[PingSource, ...], environment: Mapping[str, str]
) -> tuple[PingSource, ...]:
    """Those that have a token, each with it. Raises ValueError, which never repeats one."""
    unset = unset_tokens(sources, environment)
    found = tuple(
        msgspec.structs.replace(source, token=_token(source, environment))
        for source in sources
        if _variable(source) not in unset
    )
    if len({source.token for source in found}) != len(found):
        raise ValueError("has a token twice: each stands for one sensor")
    return found


def unset_tokens(
    sources: tuple[PingSource, ...], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """The variables that should hold a token and hold none: a server needs them, a command does not."""
    names = (_variable(source) for source in sources)
    return tuple(name for name in names if name is not None and not environment.get(name))


def _variable(source: PingSource) -> str | None:
    named = _FROM_ENVIRONMENT.fullmatch(source.token)
    return None if named is None else named[1]


def _token(source: PingSource, environment: Mapping[str, str]) -> str:
    variable = _variable(source)
    token = source.token if variable is None else environment[variable]
    if TOKEN.fullmatch(token) is None:
        raise ValueError(
            f"of {source.pipeline} needs a token of {SHORTEST_TOKEN} or more of A-Z a-z 0-9 _ -"
        )
    return token


def _rows(value: Any, kind: type[Source]) -> list[Source]:
    """`msgspec` says where, and never what stood there."""
    allowed = [field.name for field in msgspec.structs.fields(kind)]
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ValueError(f"is written as [[...]] with: {', '.join(allowed)}")
    if any(row.keys() - set(allowed) for row in value):
        raise ValueError(f"has only: {', '.join(allowed)}")
    try:
        return msgspec.convert(value, list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise ValueError(f"is invalid: {error}") from None
