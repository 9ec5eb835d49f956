"""Timers: one-time entries of EventBridge Scheduler.

An entry fires up to a minute late and is then deleted. It is never set earlier than its timer is due.
"""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from interlock.adapters.aws.failures import ask
from interlock.domain import canonical
from interlock.domain.timer import Timer, TimerKind
from interlock.domain.timestamp import spell
from interlock.ports.engine import Clock

#: The kind of timer that ends a mute.
MUTE = "mute"

_LONGEST = 64
_UNSAFE = re.compile(r"[^0-9A-Za-z_.-]")
#: Scheduler may treat an entry due sooner than this as past.
_SOONEST = timedelta(seconds=60)
_CONFLICT = "ConflictException"
_ABSENT = "ResourceNotFoundException"
_RETRIES = {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 30}


class TimerTargets(msgspec.Struct, frozen=True, kw_only=True):
    """The group of the entries, and what they invoke."""

    group: str
    role_arn: str
    dead_letter_arn: str
    stream_router_arn: str = ""
    sla_monitor_arn: str = ""
    alert_queue_arn: str = ""

    def of(self, timer: Timer) -> str:
        if timer.kind == MUTE:
            return self.alert_queue_arn
        routed = timer.kind in tuple(TimerKind)
        return self.stream_router_arn if routed else self.sla_monitor_arn


class Scheduler:
    """The port. Timers already due go straight to `now_due`, which fires them after the current work."""

    def __init__(
        self, client: Any, targets: TimerTargets, clock: Clock, now_due: Callable[[Timer], None]
    ) -> None:
        self._client = client
        self._targets = targets
        self._clock = clock
        self._now_due = now_due

    def arm(self, timers: Sequence[Timer]) -> None:
        now = self._clock()
        for timer in timers:
            if timer.due_at <= now:
                self._now_due(timer)
            else:
                self._arm(self._entry(timer, now))

    def cancel(self, names: Sequence[str]) -> None:
        for name in names:
            try:
                ask(self._client.delete_schedule, _ABSENT, **self._named(entry_name(name)))
            except ClientError:
                continue  # it has fired, or never existed

    def _arm(self, entry: dict[str, Any]) -> None:
        try:
            ask(self._client.create_schedule, _CONFLICT, **entry)
        except ClientError:
            self._move(entry)

    def _move(self, entry: dict[str, Any]) -> None:
        """The name is taken by the same entry, or by one for another time."""
        try:
            found = ask(self._client.get_schedule, _ABSENT, **self._named(entry["Name"]))
        except ClientError:  # it fired just now
            ask(self._client.create_schedule, **entry)
            return
        if found["Target"]["Input"] != entry["Target"]["Input"]:
            ask(self._client.update_schedule, **entry)

    def _entry(self, timer: Timer, now: datetime) -> dict[str, Any]:
        return {
            **self._named(entry_name(timer.name)),
            "ScheduleExpression": f"at({_second(max(timer.due_at, now + _SOONEST))})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Description": timer.name[:512],
            "Target": {
                "Arn": self._targets.of(timer),
                "RoleArn": self._targets.role_arn,
                "Input": canonical.encode({**timer.payload, "dueAt": spell(timer.due_at)}),
                "DeadLetterConfig": {"Arn": self._targets.dead_letter_arn},
                "RetryPolicy": _RETRIES,
            },
        }

    def _named(self, name: str) -> dict[str, Any]:
        return {"GroupName": self._targets.group, "Name": name}


def entry_name(name: str) -> str:
    """Unique to the timer, and always the same for it."""
    safe = _UNSAFE.sub("-", name)
    if len(safe) <= _LONGEST and safe == name:
        return safe
    digest = canonical.content_hash(name, 12)
    return f"{safe[: _LONGEST - len(digest) - 1]}-{digest}"


def _second(moment: datetime) -> str:
    """The next whole second: an alert before its deadline would be false."""
    whole = datetime.fromtimestamp(math.ceil(moment.timestamp()), UTC)
    return whole.strftime("%Y-%m-%dT%H:%M:%S")
