"""Site: every page at its path, and the forms that request an action."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from interlock.domain import duration
from interlock.domain.callers import Scope
from interlock.errors import InterlockError
from interlock.queries.heartbeat import Heartbeat
from interlock.web.api.bodies import read_text
from interlock.web.api.context import ApiContext
from interlock.web.gate import caller_of, cookie_of
from interlock.web.http_problem import HttpProblem, status_of
from interlock.web.pages import (
    alerts_page,
    api_page,
    audit_page,
    dependencies_page,
    events_page,
    last_look,
    overview,
    pipeline_page,
    pipelines_page,
    run_page,
    runs_page,
    search_page,
    sla_page,
    timeline_page,
)
from interlock.web.pages.assets import PREFIX, Assets
from interlock.web.pages.form_fields import FormFields
from interlock.web.pages.forms import FORMS, Preview, SentForm
from interlock.web.pages.page_request import PageRequest, PageRow, Shown
from interlock.web.pages.templating import environment
from interlock.web.pages.zone_choice import COOKIE as ZONE_COOKIE
from interlock.web.pages.zone_choice import zone_choice
from interlock.web.read_only_refusals import refusal

log = logging.getLogger(__name__)

PAGES: tuple[PageRow, ...] = (
    overview.PAGE,
    timeline_page.PAGE,
    runs_page.PAGE,
    pipelines_page.PAGE,
    pipeline_page.PAGE,
    run_page.PAGE,
    sla_page.PAGE,
    dependencies_page.PAGE,
    events_page.PAGE,
    alerts_page.PAGE,
    audit_page.PAGE,
    search_page.PAGE,
    api_page.PAGE,
)

THEMES = ("light", "dark")
_ANSWER_SECONDS = 60.0
_LARGEST_FORM = 64 * 1024
_HTML = {"Vary": "Cookie"}


class Site:
    """The pages of one server."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._assets = Assets()
        self._templates = environment(self._assets)

    def routes(self) -> list[Route]:
        return [
            *(Route(row.path, self._showing(row), methods=["GET"]) for row in PAGES),
            *(Route(path, self._doing(path), methods=["POST"]) for path in FORMS),
            Route("/looked", self._looked, methods=["POST"]),
            Route(PREFIX + "{name:path}", self._assets.answer, methods=["GET"]),
        ]

    def error_page(self, request: Request, status: int, detail: str) -> Response:
        shown = {"status": status, "phrase": HTTPStatus(status).phrase, "detail": detail}
        return self._rendered(request, "error.html", shown, status)

    def login_page(self, request: Request, shown: Shown, status: int = 200) -> Response:
        return self._rendered(request, "login.html", shown, status)

    def _showing(self, row: PageRow) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            began = time.perf_counter()
            response = await self._guarded(request, lambda: self._show(row, request))
            name = row.template.removesuffix(".html")
            self._context.metrics.requests.labels(f"page {name}", response.status_code).inc()
            self._context.metrics.seconds.labels(f"page {name}").observe(
                time.perf_counter() - began
            )
            return response

        return answer

    def _show(self, row: PageRow, request: Request) -> Response:
        caller = caller_of(request, Scope.READ, request.path_params.get("pipeline"))
        query = _query(row.query, request)
        backend, cache = self._context.backend, self._context.cache
        now, path = backend.ports.clock(), request.path_params
        cookie = cookie_of(request.headers, last_look.COOKIE) if row.since_looked else None
        looked_at = last_look.looked_at(cookie, now)
        build = partial(row.build, PageRequest(self._context, caller, path, query, now, looked_at))
        shown = cache.get((row.path, *sorted(path.items()), query, looked_at), build)
        return self._rendered(request, row.template, {**self._common(), "now": now, **shown})

    def _common(self) -> Shown:
        """What the frame of every page shows."""
        backend, cache = self._context.backend, self._context.cache
        heartbeat = cache.get("heartbeat", backend.queries.watchdog)
        return {
            "heartbeat": heartbeat,
            "late": _late(heartbeat),
            "notices": self._context.health.notices(),
            "now": backend.ports.clock(),
        }

    async def _looked(self, request: Request) -> Response:
        """The reader has seen what changed; only their browser remembers it."""
        now = self._context.backend.ports.clock()
        return last_look.remember(RedirectResponse("/", HTTPStatus.SEE_OTHER), now)

    def _doing(self, path: str) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            try:
                form = FormFields(await read_text(request, _LARGEST_FORM))
            except HttpProblem as refusal:
                return self.error_page(request, refusal.status, refusal.detail)
            return await self._guarded(request, lambda: self._do(path, request, form))

        return answer

    def _do(self, path: str, request: Request, form: FormFields) -> Response:
        if self._context.only_reads:
            name = path.rpartition("/")[2]
            raise refusal(self._context.backend.info, name, request.path_params)
        row, pipeline = FORMS[path], request.path_params.get("pipeline")
        caller = caller_of(request, row.scope, pipeline)
        if not form.get("reason").strip():
            raise HttpProblem(422, "enter a reason; it is recorded with your name")
        answer = row.act(SentForm(self._context, caller, request.path_params, form))
        if isinstance(answer, Preview):
            return self._rendered(request, answer.template, {**self._common(), **answer.shown})
        return RedirectResponse(answer, HTTPStatus.SEE_OTHER)

    async def _guarded(self, request: Request, work: Callable[[], Response]) -> Response:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            return self.error_page(request, 503, "the request timed out")
        except HttpProblem as refusal:
            return self.error_page(request, refusal.status, refusal.detail)
        except InterlockError as error:
            return self.error_page(request, *status_of(self._context.backend.explained(error)))
        except Exception:
            log.exception("a page failed", extra={"action": "page_failed"})
            return self.error_page(request, 500, "internal error; see the server's log")

    def _rendered(
        self, request: Request, template: str, shown: Shown, status: int = 200
    ) -> Response:
        given = {
            "path": request.url.path,
            "here": _here(request),
            "theme": _theme(request),
            "zone_choice": zone_choice(cookie_of(request.headers, ZONE_COOKIE)),
            "place": self._context.backend.info,
            "only_reads": self._context.only_reads,
        }
        text = self._templates.get_template(template).render({**given, **shown})
        return HTMLResponse(text, status, headers=_HTML)


def _query(kind: type[msgspec.Struct], request: Request) -> Any:
    try:
        return msgspec.convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid URL: {error}") from None


def _late(heartbeat: Heartbeat) -> str | None:
    if not heartbeat.is_late:
        return None
    every = duration.for_people(heartbeat.every)
    if heartbeat.last_ok_at is None:
        return f"The watchdog has not completed a pass yet; one is due every {every}."
    age = duration.for_ages(heartbeat.now - heartbeat.last_ok_at)
    return f"The watchdog's last good pass was {age} ago; one is due every {every}."


def _here(request: Request) -> str:
    """The URL of this page without the notice of the last action."""
    kept = [
        (k, v)
        for k, v in request.query_params.multi_items()
        if k not in ("asked", "done", "accepted", "refused")
    ]
    return request.url.path + (f"?{urlencode(kept)}" if kept else "")


def _theme(request: Request) -> str:
    theme = cookie_of(request.headers, "interlock_theme")
    return theme if theme is not None and theme in THEMES else ""
