"""Backfill follower: shows a backfill until it is over.

One live line on a terminal, a line for each change elsewhere.
"""

import sys
import time

import click

from interlock.cli.backend import AWS
from interlock.cli.options import Options
from interlock.cli.shown import printable
from interlock.domain.backfill import BackfillState, DateState
from interlock.operations.queries import Queries
from interlock.operations.requests import MOST_ITEMS, BackfillDatesQuery
from interlock.queries.backfill_progress import BackfillDate, BackfillProgress

_PAUSE = 0.5
#: Each look at an installation on AWS costs a few requests.
_PAUSE_AWS = 5.0
_ENDED = frozenset({DateState.COMPLETED, DateState.FAILED, DateState.REFUSED})
#: How many of the dates at work the live line names.
_NAMED = 4


class BackfillFollower:
    """Asks for the dates from the first that has not ended, up to the first that has not begun."""

    def __init__(
        self, begun: BackfillProgress, queries: Queries, options: Options, quiet: bool
    ) -> None:
        self._id, self._queries, self._quiet = begun.id, queries, quiet
        self._pause = _PAUSE_AWS if options.backend == AWS else _PAUSE
        self._live = sys.stdout.isatty() and not quiet
        self._told: dict[str, DateState] = {}
        #: The dates up to this cursor have all ended.
        self._cursor: str | None = None
        self._waits_for = ""

    def follow(self) -> BackfillProgress:
        """Until it is over, or another person pauses it."""
        while True:
            progress = self._queries.backfill_progress(self._id)
            self._look()
            self._show(progress)
            stopped = progress.state is BackfillState.PAUSED and not progress.active
            if progress.is_over or stopped:
                self._clear()
                return progress
            time.sleep(self._pause)

    def summary(self, ended: BackfillProgress) -> str:
        """The last line: `silver-orders: 30 completed, 1 failed`."""
        counts = {
            "completed": ended.completed,
            "failed": ended.failed,
            "refused": ended.refused,
            "not started": ended.waiting,
        }
        told = [f"{n} {word}" for word, n in counts.items() if n or word == "completed"]
        over = "" if ended.state is BackfillState.DONE else f" ({ended.state.lower()})"
        return f"{ended.pipeline_id}: {', '.join(told)}{over}"

    def _look(self) -> None:
        cursor, is_ended = self._cursor, True
        while True:
            query = BackfillDatesQuery(limit=MOST_ITEMS, cursor=cursor)
            page = self._queries.backfill_dates(self._id, query)
            for date in page.items:
                self._tell(date)
            is_ended = is_ended and all(date.state in _ENDED for date in page.items)
            begun = all(date.state is not DateState.WAITING for date in page.items)
            if page.next is None or not begun:
                return
            cursor = page.next
            if is_ended:
                self._cursor = cursor

    def _tell(self, date: BackfillDate) -> None:
        if date.state is DateState.WAITING or self._told.get(date.date) is date.state:
            return
        self._told[date.date] = date.state
        is_news = not self._live or date.state in (DateState.FAILED, DateState.REFUSED)
        if is_news and not self._quiet:
            self._clear()
            why = f": {date.why}" if date.why else ""
            click.echo(f"{date.date}: {printable(f'{date.state}{why}')}")

    def _show(self, progress: BackfillProgress) -> None:
        if not self._live:
            if progress.waits_for != self._waits_for and not self._quiet:
                click.echo(
                    f"waiting: {printable(progress.waits_for)}" if progress.waits_for else "goes on"
                )
            self._waits_for = progress.waits_for
            return
        named = [*progress.active[:_NAMED], *["..."] * (len(progress.active) > _NAMED)]
        bad = progress.failed + progress.refused
        parts = [
            f"{progress.ended} of {progress.dates} done",
            *([f"{bad} not completed"] if bad else []),
            *([f"running {', '.join(named)}"] if named else []),
            *([f"waiting: {progress.waits_for}"] if progress.waits_for else []),
        ]
        sys.stdout.write(f"\r\x1b[K{printable('; '.join(parts))}")
        sys.stdout.flush()

    def _clear(self) -> None:
        if self._live:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()
