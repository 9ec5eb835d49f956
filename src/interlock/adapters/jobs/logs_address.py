"""Logs address: where a platform shows a job, by the templates of its type."""

from collections.abc import Mapping, Sequence
from string import Formatter
from urllib.parse import quote, urlsplit

from interlock.domain.job_kinds import LogsLink

#: The names that begin an address; every other value is one part of it.
_BASES = frozenset({"url", "workspaceUrl"})


def logs_address(links: Sequence[LogsLink], values: Mapping[str, str]) -> str | None:
    """None without a template that all its values are known for, or for an address that is none."""
    for link in links:
        if link.when is not None and values.get(link.when[0]) != link.when[1]:
            continue
        names = [name for _, name, _, _ in Formatter().parse(link.template) if name]
        if all(values.get(name) for name in names):
            return _checked(link.template.format_map({n: _put(n, values[n]) for n in names}))
    return None


def _put(name: str, value: str) -> str:
    return value.rstrip("/") if name in _BASES else quote(value, safe=":")


def _checked(address: str) -> str | None:
    """An address with a login in it would be shown to every reader."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return address if is_plain else None
