"""Login: how a browser gets a session. Opening the page changes nothing; submitting the form does."""

import re
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from interlock.web.access import COOKIE, SESSION_SECONDS
from interlock.web.api.bodies import read_text
from interlock.web.api.context import ApiContext
from interlock.web.gate import cookie_of
from interlock.web.pages.site import Site

_LARGEST = 4096
#: A path on this server: one slash, and nothing that a browser could read as another host.
_OURS = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,1000}")


class Login:
    """The page and its form."""

    def __init__(self, context: ApiContext, site: Site) -> None:
        self._context, self._site = context, site

    async def page(self, request: Request) -> Response:
        given = request.query_params
        shown = {"code": given.get("code", "")[:512], "next": _ours(given.get("next", "/"))}
        return self._site.login_page(request, {**shown, "refused": False})

    async def enter(self, request: Request) -> Response:
        form = parse_qs(await read_text(request, _LARGEST))
        wanted = _ours(form.get("next", ["/"])[0])
        session = self._context.access.log_in(form.get("secret", [""])[0])
        if session is None:
            shown = {"code": "", "next": wanted, "refused": True}
            return self._site.login_page(request, shown, HTTPStatus.FORBIDDEN)
        answer = RedirectResponse(wanted, HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            session,
            max_age=SESSION_SECONDS,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),
        )
        return answer

    async def leave(self, request: Request) -> Response:
        session = cookie_of(request.headers, COOKIE)
        if session is not None:
            self._context.access.log_out(session)
        answer = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer


def _ours(place: str) -> str:
    """Where to go after logging in: never to another host, even if the link says so."""
    return place if _OURS.fullmatch(place) else "/"
