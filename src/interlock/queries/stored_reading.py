"""Stored reading: the outcome of a reading that a producer sent."""

from datetime import datetime

import msgspec


class StoredReading(msgspec.Struct, frozen=True, rename="camel"):
    """A stored reading, and what it led to if the caller waited for that."""

    pipeline_id: str
    key: str
    received_at: datetime
    version: str
    led_to: tuple[str, ...] = ()


class RefusedReading(msgspec.Struct, frozen=True, rename="camel"):
    """A reading that was not stored."""

    pipeline_id: str
    key: str
    problem: str
