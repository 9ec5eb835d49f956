"""Exits: what the end of a command means."""

from datetime import timedelta

from interlock.adapters.jobs.command.job_folder import CommandEnded
from interlock.adapters.jobs.command.supervisor import CANCELLED, SHUT_DOWN, TIMED_OUT
from interlock.domain import duration
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Succeeded

#: As sysexits.h and `timeout` have it.
TRY_AGAIN, OUT_OF_TIME = 75, 124
MISUSED = range(64, 79)
#: What shells say of a command that they can't run, or can't find.
NOT_RUN = (126, 127)


def judged(ended: CommandEnded) -> Succeeded | Failed:
    """A command that was asked to end has not succeeded, whatever it says."""
    detail = {"state": _state(ended)}
    if ended.wish == TIMED_OUT:
        took = duration.for_people(timedelta(seconds=ended.ended_at - ended.began_at))
        said = f": {ended.message}" if ended.message else ""
        message = f"ended after {took}, its timeout{said}"
        return Failed(Category.TIMEOUT, message, ended.at, detail=detail, output=ended.tail)
    if ended.wish == CANCELLED:
        return Failed(
            None,
            ended.message or "cancelled",
            ended.at,
            stopped=True,
            detail=detail,
            output=ended.tail,
        )
    if ended.wish == SHUT_DOWN:
        message = ended.message or "ended by a shutdown"
        return Failed(Category.TRANSIENT, message, ended.at, detail=detail, output=ended.tail)
    if ended.code == 0:
        return Succeeded("", ended.at, detail)
    category = Category.TRANSIENT if ended.code is None else exit_category(ended.code)
    return Failed(
        category, ended.message or detail["state"], ended.at, detail=detail, output=ended.tail
    )


def exit_category(code: int) -> Category | None:
    if code == TRY_AGAIN:
        return Category.TRANSIENT
    if code == OUT_OF_TIME:
        return Category.TIMEOUT
    return Category.PERMANENT if code in MISUSED or code in NOT_RUN else None


def _state(ended: CommandEnded) -> str:
    return f"signal {ended.signal}" if ended.code is None else f"exit code {ended.code}"
