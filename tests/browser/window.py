"""Window: one browser window, logged in. What it complains of, and whom it asks, is noted."""

from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from browser.shop import Shop

PATIENCE_MS = 30_000


class Served(Protocol):
    """Where pages are, and who may see them."""

    @property
    def url(self) -> str: ...

    @property
    def token(self) -> str: ...


class Look:
    """A person looking at the pages of a server."""

    def __init__(
        self,
        browser: Browser,
        served: Served,
        *,
        width: int = 1360,
        height: int = 860,
        colours: Any = "light",
        script: bool = True,
    ) -> None:
        self._served = served
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=colours,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)
        self.log_in()

    def log_in(self) -> None:
        self.page.goto(f"{self._served.url}/login")
        self.page.get_by_label("Token").fill(self._served.token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self._served.url}/")

    def go(self, path: str) -> Page:
        self.page.goto(self._served.url + path)
        return self.page

    def close(self) -> None:
        self.context.close()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).netloc)


class Window(Look):
    """A person looking at the pages of the shop."""

    def __init__(self, browser: Browser, shop: Shop, **kind: Any) -> None:
        self.shop = shop
        super().__init__(browser, shop, **kind)
