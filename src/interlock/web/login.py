"""Login: how a browser gets a session. Looking at the page does nothing; sending its form does."""

import html
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from interlock.web.access import COOKIE, SESSION_SECONDS
from interlock.web.bodies import read_text
from interlock.web.desk import Desk
from interlock.web.gate import session_of

_LARGEST = 4096

_PAGE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Interlock: log in</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Interlock</h1>
{message}<form method="post" action="/login" autocomplete="off">
{field}<button autofocus>Log in</button></form></main></body>
</html>
"""
_CODE = '<input type="hidden" name="secret" value="{code}">\n'
_FIELD = '<label>Token <input type="password" name="secret" required maxlength="512"></label>\n'
_REFUSED = (
    "<p>That did not work. A login address is good for one login and 15 minutes;"
    " a token works too.</p>\n"
)


class Login:
    """The page and its form."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def page(self, request: Request) -> Response:
        code = request.query_params.get("code", "")[:512]
        field = _CODE.format(code=html.escape(code)) if code else _FIELD
        return HTMLResponse(_PAGE.format(message="", field=field))

    async def enter(self, request: Request) -> Response:
        form = parse_qs(await read_text(request, _LARGEST))
        session = self._desk.access.log_in(form.get("secret", [""])[0])
        if session is None:
            text = _PAGE.format(message=_REFUSED, field=_FIELD)
            return HTMLResponse(text, HTTPStatus.FORBIDDEN)
        answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            session,
            max_age=SESSION_SECONDS,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def leave(self, request: Request) -> Response:
        session = session_of(request.headers)
        if session is not None:
            self._desk.access.log_out(session)
        answer = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer


_HOME = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Interlock</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Interlock is running</h1>
<ul><li><a href="/api/v1/pipelines">pipelines</a></li><li><a href="/api/v1/runs">runs</a></li>
<li><a href="/api/v1/events">events</a></li><li><a href="/openapi.json">the API</a></li>
<li><a href="/readyz">health</a></li></ul>
<form method="post" action="/logout"><button>Log out</button></form></main></body>
</html>
"""


async def home_page(request: Request) -> Response:
    return HTMLResponse(_HOME)
