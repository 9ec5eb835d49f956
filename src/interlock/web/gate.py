"""Gate: the checks every request passes before it is handled, and the headers every response carries."""

import ipaddress
import logging
import re
import socket
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlock.domain.callers import Scope as Needed
from interlock.errors import InterlockError
from interlock.web.access import COOKIE, Access, Caller
from interlock.web.http_problem import HttpProblem, problem_of

log = logging.getLogger(__name__)

#: Probes call these without a secret, and under host names that the server can't know.
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
LONGEST_ADDRESS = 8 * 1024
LOGIN = "/login"
STATIC = "/static/"
#: The token in the path is the credential.
PING = "/ping/"
#: Slack signs what it sends here.
SLACK_ACTIONS = "/slack/actions"
#: Logging in needs no caller; everything else does.
_WITHOUT_CALLER = OPEN_PATHS | {LOGIN}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: A route treats a trailing line break as the end of the path, so the key would lose it.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - what it means to listen on them

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # with no-referrer, browsers send `Origin: null` and the gate would refuse our own forms
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class KnownHosts:
    """The host names this server answers to: protects against DNS rebinding by a hostile page."""

    def __init__(self, host: str, further: Iterable[str] = ()) -> None:
        self._any_address = host in _ANY_ADDRESS
        own = {socket.gethostname()} if self._any_address else {host}
        self._names = {name.lower() for name in (*_LOOPBACK, *own, *further)}

    def admits(self, header: str) -> bool:
        name = hostname(header)
        if name is None:
            return False
        return name in self._names or (self._any_address and _is_address(name))


def hostname(header: str) -> str | None:
    """The name in a Host header, without its port; None when it is malformed."""
    text = header.strip().lower()
    if text.startswith("["):
        name, closed, port = text[1:].partition("]")
        port = port.removeprefix(":") if port.startswith(":") or not port else "x"
        if not closed or not _is_address(name):
            return None
    else:
        name, _, port = text.partition(":")
    if not name or (port and not port.isdecimal()):
        return None
    return name.removesuffix(".")


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class Gate:
    """ASGI middleware. Stores the caller in the request's state."""

    def __init__(self, app: ASGIApp, access: Access, hosts: KnownHosts) -> None:
        self._app, self._access, self._hosts = app, access, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            caller = self._admit(scope, headers)
        except Exception as error:
            if not isinstance(error, HttpProblem | InterlockError):
                log.exception("the gate failed", extra={"action": "gate_failed"})
            answer = _at_the_door(error, scope, headers) or problem_of(error)
            await answer(scope, receive, _with_headers(send))
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, _with_headers(send))

    def _admit(self, scope: Scope, headers: Headers) -> Caller | None:
        path, method = scope["path"], scope["method"]
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise HttpProblem(414, f"the URL is longer than {LONGEST_ADDRESS // 1024} KiB")
        if _CONTROL.search(path):
            raise HttpProblem(400, "the path contains a control character")
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            raise HttpProblem(400, "exactly one Host header is required")
        if path not in OPEN_PATHS and not self._hosts.admits(hosts[0]):
            raise HttpProblem(421, "unknown host name; add it to `hosts` in interlock.toml")
        if path.startswith(PING) or path == SLACK_ACTIONS:
            return None
        authorization = headers.get("authorization")
        caller: Caller | None
        if authorization is not None:
            caller = self._bearer(authorization)
        else:
            caller = self._session(headers)
            if method not in _SAFE:
                _check_origin(scope, headers, hosts[0])
        if caller is None and path not in _WITHOUT_CALLER and not path.startswith(STATIC):
            raise HttpProblem(401, "a token is required", headers={"WWW-Authenticate": "Bearer"})
        return caller

    def _bearer(self, authorization: str) -> Caller:
        scheme, _, secret = authorization.partition(" ")
        caller = self._access.by_secret(secret.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise HttpProblem(401, "invalid token", headers=challenge)
        return caller

    def _session(self, headers: Headers) -> Caller | None:
        session = cookie_of(headers, COOKIE)
        return None if session is None else self._access.by_session(session)


def wants_page(path: str, headers: Headers) -> bool:
    """Whether the request comes from a browser."""
    return not path.startswith("/api/") and "text/html" in headers.get("accept", "")


def _at_the_door(error: Exception, scope: Scope, headers: Headers) -> Response | None:
    """The redirect to the login for a browser without a session; None for programs and other errors."""
    if not isinstance(error, HttpProblem) or error.status != HTTPStatus.UNAUTHORIZED:
        return None
    if scope["method"] != "GET" or not wants_page(scope["path"], headers):
        return None
    if "authorization" in headers:
        return None
    if headers.get("sec-fetch-site") == "cross-site":
        return HTMLResponse(_KNOCK)
    wanted = scope["path"] + (f"?{query}" if (query := scope["query_string"].decode()) else "")
    return RedirectResponse(f"{LOGIN}?{urlencode({'next': wanted})}", HTTPStatus.SEE_OTHER)


#: Following a link from another site omits our strict cookie; reloading from our own page sends it.
_KNOCK = '<!doctype html><meta http-equiv="refresh" content="0"><title>Interlock</title>'


def caller_of(request: Request, needed: Needed, pipeline_id: str | None = None) -> Caller:
    """The caller admitted by the gate. Raises HttpProblem unless they may do this."""
    caller: Caller | None = request.scope["state"]["caller"]
    if caller is None or not caller.may(needed, pipeline_id):
        whom = "" if pipeline_id is None else f" for {pipeline_id}"
        raise HttpProblem(403, f"this requires the scope {needed}{whom}")
    return caller


def cookie_of(headers: Headers, name: str) -> str | None:
    """Our cookies need no quoting, so the header is only split: on some Python versions, the parser of the
    standard library takes quadratic time on a hostile one.
    """
    for pair in headers.get("cookie", "").split(";"):
        named, _, value = pair.strip().partition("=")
        if named == name:
            return value
    return None


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Without a bearer token, only our own pages may change anything."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        raise HttpProblem(403, "cross-site request refused")
    # a proxy in front may speak TLS to the browser and plain HTTP to us
    if origin is not None and origin not in (f"{scope['scheme']}://{host}", f"https://{host}"):
        raise HttpProblem(403, "cross-origin request refused")
    if site is None and origin is None:
        raise HttpProblem(401, "a token is required", headers={"WWW-Authenticate": "Bearer"})


def _with_headers(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            message["headers"] += [each for each in WIRE_HEADERS if each[0] not in given]
        await send(message)

    return answer


#: Encoded for the wire. Every response carries them unless it sets its own.
WIRE_HEADERS = [
    (name.encode(), value.encode())
    for name, value in {**HEADERS, "cache-control": "no-store"}.items()
]
