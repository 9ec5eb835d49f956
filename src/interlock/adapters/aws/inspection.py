"""Inspection: searches for unreadable rows, for operators.

No table is read in full: an unreadable row that is neither recent nor reported is found and reported when
something needs it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from interlock.adapters.aws.store import Store
from interlock.adapters.aws.table import Table, unreadable_row
from interlock.domain.event import Event
from interlock.domain.unreadable import RowKind, UnreadableRow

_BACK = timedelta(days=7)
_AHEAD = timedelta(days=2)
_MOST_RUNS = 500


def unreadable_now(store: Store, now: datetime) -> list[UnreadableRow]:
    """The unreadable rows met among the configs, the work in progress, and recent runs."""
    since, until = ((now + span).date().isoformat() for span in (-_BACK, _AHEAD))
    names = [config.pipeline.id for config in store.pipelines.in_force()]
    store.runs.active()
    store.fan.map(lambda name: store.runs.of_pipeline(name, since, until, _MOST_RUNS), names)
    return store.unreadable.met()


def still_unreadable(store: Store, events: Iterable[Event]) -> Iterator[UnreadableRow]:
    """The reported rows that have not changed since."""
    for event in events:
        said = {
            name: str(event.detail.get(name, "")) for name in ("table", "key", "problem", "kind")
        }
        partition, _, sort_key = said["key"].partition(" ")
        if said["table"] not in _tables(store) or not partition or not sort_key:
            continue
        item = Table(store.client, said["table"]).get((partition, sort_key))
        if item is None:
            continue
        kind = RowKind(said["kind"]) if said["kind"] in tuple(RowKind) else RowKind.RECORD
        row = unreadable_row(said["table"], item, ValueError(said["problem"]), kind)
        if event.event_id.endswith(f"/{row.id}"):
            yield row


def _tables(store: Store) -> tuple[str, ...]:
    names = store.names
    return names.control, names.joblog, names.rerun, names.events
