"""Rows: how instants, keys and structs stand in columns.

Instants are integer microseconds, so that what comes back equals what went in.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

import msgspec

from interlock.domain.run import RunKey

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_encoder = msgspec.json.Encoder()


def micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def maybe_micros(instant: datetime | None) -> int | None:
    return None if instant is None else micros(instant)


def instant(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)


def maybe_instant(number: int | None) -> datetime | None:
    return None if number is None else instant(number)


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Reads what canonical JSON wrote; a number with a point becomes a Decimal again."""
    return msgspec.json.Decoder(kind, float_hook=Decimal)


def run_columns(key: RunKey) -> tuple[str, str, str, int]:
    return key.pipeline_id, key.schedule_id, key.date, int(key.dry)


def listed(values: Iterable[object]) -> str:
    """The JSON list that json_each makes rows of: one statement for any number of keys."""
    return _encoder.encode(list(values)).decode()
