"""Alert desk: the local adapters over memory, with sinks that answer as a test tells them to."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

from contracts.samples import ManualClock
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Answer, Delivery, Posted
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import AlertNote, DigestNote, Note, RootNote, SummaryNote
from interlock.domain.event import Event
from interlock.runtime.alert_sender import AlertSender
from interlock.runtime.alerting import Alerting, local_ports
from interlock.usecases.ports import Ports
from interlock.usecases.route_event import route_event

DELAYS = tuple(timedelta(seconds=seconds) for seconds in (5, 30))


class ScriptedSink:
    """Remembers what it was asked; answers what is next in line, else that all is well."""

    def __init__(self, manner: Manner) -> None:
        self.manner = manner
        self.posts: list[tuple[str, Note, str | None]] = []
        self.updates: list[tuple[str, str, Note]] = []
        self.answers: deque[Answer | Exception] = deque()
        self.update_answers: deque[Answer] = deque()
        self.on_post: Callable[[], None] = lambda: None
        self.on_update: Callable[[], None] = lambda: None

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        self.on_post()
        answer = self.answers.popleft() if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is None or isinstance(answer, Posted):
            self.posts.append((channel, note, thread))
            return answer or Posted(f"ts-{len(self.posts)}")
        return answer

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        self.on_update()
        if self.update_answers:
            return self.update_answers.popleft()
        self.updates.append((channel, receipt, note))
        return Posted(receipt)

    @property
    def said(self) -> list[str]:
        """What was posted, in short: `root it failed`, `reply it succeeded`."""
        return [_short(note) for _, note, _ in self.posts]

    @property
    def faces(self) -> list[str]:
        """The states that the first messages were made to show."""
        notes = [note for _, _, note in self.updates]
        return [str(note.thread.state) for note in notes if isinstance(note, RootNote)]


def _short(note: Note) -> str:
    if isinstance(note, RootNote):
        return f"root {note.event.message}"
    if isinstance(note, AlertNote):
        return f"reply {note.event.message}"
    if isinstance(note, DigestNote):
        return f"digest of {len(note.events)}"
    assert isinstance(note, SummaryNote)
    return f"summary {len(note.open)} open {len(note.recovered)} recovered"


class Desk:
    """One store, one file of alerts, and any number of dispatchers."""

    def __init__(self, store: Store, clock: ManualClock, alerts: Alerts) -> None:
        self.store, self.clock, self.alerts = store, clock, alerts
        self.sinks: dict[str, ScriptedSink] = defaultdict(
            lambda: ScriptedSink(Manner(delays=DELAYS))
        )
        self.sinks["slack"] = ScriptedSink(Manner(threaded=True, paced=True, delays=DELAYS))
        self.sinks["console"] = ScriptedSink(Manner(delays=DELAYS))
        for name in alerts.sinks:
            self.sinks[name]

    @property
    def alerting(self) -> Alerting:
        return Alerting(self.alerts, local_ports(self.store, self.store.events, self.sinks))

    @property
    def slack(self) -> ScriptedSink:
        return self.sinks["slack"]

    @property
    def console(self) -> ScriptedSink:
        return self.sinks["console"]

    @property
    def ports(self) -> Ports:
        """What people's requests go through; nothing that launches jobs."""
        store, nothing = self.store, cast(Any, None)
        return Ports(
            clock=self.clock,
            pipelines=store.pipelines,
            sensors=store.sensors,
            runs=store.runs,
            job_log=store.job_log,
            reruns=store.reruns,
            backfills=store.backfills,
            events=store.events,
            outbox=store.outbox,
            claims=store.claims,
            timers=store.timers,
            workflows=nothing,
            jobs=nothing,
            watch=store.watch,
            unreadable=store.unreadable,
        )

    def dispatcher(self) -> AlertSender:
        return AlertSender(self.store, lambda: self.alerting)

    def tell(self, *events: Event) -> None:
        self.store.events.publish(events)

    def settle(self, **span: float) -> None:
        """All that is due from now until so much later, each at its time."""
        settle(self.dispatcher(), self.clock, timedelta(**span))

    def route(self, *events: Event) -> list[Delivery]:
        alerting = self.alerting
        return [
            each for event in events for each in route_event(event, alerting.alerts, alerting.ports)
        ]

    def state(self, event: Event) -> dict[str, str]:
        found = self.store.deliveries.of_events([event]).get(event.event_id, [])
        return {str(each.target): each.state for each in found}

    def told_of(self, kind: str) -> list[Event]:
        return self.store.events.newest(kind=kind)


def settle(dispatcher: AlertSender, clock: ManualClock, span: timedelta) -> None:
    """Let a dispatcher do what is due from now until so much later, each thing at its time."""
    end = clock.now + span
    while True:
        while dispatcher.step(clock.now):
            pass
        due = dispatcher.next_due()
        if due is None or due > end:
            break
        clock.now = max(due, clock.now)
    clock.now = end


@contextmanager
def a_desk(
    alerts: Alerts, make: Callable[[Database], Database] = lambda sound: sound
) -> Iterator[Desk]:
    clock = ManualClock()
    with Database(MEMORY) as database:
        yield Desk(Store(make(database), clock), clock, alerts)


def channels(posts: Sequence[tuple[str, Any, Any]]) -> list[str]:
    return [channel for channel, _, _ in posts]
