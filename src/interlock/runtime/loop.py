"""Loop: the local backend at work. Changes, executions, timers, leftovers and the watchdog, as they fall due.

Everything that waits is a row, so a new runtime over the same store continues where the last one stopped.
The simulator drives the very same object with a virtual clock.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

import msgspec

from interlock.adapters.sqlite.store import Store
from interlock.domain.change import Change
from interlock.domain.event import EventType, RowOverride, clean, happened, subject
from interlock.domain.run import DeadlineKind, Run, RunKey, Status
from interlock.domain.sla import asks_first
from interlock.domain.timer import Timer, TimerKind
from interlock.domain.watching import START_GRACE
from interlock.lifecycle.deferred_events import deferring
from interlock.runtime.clock_rollback import ClockRollback
from interlock.runtime.commit_cache import CommitCache
from interlock.runtime.decisions import Decisions
from interlock.runtime.execution_engine import Engine
from interlock.usecases.claim_event import claim_event
from interlock.usecases.conclude_pass import PassReport
from interlock.usecases.fire_timer import check_timer, fire_timer
from interlock.usecases.ports import Ports
from interlock.usecases.readable_config import readable_config
from interlock.usecases.report_unreadable import report_unreadable
from interlock.usecases.route_change import route_change
from interlock.usecases.start_run import start_run
from interlock.usecases.watch import watch

log = logging.getLogger(__name__)

ROUTER = "router"
AT_ONCE = 256
PAUSE = timedelta(seconds=5)
OUTBOX_PAUSE = timedelta(seconds=1)
#: How long new changes may delay timers and the watchdog.
PATIENCE = timedelta(seconds=1)
_EVER = datetime.max.replace(tzinfo=UTC)


class TaskRunner(Protocol):
    """What advances executions: the runtime itself, or workers that may wait for the network."""

    def take(self, names: Sequence[str]) -> bool:
        """Advance these, now or soon. Whether any of them was not in progress already."""
        ...

    def do(self, name: str, act: Callable[[], object]) -> bool:
        """Do something that may wait for the network, now or soon, while no worker has that execution. False
        if a worker has it.
        """
        ...

    def each(self, works: Sequence[Callable[[], bool]]) -> list[bool]:
        """Do all of these, in any order, and wait for them. Returns each result."""
        ...


class InlineRunner:
    """One after another, in this thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, names: Sequence[str]) -> bool:
        advanced = [self._engine.advance(name) for name in names]
        return any(advanced)

    def do(self, name: str, act: Callable[[], object]) -> bool:
        act()
        return True

    def each(self, works: Sequence[Callable[[], bool]]) -> list[bool]:
        return [work() for work in works]


class Runtime:
    """One controller over one store."""

    def __init__(
        self,
        store: Store,
        ports: Ports,
        every: timedelta,
        *,
        hands: Callable[[Engine], TaskRunner] = InlineRunner,
        on_pass: Callable[[PassReport], None] = lambda report: None,
    ) -> None:
        self.engine = Engine(store.workflows, ports)
        self._hands = hands(self.engine)
        self.decisions = Decisions()
        self._on_pass = on_pass
        #: Changes with every piece of work, as a sign of progress.
        self.beats = 0
        self._store = store
        self._ports = ports
        self._every = every
        self._busy_since: datetime | None = None
        self._later: dict[str, datetime] = {}
        #: Timers that a worker has, or that wait for an execution that a worker has.
        self._in_hand: set[str] = set()
        self._waiting: set[str] = set()
        self._set_back = ClockRollback(store, ports)
        self._agenda = CommitCache(store.agenda.stamp, store.agenda.look)
        self._watch_state = CommitCache(lambda: store.database.commits, store.watch.load)
        #: Our last pass raised: its claim may remain if the write that ends it failed.
        self._broke_off = False
        self._void_pass()
        self._start_orphans()

    def _void_pass(self) -> None:
        """A pass in progress died with its process, or failed in this one."""
        state = self._store.watch.load()
        if state.pass_until is not None:
            self._store.watch.save(
                msgspec.structs.replace(state, version=state.version + 1, pass_until=None)
            )

    def _start_orphans(self) -> None:
        """Runs whose opener died before starting them. The watchdog would find them too, later."""
        soon = self._ports.clock() + START_GRACE
        for run in self._ports.runs.due(soon):
            if run.status is not Status.PENDING or run.started_at is not None:
                continue
            try:
                self._start(run)
            except Exception:
                log.exception("start failed", extra={"action": "start_failed"})

    def _start(self, run: Run) -> None:
        config = self._ports.pipelines.find(run.key.pipeline_id)
        if config is not None and self._store.workflows.describe(run.execution_name) == "absent":
            start_run(run, config.pipeline, self._ports)

    def settle(self) -> None:
        """Do everything that is due by now, and what follows from it."""
        while self.step():
            pass

    def step(self) -> bool:
        """One round. Whether there was any work.

        Due polls come before due deadlines: a job that ended in time has met its deadline, however late the
        answer arrives.
        """
        self._beat()
        now = self._ports.clock()
        if self._set_back.look(now):
            self._later.clear()
            self._busy_since = None
        did = self._changes(now)
        did = self._executions(now) or did
        if did and not self._is_impatient(now):
            return True
        self._busy_since = None
        self._report(now)
        return self._timers(now) or self._leftovers(now) or self._watch(now) or did

    def _beat(self) -> bool:
        """There is always time for one more pipeline."""
        self.beats += 1
        return True

    def _report(self, now: datetime) -> None:
        """The unreadable rows met since the last round."""
        if self._later.get("unreadable", now) > now:
            return
        self._later.pop("unreadable", None)
        try:
            report_unreadable(self._ports)
        except Exception:
            log.exception("report failed", extra={"action": "report_failed"})
            self._later["unreadable"] = now + PAUSE

    def _is_impatient(self, now: datetime) -> bool:
        """Under endless load, timers must still get their turn."""
        self._busy_since = self._busy_since or now
        return now - self._busy_since >= PATIENCE

    def next_due(self) -> datetime | None:
        """When the next work is due."""
        moments = [
            self._agenda().next_try,
            self._agenda().next_wake,
            self._next_timer(self._ports.clock()),
            self._watch_due(self._ports.clock()),
            *list(self._later.values()),  # copied: workers may add to it
        ]
        return min((moment for moment in moments if moment is not None), default=None)

    def _next_timer(self, now: datetime) -> datetime | None:
        """For due timers whose effect has just failed, `_later` says when to retry; workers report on those
        they have.
        """
        due = self._agenda().next_timer
        if due is None or due > now:
            return due
        timers = self._store.timers.due(now, AT_ONCE)
        held = all(self._is_held(timer, now) for timer in timers)
        return self._store.timers.next_due(now) if held else due

    def _changes(self, now: datetime) -> bool:
        feed = self._store.changes
        parked = feed.parked_due(ROUTER, now) if _is_due(self._agenda().next_try, now) else []
        for each in parked:
            if self._route(each.change, now):
                feed.settle(ROUTER, each.change)
        changes = feed.next(ROUTER, AT_ONCE) if self._agenda().has_changes else []
        for change in changes:
            self._route(change, now)
        if changes:  # once for all of them: repeating them after a crash is harmless
            feed.done(ROUTER, changes[-1])
        return bool(parked or changes)

    def _route(self, change: Change, now: datetime) -> bool:
        """False when it was parked: one bad record does not stop the feed."""
        self._beat()
        try:
            admissions = route_change(change, self._ports)
        except Exception as error:
            log.exception("change failed", extra={"action": "change_failed", "change": change.id})
            again = self._store.changes.park(ROUTER, change, clean(str(error)), now)
            if again is None:
                self._tell_given_up(change, error, now)
            return False
        self.decisions.decided(change.reading, admissions)
        return True

    def _tell_given_up(self, change: Change, error: Exception, now: datetime) -> None:
        config = readable_config(change.pipeline_id, self._ports)
        name = f"change-{change.id}"
        event = happened(
            EventType.INFRA_FAILURE,
            subject(config.pipeline)
            if config
            else subject(None, RunKey(change.pipeline_id, "-", "-")),
            now,
            f"a change of {change.key} can't be handled: {error}",
            parts=(name, "route_change"),
            override=RowOverride(source="route_change"),
            state="route_change",
            error=clean(str(error)),
            change=change.id,
        )
        claim_event(event, deferring(self._ports))  # the bus may be what made the change fail

    def _executions(self, now: datetime) -> bool:
        if not _is_due(self._agenda().next_wake, now):
            return False
        return self._hands.take(self._store.workflows.due(now, AT_ONCE))

    def _timers(self, now: datetime) -> bool:
        if not _is_due(self._agenda().next_timer, now):
            return False
        self._waiting.clear()
        free = (timer for timer in self._sound_timers(now) if not self._is_held(timer, now))
        timers = _by_pipeline(free)
        return any(self._hands.each([partial(self._fire_all, each, now) for each in timers]))

    def _fire_all(self, timers: Sequence[Timer], now: datetime) -> bool:
        """Those of one pipeline, in the order in which they are due."""
        did = False
        for timer in timers:
            did = self._begin(timer, now) or did
        return did

    def _is_held(self, timer: Timer, now: datetime) -> bool:
        held = timer.name in self._in_hand or timer.name in self._waiting
        return held or self._later.get(timer.name, now) > now

    def _sound_timers(self, now: datetime) -> Iterator[Timer]:
        """A timer that can't be fired is dropped: the watchdog does its work."""
        for timer in self._store.timers.due(now, AT_ONCE):
            try:
                check_timer(timer.kind, timer.payload)
            except ValueError as error:
                self._store.timers.drop(timer, error)
            else:
                yield timer

    def _begin(self, timer: Timer, now: datetime) -> bool:
        """Fire it. A deadline that must first poll a job is work for the workers, once none of them has the
        execution of its run: the answer to a poll in progress may be its end.
        """
        execution = self._asked_by(timer)
        if execution is None:
            return self._fire(timer, now)
        self._in_hand.add(timer.name)
        if self._hands.do(execution, lambda: self._fire_in_hand(timer)):
            return True
        self._in_hand.discard(timer.name)
        self._waiting.add(timer.name)
        return False

    def _asked_by(self, timer: Timer) -> str | None:
        """The execution whose job must be polled before this timer takes effect."""
        if timer.kind in tuple(TimerKind):
            return None
        given = timer.payload
        key = RunKey(given["pipelineId"], given["scheduleId"], given["date"])
        run = self._ports.runs.find([key]).get(key)
        asks = asks_first(DeadlineKind(timer.kind), run)
        return run.execution_name if run is not None and asks else None

    def _fire_in_hand(self, timer: Timer) -> None:
        try:
            self._fire(timer, self._ports.clock())
        finally:
            self._in_hand.discard(timer.name)

    def _fire(self, timer: Timer, now: datetime) -> bool:
        """A timer whose effect failed stays armed and is retried."""
        self._beat()
        try:
            fire_timer(timer.kind, timer.payload, self._ports)
            self._store.timers.fire(timer.name, timer.due_at)
        except Exception:
            log.exception("timer failed", extra={"action": "timer_failed", "timer": timer.name})
            self._later[timer.name] = now + PAUSE
            return False
        self._later.pop(timer.name, None)
        return True

    def _leftovers(self, now: datetime) -> bool:
        """Events stored but not published, because a process died or the bus failed."""
        if self._later.get("outbox", now) > now:
            return False
        self._later.pop("outbox", None)
        if not self._agenda().has_untold:
            return False
        events = self._store.outbox.leftovers(_EVER)
        try:
            self._ports.events.publish(events)
        except Exception:
            log.exception("publish failed", extra={"action": "publish_failed"})
            self._later["outbox"] = now + OUTBOX_PAUSE
            return False
        return bool(events)

    def _watch(self, now: datetime) -> bool:
        if self._watch_due(now) > now:
            return False
        try:
            self._set_back.wake_sleepers(now)
            if self._broke_off:
                self._void_pass()
            report = watch(self._every, self._ports, has_time=self._beat)
        except Exception:
            log.exception("watchdog failed", extra={"action": "watchdog_failed"})
            self._broke_off = True
            self._later["watchdog"] = now + PAUSE
            return False
        self._broke_off = False
        self._later.pop("watchdog", None)
        if report is not None:
            self._on_pass(report)
        return report is not None

    def _watch_due(self, now: datetime) -> datetime:
        """The next pass: after the last, or when the claim of another process's pass expires."""
        state = self._watch_state()
        last = state.last_pass_at
        if last is None or last > now:  # never, or the clock was set back
            return self._later.get("watchdog", now)
        due = last + self._every
        claimed = None if self._broke_off else state.pass_until
        return max(due, self._later.get("watchdog", due), claimed or due)


def _by_pipeline(timers: Iterable[Timer]) -> list[list[Timer]]:
    found: dict[str, list[Timer]] = {}
    for timer in timers:
        found.setdefault(timer.payload["pipelineId"], []).append(timer)
    return list(found.values())


def _is_due(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
