"""Visitor: a person with a browser and a session, who reads pages as text."""

import re
from html.parser import HTMLParser
from typing import Any, Protocol

from starlette.testclient import TestClient

from web.house import OWNER, URL

SAME = {"Origin": URL, "Sec-Fetch-Site": "same-origin"}
HTML = {"Accept": "text/html"}


class Words(HTMLParser):
    """What stands between the tags, and every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self._words))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


class Host(Protocol):
    """A server in process."""

    def client_of(self, secret: str | None, **headers: str) -> TestClient: ...


class Visitor:
    """Logged in with a secret, as a browser would be."""

    def __init__(self, house: Host, secret: str = OWNER) -> None:
        self.client: TestClient = house.client_of(None, **HTML)
        self.client.post("/login", content=f"secret={secret}", headers=SAME)

    def see(self, path: str, status: int = 200) -> Words:
        answer = self.client.get(path)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:2000])
        assert answer.headers["content-type"].startswith("text/html")
        return Words(answer.text)

    def send(self, path: str, **form: str) -> Any:
        return self.client.post(path, data=form, headers=SAME)
