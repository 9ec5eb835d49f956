"""Changes since: what went wrong since an instant and how it stands now, and which files came into force."""

from datetime import datetime

import msgspec

from interlock.domain.event import Event, EventType
from interlock.domain.history import EventFilter
from interlock.domain.run import Run, RunKey
from interlock.ports.reads import History
from interlock.queries.attention import key_of
from interlock.usecases.ports import Ports

#: How many events are read; a longer list is cut off, and says so.
_MOST = 100


class TroubledRun(msgspec.Struct, frozen=True):
    """A date that warnings were about: the newest of them, how many there were, and the run as it stands."""

    key: RunKey
    newest: Event
    count: int
    run: Run | None


class Changes(msgspec.Struct, frozen=True):
    """Newest first."""

    since: datetime
    runs: list[TroubledRun]
    #: Warnings that are about no run.
    others: list[Event]
    configs: list[Event]
    #: Whether there is more than is listed.
    is_cut: bool

    @property
    def is_empty(self) -> bool:
        return not (self.runs or self.others or self.configs)


def changes_since(since: datetime, ports: Ports, history: History) -> Changes:
    """From the event log, and the runs that its warnings are about."""
    noted = _events(EventFilter(of_note=True, since=since), history)
    adopted = _events(EventFilter(kind=EventType.CONFIG_ADOPTED, since=since), history)
    by_run: dict[RunKey, list[Event]] = {}
    for event in noted[:_MOST]:
        if (key := key_of(event)) is not None:
            by_run.setdefault(key, []).append(event)
    runs = ports.runs.find(list(by_run))
    return Changes(
        since,
        [TroubledRun(key, told[0], len(told), runs.get(key)) for key, told in by_run.items()],
        [event for event in noted[:_MOST] if key_of(event) is None],
        adopted[:_MOST],
        len(noted) > _MOST or len(adopted) > _MOST,
    )


def _events(wanted: EventFilter, history: History) -> list[Event]:
    return [told.event for told in history.events(wanted, None, _MOST + 1)]
