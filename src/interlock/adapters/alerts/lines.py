"""Lines: alerts as lines of JSON on standard output, which becomes the log of a function."""

import sys
from collections.abc import Callable
from datetime import timedelta

from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Answer, Posted
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import Note, document

DELAYS = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120))


class LineAlerts:
    """The last resort where there is no screen."""

    manner = Manner(delays=DELAYS)

    def __init__(
        self, write: Callable[[str], object] | None = None, base_url: str | None = None
    ) -> None:
        self._write, self._base_url = write or sys.stdout.write, base_url

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        told = document(note, self._base_url)
        self._write(f"{canonical.encode({'action': 'alert', **told})}\n")
        return Posted("")

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return Posted(receipt)  # what was said can't be changed
