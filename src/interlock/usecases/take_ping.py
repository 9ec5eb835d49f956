"""Take a ping: turn it into a reading of the sensor that its token names."""

from interlock.domain.ping import PingSource, Signal, reading_of
from interlock.domain.sensor import Reading
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import put_reading
from interlock.usecases.zone_of import zone_of


def take_ping(source: PingSource, signal: Signal, exit_code: int | None, ports: Ports) -> Reading:
    """The stored reading. Raises like `put_reading`."""
    zone = zone_of(source.pipeline, ports)
    fields = reading_of(signal, exit_code, zone, source.hourly, ports.clock())
    return put_reading(source.pipeline, source.key, fields, ports)
