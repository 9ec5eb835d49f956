"""Targets: a URL parsed once, so that the request goes to exactly what was checked."""

import re
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from interlock.domain.job_forms import LONGEST_URL

PORTS = {"http": 80, "https": 443}

_BAD = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?\.?")
_LITERAL_V6 = re.compile(r"[0-9A-Fa-f:.]+")
#: The characters kept as they are in a path or query; the rest, which is not ASCII, is encoded.
_AS_IT_IS = "".join(map(chr, range(0x21, 0x7F)))


class RequestTarget(msgspec.Struct, frozen=True):
    """Where one request goes; the host is not resolved yet."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"


def target_of(url: str) -> RequestTarget:
    """Raises ValueError with a message that does not repeat the URL, which may contain a secret."""
    if len(url) > LONGEST_URL:
        raise ValueError(f"a URL has at most {LONGEST_URL} characters")
    if _BAD.search(url):
        raise ValueError("a URL can't contain spaces, control characters or backslashes")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("the host or port of the URL is invalid") from None
    if parts.scheme not in PORTS:
        raise ValueError("a URL must begin with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("a URL can't contain a user or password")
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    number = PORTS[parts.scheme] if port is None else port
    return RequestTarget(parts.scheme, _host(host), number, quote(path, safe=_AS_IT_IS))


def redirected(target: RequestTarget, location: str) -> RequestTarget:
    """The target of a redirect. Raises ValueError also for a redirect from https to http."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    base = f"{target.scheme}://{host}:{target.port}{target.path}"
    following = target_of(urljoin(base, location))
    if target.is_encrypted and not following.is_encrypted:
        raise ValueError("a redirect leads from https to http")
    return following


def _host(host: str) -> str:
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise ValueError("the URL has an invalid host") from None
    wanted = _LITERAL_V6 if ":" in host else _NAME
    if wanted.fullmatch(host) is None:
        raise ValueError("the URL has an invalid host")
    return host.lower()
