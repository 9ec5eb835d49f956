"""Commands: everything that a backend can be told to do.

Each command is declared in this one place, as each question is in `queries.py`.
"""

from typing import Any, Protocol

from interlock.domain.config import Config
from interlock.domain.lineage import LineageEvent
from interlock.domain.rerun_request import RerunRequest
from interlock.operations.requests import (
    NewPause,
    NewPrune,
    NewReadings,
    NewRerun,
    NewResume,
    NewRetirement,
    NewRetry,
    NewToken,
    Waiting,
    WatchQuery,
)
from interlock.operations.results import Pruned, ReadingAnswer, Retried
from interlock.operations.tokens import TokenShown
from interlock.queries.paging import Page
from interlock.queries.stored_reading import StoredReading
from interlock.queries.watchdog_pass import WatchdogPass


class Commands(Protocol):
    """What one caller has done. Durable on return; who asked and why is in the audit log before it happens.

    What does not exist raises NotFoundError, what can't be done ConfigError.
    """

    def put(
        self, pipeline: str, key: str, fields: dict[str, Any], query: Waiting = Waiting()
    ) -> StoredReading:
        """Put a reading: the body is its fields. Durable when answered."""
        ...

    def put_all(self, readings: NewReadings) -> Page[ReadingAnswer]:
        """Put up to 1,000 readings in one durable write; each has its own answer."""
        ...

    def put_lineage(self, event: LineageEvent) -> Page[StoredReading]:
        """An OpenLineage event becomes a reading of every sensor that `[[lineage]]` says it feeds."""
        ...

    def rerun(self, pipeline: str, wanted: NewRerun) -> RerunRequest:
        """Ask for a date to run again. Whether that is granted is told as an event."""
        ...

    def pause(self, pipeline: str, wanted: NewPause = NewPause()) -> Config:
        """Hold a pipeline back: nothing opens, readings are kept."""
        ...

    def resume(self, pipeline: str, wanted: NewResume = NewResume()) -> Config:
        """Let a pipeline go on; every date of the pause is handled."""
        ...

    def retire(self, pipeline: str, wanted: NewRetirement = NewRetirement()) -> Config:
        """Retire a pipeline whose file is missing, at once."""
        ...

    def watch(self, query: WatchQuery = WatchQuery()) -> WatchdogPass | None:
        """One pass of the watchdog now; nothing when another is under way."""
        ...

    def prune(self, wanted: NewPrune = NewPrune()) -> Pruned:
        """Remove what has expired, and finished runs of dates before a day. It can't be undone."""
        ...

    def retry_parked(self, wanted: NewRetry = NewRetry()) -> Retried:
        """Have the changes that could not be handled tried again."""
        ...

    def create_token(self, wanted: NewToken) -> TokenShown:
        """Make a token. Its secret is told this once."""
        ...

    def revoke_token(self, name: str) -> None:
        """Revoke a token, from now on."""
        ...
