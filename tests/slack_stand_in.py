"""Slack stand-in: its Web API as far as alerts use it, on this machine, with its manners and its moods."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tiny_server import Asked, Said, tiny_server

TOKEN = "xoxb-the-bot"


@dataclass
class SlackStandIn:
    """A workspace: messages by channel and ts, and what is to happen instead of the usual."""

    url: str = ""
    channels: set[str] = field(default_factory=lambda: {"C0MAIN", "C0OTHER"})
    archived: set[str] = field(default_factory=set)
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Answers for the next requests, whatever they ask; None is the usual.
    plans: deque[Said | None] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    updates: int = 0
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def roots(self) -> list[dict[str, Any]]:
        return [each for each in self.messages.values() if "thread_ts" not in each]

    @property
    def replies(self) -> list[dict[str, Any]]:
        return [each for each in self.messages.values() if "thread_ts" in each]

    def delete(self, ts: str) -> None:
        del self.messages[ts]

    def answer(self, asked: Asked) -> Said:
        with self._lock:
            plan = self.plans.popleft() if self.plans else None
            if plan is not None:
                return plan
            return Said(self._usual(asked))

    def _usual(self, asked: Asked) -> dict[str, Any]:
        body = asked.body
        token = asked.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            return _error("invalid_auth")
        if body["channel"] not in self.channels:
            return _error("channel_not_found")
        if body["channel"] in self.archived:
            return _error("is_archived")
        if len(body.get("blocks", [])) > 50 or "text" not in body:
            return _error("invalid_blocks")
        return self._post(body) if asked.path.endswith("chat.postMessage") else self._update(body)

    def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        if "thread_ts" in body and body["thread_ts"] not in self.messages:
            return _error("thread_not_found")
        self._count += 1
        ts = f"1741000000.{self._count:06}"
        self.messages[ts] = {**body, "ts": ts}
        return {"ok": True, "channel": body["channel"], "ts": ts}

    def _update(self, body: dict[str, Any]) -> dict[str, Any]:
        message = self.messages.get(body["ts"])
        if message is None or message["channel"] != body["channel"]:
            return _error("message_not_found")
        self.updates += 1
        message |= {name: body[name] for name in ("text", "blocks") if name in body}
        return {"ok": True, "channel": body["channel"], "ts": body["ts"]}


def _error(word: str) -> dict[str, Any]:
    return {"ok": False, "error": word}


def too_many(seconds: int) -> Said:
    return Said(_error("ratelimited"), status=429, headers={"Retry-After": str(seconds)})


def refused(word: str) -> Said:
    return Said(_error(word))


@contextmanager
def slack_stand_in() -> Iterator[SlackStandIn]:
    slack = SlackStandIn()
    with tiny_server(slack.answer) as server:
        slack.url, slack.asked = server.url, server.asked
        yield slack
