"""Logs: one line per record, for operators, and never a secret."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from interlock.domain.event import plain
from interlock.errors import SAY_ALL

#: Libraries that log every step, sometimes with private data.
_TALKATIVE = ("asyncio", "botocore", "urllib3")

_LONGEST = 8000
_FORM = "%(asctime)s %(levelname)-7s %(action)s: %(message)s"


class _Formatter(logging.Formatter):
    """Times are UTC. A record without an action shows the name of its logger instead.

    Text from outside can't imitate a log line: lines hold no control characters, and traceback lines are
    indented. An error whose message is complete has no traceback: on a full disk, every attempt would
    log one.
    """

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__(_FORM, "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        if not hasattr(record, "action"):
            record.action = record.name
        return self._mask(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        error = record.exc_info[1] if record.exc_info else None
        cause = f": {error}" if isinstance(error, SAY_ALL) else ""
        return plain(f"{super().formatMessage(record)}{cause}"[:_LONGEST])

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's own name
        if isinstance(ei[1], SAY_ALL):
            return ""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"    {plain(line[:_LONGEST])}" for line in lines)


def log_to_stderr(mask: Callable[[str], str], debug: bool = False) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(mask))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    # Invalid input from strangers is not logged: they could fill the disk with it.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
