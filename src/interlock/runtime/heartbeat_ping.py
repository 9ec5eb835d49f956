"""Dead man: after each clean pass of the watchdog somebody outside is told that we live.

Nobody else can tell that the whole machine is gone. A request that fails is counted and fails nothing.
"""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

SECONDS = 5.0


class HeartbeatPing:
    """One request at a time, beside whatever else is done."""

    def __init__(self, url: str, told: Callable[[bool], None]) -> None:
        self._url, self._told = url, told
        self._busy = threading.Lock()

    def live(self) -> None:
        if self._busy.acquire(blocking=False):
            threading.Thread(target=self._request, name="interlock-dead-man", daemon=True).start()

    def _request(self) -> None:
        try:
            good = tell_alive(self._url)
        finally:
            self._busy.release()
        self._told(good)


def tell_alive(url: str) -> bool:
    """Whether it was heard. The address may hold a secret: of what went wrong only the kind is told."""
    import urllib3

    try:
        with urllib3.PoolManager(retries=False) as pool:
            answer = pool.request("GET", url, timeout=SECONDS, redirect=False)
        return answer.status < 400
    except urllib3.exceptions.HTTPError as error:
        log.warning(
            "DEAD_MAN_URL can't be reached: %s",
            type(error).__name__,
            extra={"action": "dead_man_failed"},
        )
        return False
