"""Ping: a request of a job that knows only a URL, as the fields of a reading."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import timestamp
from interlock.domain.partition import Grain, label_at

SHORTEST_TOKEN = 16
TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{SHORTEST_TOKEN},128}}")
_EXIT_CODE = re.compile(r"[0-9]{1,3}")


class PingSource(msgspec.Struct, frozen=True, kw_only=True):
    """A caller with the token reports this sensor."""

    token: str
    pipeline: str
    key: str
    #: Whether its readings are hourly, not daily.
    hourly: bool = False

    def __repr__(self) -> str:
        return f"PingSource({self.pipeline}, {self.key})"


class Signal(StrEnum):
    """What a job reports about itself."""

    START = "start"
    SUCCESS = "success"
    FAIL = "fail"


def signal_of(said: str) -> tuple[Signal, int | None] | None:
    """What follows the token in the URL: nothing, `start`, `fail` or an exit code."""
    if not said:
        return Signal.SUCCESS, None
    if said in (Signal.START, Signal.FAIL):
        return Signal(said), None
    if _EXIT_CODE.fullmatch(said) is None or int(said) > 255:
        return None
    return (Signal.FAIL if int(said) else Signal.SUCCESS), int(said)


def reading_of(
    signal: Signal, exit_code: int | None, zone: ZoneInfo, hourly: bool, now: datetime
) -> dict[str, Any]:
    """The fields. The date is that of the ping, so that yesterday's ping does not count for today."""
    label = label_at(now, zone, Grain.HOUR if hourly else Grain.DAY)
    fields: dict[str, Any] = {
        "signal": signal,
        "date": label.day.isoformat(),
        "updatedAt": timestamp.spell(now),
    }
    if label.hour is not None:
        fields["hour"] = label.hour
    return fields if exit_code is None else {**fields, "exitCode": exit_code}
