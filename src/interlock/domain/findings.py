"""Findings: what the watchdog may find wanting, each with what is to be done about it in its name.

A finding only says what was seen. Its words and what acting on it means stand in the row of the check
that finds it.
"""

from datetime import datetime

import msgspec

from interlock.domain.admission import Admission
from interlock.domain.run import DeadlineKind, EngineState, Run, RunKey
from interlock.domain.sensor import Reading


class WatchdogFinding(msgspec.Struct, frozen=True):
    """Something that did not happen, or is about not to."""


class Restart(WatchdogFinding, frozen=True):
    """This attempt was never started."""

    run: Run


class NoteStarted(WatchdogFinding, frozen=True):
    """The engine has it after all."""

    run: Run


class Finish(WatchdogFinding, frozen=True):
    """The job succeeded, but the run is not complete, or what follows from its completion is not done."""

    run: Run


class Resume(WatchdogFinding, frozen=True):
    """The execution is over and its attempt is not: its job may be running, or its time ran out while the
    controller was away. Another execution goes on with the attempt.
    """

    run: Run
    engine: EngineState


class GiveUp(WatchdogFinding, frozen=True):
    """The execution is over and launched nothing: the attempt failed, and not by its own fault."""

    run: Run


class TimeOut(WatchdogFinding, frozen=True):
    """The attempt has used up its time, and its execution is over."""

    run: Run
    engine: EngineState


class ExtendLease(WatchdogFinding, frozen=True):
    """It is slow, not dead. Its time may have run out `unwatched`: then it gets its whole time again."""

    run: Run
    unwatched: bool = False


class RetryNow(WatchdogFinding, frozen=True):
    """A retry's timer never came."""

    run: Run


class Admit(WatchdogFinding, frozen=True):
    """A reading is there, and what it should have caused is not."""

    reading: Reading
    admission: Admission


class Suspect(WatchdogFinding, frozen=True):
    """Something seems to be missing; it may be on its way this very second."""

    name: str


class FireLate(WatchdogFinding, frozen=True):
    """A cron moment had no run, and it is not too late."""

    key: RunKey
    due_at: datetime


class Missed(WatchdogFinding, frozen=True):
    """An expected date had no run, and it is too late to make up for it."""

    key: RunKey
    due_at: datetime
    cause: str
    not_watched: datetime | None = None


class Close(WatchdogFinding, frozen=True):
    """The trigger deadline passed with no run."""

    key: RunKey
    deadline_at: datetime


class ArmDeadline(WatchdogFinding, frozen=True):
    """A deadline's timer is not there."""

    key: RunKey


class JudgeDeadline(WatchdogFinding, frozen=True):
    """A deadline's moment has passed untold."""

    key: RunKey
    kind: DeadlineKind


class PostRunMissing(WatchdogFinding, frozen=True):
    """The time for post-run readings is over; these never came."""

    run: Run
    missing: tuple[str, ...]


class LookAgain(WatchdogFinding, frozen=True):
    """The timer that judges the post-run rules again never came."""

    run: Run
