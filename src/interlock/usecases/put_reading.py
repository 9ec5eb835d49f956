"""Put a reading: one durable write on a producer's behalf; invalid readings are refused."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlock.domain import canonical
from interlock.domain.admission import rejection
from interlock.domain.config import Config
from interlock.domain.sensor import RESERVED, Reading, Rejection, carried_label, split_key
from interlock.domain.zones import zone
from interlock.errors import ConfigError, NotFoundError
from interlock.usecases.ports import Ports

LARGEST = 256 * 1024
LONGEST_KEY = 512


def put_reading(pipeline_id: str, key: str, fields: Mapping[str, Any], ports: Ports) -> Reading:
    """Raises ConfigError with the problem, NotFoundError for a pipeline that is not declared."""
    config = ports.pipelines.find(pipeline_id)
    reading = admissible_reading(pipeline_id, key, fields, config, ports.clock())
    ports.sensors.put(reading)
    return reading


def admissible_reading(
    pipeline_id: str, key: str, fields: Mapping[str, Any], config: Config | None, now: datetime
) -> Reading:
    """The reading as it would be stored; raises as `put_reading` does."""
    if config is None or config.is_retired:
        raise NotFoundError(f"there is no pipeline {pipeline_id}")
    reading = checked_reading(pipeline_id, key, fields, now)
    _, period = split_key(key)
    for name in {schedule.timezone for schedule in config.pipeline.schedules}:
        label = carried_label(reading.fields, zone(name), reading.received_at, period)
        if isinstance(label, Rejection):
            raise ConfigError(_refusal(label))
    rejections = [rejection(config.pipeline, s, reading) for s in config.pipeline.schedules]
    beyond = [found for found in rejections if found is not None]
    if len(beyond) == len(rejections):  # one schedule that accepts it is enough
        raise ConfigError(_refusal(beyond[0]))
    return reading


def _refusal(found: Rejection) -> str:
    return f"{found.field} is {found.value!r}, needs {found.allowed}"


def checked_reading(
    pipeline_id: str, key: str, fields: Mapping[str, Any], now: datetime
) -> Reading:
    """The reading as it will be stored, within its bounds."""
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise ConfigError(f"a sensor key has 1 to {LONGEST_KEY} printable characters")
    if key.startswith("SENSOR#"):
        raise ConfigError("write a sensor key without SENSOR#")
    if key.startswith(RESERVED):
        raise ConfigError(f"keys that begin with {RESERVED} are reserved for Interlock")
    try:
        text = canonical.encode(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the fields are not JSON: {error}") from error
    if len(text) > LARGEST:
        raise ConfigError(f"a reading has at most {LARGEST // 1024} KiB")
    return Reading(pipeline_id, key, canonical.decode(text), now)
