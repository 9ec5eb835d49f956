"""Heartbeat ping: reports to an outside service after each clean pass of the watchdog.

Only an outside service can notice that the whole machine is gone. A failed request is counted, no more.
"""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

SECONDS = 5.0


class HeartbeatPing:
    """One request at a time, in the background."""

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
    """Whether it arrived. The URL may hold a secret, so only the kind of an error is logged."""
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
