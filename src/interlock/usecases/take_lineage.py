"""Take lineage: turn an OpenLineage event into a reading of every sensor that it feeds."""

from collections.abc import Sequence

from interlock.domain.lineage import LineageEvent, LineageSource, reading_of
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import put_reading
from interlock.usecases.zone_of import zone_of


def take_lineage(
    event: LineageEvent, sources: Sequence[LineageSource], ports: Ports
) -> list[Reading]:
    """The stored readings. Raises like `put_reading`."""
    return [_taken(event, source, ports) for source in sources]


def _taken(event: LineageEvent, source: LineageSource, ports: Ports) -> Reading:
    zone = zone_of(source.pipeline, ports)
    try:
        fields = reading_of(event, zone, source.hourly)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return put_reading(source.pipeline, source.key, fields, ports)
