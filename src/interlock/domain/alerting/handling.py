"""Handling: what people did about the alerts of one date, and which of them escalate until they do."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from interlock.domain.alerting.threads import AlertKey, phase_of
from interlock.domain.event import Event, EventType, Phase, Severity

#: Nothing is snoozed longer: that is what a mute is for.
LONGEST_SNOOZE = timedelta(days=7)
#: The events by which people's own actions are announced.
HANDLING_EVENTS = (
    EventType.ALERT_ACKNOWLEDGED,
    EventType.ALERT_SNOOZED,
    EventType.ALERT_UNSNOOZED,
)
_SEVERITIES = tuple(Severity)


class Acknowledgement(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Who looks after the alerts of a date, and what was known then."""

    by: str
    reason: str
    at: datetime
    #: The highest severity so far.
    severity: Severity
    #: The last attempt so far; None before the first.
    attempt: int | None = None

    def covers(self, event: Event) -> bool:
        """False for a new failure: a graver event since, or a later attempt that fails."""
        if event.timestamp <= self.at:
            return True
        if _SEVERITIES.index(event.severity) > _SEVERITIES.index(self.severity):
            return False
        failed = phase_of(event) is Phase.FAILED and event.attempt is not None
        return not failed or (event.attempt or 0) <= (-1 if self.attempt is None else self.attempt)


class Snooze(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Who wants to hear no more of a date until when, and why."""

    by: str
    reason: str
    at: datetime
    until: datetime
    include_critical: bool = False

    def holds(self, event: Event, now: datetime) -> bool:
        """Whether an alert waits for its end. What people did themselves is told at once."""
        if now >= self.until or event.type in HANDLING_EVENTS:
            return False
        return self.include_critical or event.severity is not Severity.CRITICAL


class Escalation(msgspec.Struct, frozen=True, rename="camel"):
    """The alert that goes to a further target unless people act before then."""

    event_id: str
    due_at: datetime


class Handling(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One row for all alerts of a date, in every channel.

    `escalations` are those since the date was last acknowledged or recovered, by target.
    """

    key: AlertKey
    changed_at: datetime
    acknowledged: Acknowledgement | None = None
    snoozed: Snooze | None = None
    escalations: dict[str, Escalation] = {}
    version: int = 1

    def acknowledge(self, by: Acknowledgement) -> "Handling":
        return self._next(by.at, acknowledged=by, escalations={})

    def snooze(self, snooze: Snooze) -> "Handling":
        return self._next(snooze.at, snoozed=snooze)

    def unsnooze(self, now: datetime) -> "Handling":
        return self._next(now, snoozed=None)

    def after(self, event: Event, now: datetime) -> "Handling":
        """A new failure ends the acknowledgement, and a recovery ends everything that was under way."""
        if phase_of(event) is Phase.DONE:
            is_idle = not self.escalations
            return self if is_idle else self._next(now, escalations={})
        if self.acknowledged is None or self.acknowledged.covers(event):
            return self
        return self._next(now, acknowledged=None)

    def escalating(self, target: str, escalation: Escalation, now: datetime) -> "Handling":
        """Only the earliest escalation to a target stands."""
        found = self.escalations.get(target)
        if self.acknowledged is not None or (found and found.due_at <= escalation.due_at):
            return self
        return self._next(now, escalations={**self.escalations, target: escalation})

    def is_snoozed(self, now: datetime) -> bool:
        return self.snoozed is not None and now < self.snoozed.until

    def _next(self, now: datetime, **changes: object) -> "Handling":
        return msgspec.structs.replace(self, changed_at=now, version=self.version + 1, **changes)


def unhandled(key: AlertKey, now: datetime) -> Handling:
    """Before the first thing that people do: stored as version 1 once they do it."""
    return Handling(key=key, changed_at=now, version=0)


def in_words(handling: Handling | None) -> str:
    """What people did, for the first message of a thread; the same text however late it is asked for."""
    if handling is None:
        return ""
    parts = []
    done, snooze = handling.acknowledged, handling.snoozed
    if done is not None:
        parts.append(f"acknowledged by {done.by} at {_moment(done.at)}: {done.reason}")
    if snooze is not None:
        parts.append(f"snoozed by {snooze.by} until {_moment(snooze.until)}: {snooze.reason}")
    return "; ".join(parts)


def known_so_far(events: Iterable[Event]) -> tuple[Severity | None, int | None]:
    """The highest severity of these events, and the last attempt."""
    told = list(events)
    severities = [event.severity for event in told]
    attempts = [event.attempt for event in told if event.attempt is not None]
    return (
        max(severities, key=_SEVERITIES.index, default=None),
        max(attempts, default=None),
    )


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
