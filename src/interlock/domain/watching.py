"""Watching: when the watchdog must look at a run again, and how long its row is kept."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from interlock.domain.run import DeadlineKind, Run, Status

#: How long the ordinary path may take before the watchdog steps in.
TELL_GRACE = timedelta(minutes=1)
START_GRACE = timedelta(minutes=2)
RETRY_GRACE = timedelta(minutes=2)
LOOK_GRACE = timedelta(minutes=2)
FINISH_GRACE = timedelta(minutes=2)

#: How long the name of an execution stays in use after its end: as long as Step Functions keeps it.
NAME_TAKEN = timedelta(days=90)
#: With room for an execution that ends a little after its lease.
KEEP_DRY = NAME_TAKEN + timedelta(days=1)


def watch_at(run: Run, has_outbox: bool) -> datetime | None:
    """The earliest instant at which the watchdog must look; None when nothing is left to do.

    A dry run has no deadlines and no follow-up, but an attempt that broke off is finished.
    """
    moments = [*_of_attempt(run)]
    if not run.key.dry:
        moments += [*_of_what_follows(run), *_of_deadline(run)]
    if has_outbox:
        moments.append(run.changed_at + TELL_GRACE)
    return min(moments, default=None)


def expires_at(run: Run) -> datetime | None:
    """When its row expires, and counts as absent: for a finished dry run, once the name of its execution is
    free again. Any other stays: a date that started over would reuse the names of earlier executions and
    jobs, and no jump of the clock may make an open run vanish.
    """
    if not run.key.dry or run.is_open:
        return None
    return max(run.changed_at, run.lease_until) + KEEP_DRY


def _of_attempt(run: Run) -> Iterator[datetime]:
    if run.is_open:
        yield run.lease_until
    if run.status is Status.PENDING and run.started_at is None:
        yield (run.handed_over_at or run.opened_at) + START_GRACE
    if run.is_unfinished:
        yield run.changed_at + FINISH_GRACE


def _of_what_follows(run: Run) -> Iterator[datetime]:
    if run.status is Status.FAILED and run.retry_at is not None:
        yield run.retry_at + RETRY_GRACE
    if run.status is Status.COMPLETED and run.post_run_due_at and not run.post_run.missing_judged:
        yield run.post_run_due_at
    if run.status is Status.COMPLETED and run.post_run_look_at is not None:
        yield run.post_run_look_at + LOOK_GRACE


def _of_deadline(run: Run) -> Iterator[datetime]:
    """The relative deadline, whose instants only the run has; a breach, or a final failure, makes its warning
    obsolete.
    """
    over = run.status in (Status.COMPLETED, Status.SKIPPED)
    if over or DeadlineKind.RELATIVE_BREACH in run.sla_told:
        return
    if run.relative_breach_at is not None:
        yield run.relative_breach_at
    warned = DeadlineKind.RELATIVE_WARNING in run.sla_told or run.has_given_up
    if run.relative_warning_at is not None and not warned:
        yield run.relative_warning_at
