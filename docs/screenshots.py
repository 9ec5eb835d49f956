"""Screenshots: pictures of every page in light and dark, taken of a story that the simulator plays.

make screenshots
"""

import io
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from docs import story
from interlock.runtime.health import Health, NotedDatabase
from interlock.web.access import Access
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.listener import bound
from interlock.web.metrics import Metrics
from interlock.web.serve import local_context
from interlock.wiring.local_backend import open_local_backend
from interlock.wiring.settings import Settings

IMAGES = Path(__file__).parent / "images"
SECRET = "secret-of-the-pictures"  # noqa: S105 - of a server that lives for a minute
COLOURS = 256

PAGES = {
    "overview": "/",
    "timeline": "/timeline",
    "timeline-days": "/timeline?span=14d",
    "runs": "/runs?from=2026-03-02",
    "run": "/runs/crypto-silver/stream/2026-03-03T11",
    "pipeline": "/pipelines/earthquake-silver",
    "sla": "/sla",
    "sla-pipeline": "/sla?pipeline=orders-silver",
    "dependencies": "/dependencies",
    "events": "/events?note=1",
    "api": "/docs#listRuns",
}
HEIGHTS = {
    "overview": 1080,
    "timeline": 470,
    "timeline-days": 470,
    "dependencies": 450,
    "sla": 660,
    "run": 720,
    "pipeline": 1380,
}


def main() -> None:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("there is no chromium: install it with `apt-get install chromium`")
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        _served(Path(folder)) as url,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for colours in ("light", "dark"):
            _take(browser, url, colours)
        browser.close()


def _take(browser: Browser, url: str, colours: Any) -> None:
    context = browser.new_context(
        color_scheme=colours, viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{url}/login")
    page.get_by_label("Token").fill(SECRET)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/")
    for name, place in PAGES.items():
        page.set_viewport_size({"width": 1280, "height": HEIGHTS.get(name, 800)})
        page.goto(url + place)
        page.locator('.link[data-state="live"]').wait_for()
        _keep(page.screenshot(), IMAGES / f"{name}-{colours}.png")
    context.close()


def _keep(picture: bytes, path: Path) -> None:
    """A palette is enough for pages, and makes a third of the bytes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    few = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The pages on the afternoon of the story, where the clock stands still."""
    settings = Settings(project=folder, state=folder / ".interlock", environment={})
    settings.state.mkdir()
    story.play(settings.database, folder)
    with open_local_backend(settings, clock=lambda: story.NOW, database=NotedDatabase) as home:
        assert isinstance(home.database, NotedDatabase)
        access = Access(home.store.tokens, {"owner": SECRET})
        desk = local_context(home, Health(home.database, home.queries), access, Metrics())
        app = application(desk, KnownHosts("127.0.0.1"))
        with closing(bound("127.0.0.1", 0)) as where:
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
            thread = threading.Thread(target=server.run, args=([where],), daemon=True)
            thread.start()
            yield f"http://127.0.0.1:{where.getsockname()[1]}"
            desk.closing = server.should_exit = True
            thread.join(10)


if __name__ == "__main__":
    main()
