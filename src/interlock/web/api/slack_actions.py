"""Slack actions: clicks on the buttons of an alert. Slack's signature is the right."""

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from interlock.adapters.alerts.slack_blocks import ACKNOWLEDGE, BUTTONS, SNOOZE
from interlock.adapters.alerts.slack_signature import SlackSignature
from interlock.domain.event import clean
from interlock.errors import InterlockError
from interlock.operations.requests import NewAcknowledgement, NewSnooze
from interlock.web.api.bodies import read_bytes
from interlock.web.api.context import ApiContext
from interlock.web.gate import SLACK_ACTIONS
from interlock.web.http_problem import HttpProblem, problem_of

log = logging.getLogger(__name__)

_LARGEST = 64 * 1024
_LONGEST_NAME = 64


class SlackUser(msgspec.Struct, frozen=True):
    """Who clicked."""

    id: str = ""
    username: str = ""
    name: str = ""


class SlackClick(msgspec.Struct, frozen=True):
    """A button, and the alert that it belongs to."""

    action_id: str
    value: str = ""


class SlackPayload(msgspec.Struct, frozen=True):
    """What Slack says of clicks, as far as we need it."""

    type: str
    user: SlackUser
    actions: list[SlackClick]


def slack_routes(context: ApiContext) -> list[Route]:
    """None without a signing secret: then there is no such address."""
    if context.slack is None:
        return []
    return [Route(SLACK_ACTIONS, _answering(context, context.slack), methods=["POST"])]


def _answering(context: ApiContext, signature: SlackSignature) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            body = await read_bytes(request, _LARGEST)
            stamp, given = _signed(request)
            await to_thread.run_sync(_take, context, signature, (stamp, given, body))
            response = Response(status_code=200)
        except (HttpProblem, InterlockError) as error:
            response = problem_of(error)
        context.metrics.requests.labels("slack", response.status_code).inc()
        return response

    return answer


def _signed(request: Request) -> tuple[str, str]:
    headers = request.headers
    return (
        headers.get("x-slack-request-timestamp", ""),
        headers.get("x-slack-signature", ""),
    )


def _take(context: ApiContext, signature: SlackSignature, request: tuple[str, str, bytes]) -> None:
    stamp, given, body = request
    objection = signature.objection(stamp, given, body)
    if objection is not None:
        log.warning("a click was refused: %s", objection, extra={"action": "slack_refused"})
        raise HttpProblem(401, objection)
    clicked = _payload(body)
    commands = context.backend.commands(_actor(clicked.user))
    for click in clicked.actions:
        if click.action_id not in BUTTONS:
            continue
        place = _place(click.value)
        if click.action_id == ACKNOWLEDGE:
            commands.acknowledge(*place, NewAcknowledgement(reason="acknowledged in Slack"))
        else:
            span = click.action_id.removeprefix(SNOOZE)
            commands.snooze(*place, NewSnooze(reason="snoozed in Slack", span=span))


def _payload(body: bytes) -> SlackPayload:
    try:
        (text,) = parse_qs(body.decode(), max_num_fields=10)["payload"]
        found = msgspec.json.decode(text, type=SlackPayload)
    except (KeyError, ValueError, RecursionError):
        raise HttpProblem(422, "the body has no payload of clicks") from None
    if found.type != "block_actions":
        raise HttpProblem(422, "only clicks on buttons are taken")
    return found


def _actor(user: SlackUser) -> str:
    name = clean(user.username or user.name or user.id, _LONGEST_NAME)
    if not name:
        raise HttpProblem(422, "the payload does not say who clicked")
    return f"slack:{name}"


def _place(value: str) -> tuple[str, str, str]:
    parts = value.split("/")
    if len(parts) != 3 or len(value) > 500:
        raise HttpProblem(422, "the button belongs to no alert")
    return parts[0], parts[1], parts[2]
