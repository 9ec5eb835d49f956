"""Commands: everything that a backend can do for a caller.

Each command is declared here once, as each question is in `queries.py`.
"""

from typing import Any, Protocol

from interlock.domain.alerting.handling import Handling
from interlock.domain.cancellation import Cancellation
from interlock.domain.config import Config
from interlock.domain.lineage import LineageEvent
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run
from interlock.operations.requests import (
    NewAcknowledgement,
    NewAlertTest,
    NewBackfill,
    NewBackfillTurn,
    NewCancellation,
    NewDates,
    NewHandReading,
    NewMark,
    NewPause,
    NewPrune,
    NewReadings,
    NewRerun,
    NewResume,
    NewRetirement,
    NewRetry,
    NewSkip,
    NewSnooze,
    NewToken,
    NewUnskip,
    NewUnsnooze,
    Waiting,
    WatchQuery,
)
from interlock.operations.results import DateAnswer, Pruned, ReadingAnswer, Retried, TrialResult
from interlock.operations.tokens import TokenShown
from interlock.queries.backfill_progress import BackfillProgress
from interlock.queries.paging import Page
from interlock.queries.stored_reading import StoredReading
from interlock.queries.watchdog_pass import WatchdogPass


class Commands(Protocol):
    """Commands on behalf of one caller. Durable on return; the audit log has who asked and why beforehand.

    A missing object raises NotFoundError, an invalid request ConfigError.
    """

    def put(
        self, pipeline: str, key: str, fields: dict[str, Any], query: Waiting = Waiting()
    ) -> StoredReading:
        """Put a reading: the body is its fields. Durable when answered."""
        ...

    def put_by_hand(self, pipeline: str, wanted: NewHandReading) -> StoredReading:
        """Put a reading in a person's name, with a reason; the audit log has it."""
        ...

    def put_all(self, readings: NewReadings) -> Page[ReadingAnswer]:
        """Put up to 1,000 readings in one durable write; each has its own answer."""
        ...

    def put_lineage(self, event: LineageEvent) -> Page[StoredReading]:
        """Turn an OpenLineage event into a reading of every sensor that `[[lineage]]` assigns to it."""
        ...

    def rerun(self, pipeline: str, wanted: NewRerun) -> RerunRequest:
        """Ask for a date to run again. An event says whether it is granted."""
        ...

    def act_on_dates(self, pipeline: str, wanted: NewDates) -> Page[DateAnswer]:
        """Rerun or skip up to 1,000 dates; each has its own answer. A rerun is answered by an event."""
        ...

    def start_backfill(self, pipeline: str, wanted: NewBackfill) -> BackfillProgress:
        """Run the dates of a range that have not completed, a few at a time."""
        ...

    def pause_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        """Start no further date of a backfill; dates that have begun run on."""
        ...

    def resume_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        """Go on with a paused backfill."""
        ...

    def cancel_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        """End a backfill: its waiting dates never start; dates that have begun run on."""
        ...

    def cancel(
        self, pipeline: str, schedule: str, date: str, wanted: NewCancellation
    ) -> Cancellation:
        """End the run of a date: its job is asked to stop, and no retry follows."""
        ...

    def skip(self, pipeline: str, schedule: str, date: str, wanted: NewSkip) -> Run:
        """Say that a date need not run: nothing opens, retries or reports it until that is undone."""
        ...

    def unskip(self, pipeline: str, schedule: str, date: str, wanted: NewUnskip) -> Run | None:
        """Expect a skipped date again; answers its run, if it has one."""
        ...

    def mark(self, pipeline: str, schedule: str, date: str, wanted: NewMark) -> Run:
        """State the outcome of a run by hand: done or failed. Launches nothing."""
        ...

    def acknowledge(
        self, pipeline: str, schedule: str, date: str, wanted: NewAcknowledgement
    ) -> Handling:
        """Look after the alerts of a date: they no longer escalate, unless something new fails."""
        ...

    def snooze(self, pipeline: str, schedule: str, date: str, wanted: NewSnooze) -> Handling:
        """Hold further alerts of a date for a while; critical ones only on request."""
        ...

    def unsnooze(self, pipeline: str, schedule: str, date: str, wanted: NewUnsnooze) -> Handling:
        """End the snooze of a date: what it held is sent."""
        ...

    def test_alert(self, wanted: NewAlertTest) -> Page[TrialResult]:
        """Send one test message through a route or to a sink; it publishes no event."""
        ...

    def pause(self, pipeline: str, wanted: NewPause = NewPause()) -> Config:
        """Pause a pipeline: nothing opens, readings are kept."""
        ...

    def resume(self, pipeline: str, wanted: NewResume = NewResume()) -> Config:
        """Resume a pipeline; every date of the pause is handled."""
        ...

    def retire(self, pipeline: str, wanted: NewRetirement = NewRetirement()) -> Config:
        """Retire a pipeline whose file is missing, at once."""
        ...

    def watch(self, query: WatchQuery = WatchQuery()) -> WatchdogPass | None:
        """Run one pass of the watchdog now; does nothing while another is in progress."""
        ...

    def prune(self, wanted: NewPrune = NewPrune()) -> Pruned:
        """Remove expired rows, and finished runs of dates before a day. This can't be undone."""
        ...

    def retry_parked(self, wanted: NewRetry = NewRetry()) -> Retried:
        """Retry the changes that could not be handled."""
        ...

    def create_token(self, wanted: NewToken) -> TokenShown:
        """Create a token. Its secret is shown only this once."""
        ...

    def revoke_token(self, name: str) -> None:
        """Revoke a token at once."""
        ...
