"""Home: the ports of one family, as the suites of contracts see them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.change import Change
from interlock.domain.event import Event
from interlock.ports.alerts import Deliveries, Handlings, Paces, Switches, Threads
from interlock.ports.engine import Timers, Workflows
from interlock.ports.stores import (
    Backfills,
    Claims,
    Events,
    JobLog,
    Outbox,
    Pipelines,
    Reruns,
    Runs,
    Sensors,
    UnreadableRows,
    Watch,
)


@dataclass(frozen=True)
class Home:
    """The ports of one family over one state, and what a test must see or do behind them."""

    pipelines: Pipelines
    sensors: Sensors
    runs: Runs
    job_log: JobLog
    reruns: Reruns
    backfills: Backfills
    events: Events
    outbox: Outbox
    claims: Claims
    timers: Timers
    workflows: Workflows
    watch: Watch
    deliveries: Deliveries
    threads: Threads
    handlings: Handlings
    paces: Paces
    switches: Switches
    unreadable: UnreadableRows
    #: Every change record so far, in order.
    changes: Callable[[], list[Change]]
    #: The timers that will still fire, and when.
    armed: Callable[[], dict[str, datetime]]
    #: Let an execution come to its end.
    end: Callable[[str], None]
    #: Make the stored rows of a kind hostile, in the n-th way; False when there is no such way.
    spoil: Callable[[str, int], bool]
    #: The same state through ports whose n-th call to the technology fails.
    failing: Callable[[int], "Home"]


def tell(home: Home, events: Sequence[Event]) -> None:
    """As a use case does it: published, and then no longer waiting."""
    home.events.publish(events)
    home.outbox.clear(events)
