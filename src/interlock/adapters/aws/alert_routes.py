"""Alert routes: `alerts.yaml` as the loaders store it, in the events table."""

from typing import Any

from interlock.adapters.aws.keys import partition
from interlock.adapters.aws.table import Table
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical


class DynamoAlertRoutes:
    """One row for the whole installation: JSON text, as pipelines are stored."""

    def __init__(self, events: Table) -> None:
        self._events = events

    def kept(self) -> Any:
        """The stored routes, decoded; None without a row. What is no JSON stays text, which is no file."""
        row = self._events.get((partition(None), "ALERTS"))
        if row is None:
            return None
        config = row.get("config")
        try:
            return canonical.decode(config) if isinstance(config, str) else config
        except DAMAGED:
            return config
