"""Window: one browser window, logged in. What it complains of, and whom it asks, is noted."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from browser.shop import Shop

PATIENCE_MS = 30_000


class Window:
    """Somebody looking at the pages."""

    def __init__(
        self,
        browser: Browser,
        shop: Shop,
        *,
        width: int = 1360,
        height: int = 860,
        colours: Any = "light",
        script: bool = True,
    ) -> None:
        self.shop = shop
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
        self.page.goto(f"{self.shop.url}/login")
        self.page.get_by_label("Token").fill(self.shop.token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self.shop.url}/")

    def go(self, path: str) -> Page:
        self.page.goto(self.shop.url + path)
        return self.page

    def close(self) -> None:
        self.context.close()

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).netloc)
