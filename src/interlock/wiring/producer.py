"""Producer: reports readings to an installation on AWS, by its control table. Nothing else is asked there."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.adapters.aws.clients import LazyClient
from interlock.adapters.aws.readings import reading_item
from interlock.adapters.aws.table import Table
from interlock.domain.sensor import Reading
from interlock.errors import TransientError
from interlock.ports.engine import Clock
from interlock.usecases.put_reading import checked_reading
from interlock.wiring.clock import utc_now


class Producer:
    """The row of a reading is what the stream tells the controller of."""

    def __init__(self, table: str, client: Any = None, clock: Clock = utc_now) -> None:
        self._control = Table(client or LazyClient("dynamodb"), table)
        self._clock = clock

    def put(
        self,
        pipeline: str,
        key: str,
        fields: Mapping[str, Any],
        tries: int,
        pause: Callable[[int], None],
    ) -> Reading:
        """Raises ConfigError for what can't be a reading, TransientError when AWS does not answer."""
        reading = checked_reading(pipeline, key, fields, self._clock())
        for tried in range(1, tries + 1):
            try:
                self._control.put(reading_item(reading))
                break
            except TransientError:
                if tried == tries:
                    raise
                pause(tried)
        return reading
