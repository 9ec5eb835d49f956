"""Demo past: days of history, played by the real controller on a clock of its own, before the server starts.

It is played in memory and then copied to the state file: a disk need not sync each of thousands of writes.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import takewhile

from interlock.adapters.sqlite.backup import back_up
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.demo.demo_sources import DAY, HOUR, MINUTE, failed_day, regions, reports
from interlock.demo.past_jobs import PastJobs
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import ConfigError
from interlock.files import load_project
from interlock.operations.requests import NewPause, NewRerun
from interlock.runtime.loop import Runtime
from interlock.usecases.put_reading import put_reading
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import Settings

#: The past needs few passes: nothing fails to happen in it.
_CADENCE = timedelta(hours=6)
_SHORTEST = timedelta(milliseconds=1)

Step = Callable[[datetime], None]


class PastClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def play_past(
    settings: Settings, since: datetime, now: datetime, step: Step = lambda at: None
) -> None:
    """Write the state file as it would be had a server run since then. `step` hears how far it is."""
    clock = PastClock(since)
    with open_local_backend(settings, clock=clock, database=lambda _: Database(MEMORY)) as backend:
        _Past(settings, backend, clock, now).play(since, step)
        back_up(backend.database, settings.database)


class _Past:
    """The controller in the past."""

    def __init__(
        self, settings: Settings, backend: LocalBackend, clock: PastClock, now: datetime
    ) -> None:
        self._settings, self._backend, self._clock, self._now = settings, backend, clock, now
        self._jobs = PastJobs(settings.state.resolve(), clock, now)
        self._ports = replace(backend.ports, jobs=self._jobs)
        self._runtime = Runtime(backend.store, self._ports, _CADENCE)

    def play(self, since: datetime, step: Step) -> None:
        self._adopt(since)
        self._runtime.settle()
        for at, act in self._acts(since):
            self._run_until(at)
            step(at)
            with suppress(
                ConfigError
            ):  # a malformed reading is refused at the door, as by a server
                act()
            self._runtime.settle()
        self._run_until(self._now)

    def _adopt(self, since: datetime) -> None:
        for pipeline in load_project(self._settings.project).pipelines.values():
            config = canonical.as_json(pipeline)
            wanted = Wanted(pipeline.id, config, canonical.content_hash(config), since)
            self._backend.store.pipelines.want(wanted)

    def _acts(self, since: datetime) -> Iterator[tuple[datetime, Callable[[], object]]]:
        """What producers and people did, in order."""
        found = [regions(since), *takewhile(lambda r: r.at <= self._now, reports(since, self._now))]
        acts: list[tuple[datetime, Callable[[], object]]] = [
            (r.at, lambda r=r: put_reading(r.pipeline, r.key, r.fields, self._ports))  # type: ignore[misc]
            for r in found
        ]
        acts += self._people()
        return iter(sorted(acts, key=lambda act: act[0]))

    def _people(self) -> list[tuple[datetime, Callable[[], object]]]:
        """A pause with a reason; and two reruns, of which the budget allows one."""
        ada, grace = self._backend.commands("ada"), self._backend.commands("grace")
        day = failed_day(self._now)
        midnight = datetime.combine(day + DAY, time(), UTC)
        label = day.isoformat()
        why = "the CRM moves to another cluster; resume it once Priya says so"
        again = NewRerun(date=label, reason="the tax table should be there now")
        once_more = NewRerun(date=label, reason="tried with finance on the phone")
        return [
            (midnight - 2 * HOUR, lambda: ada.pause("customer-export", NewPause(reason=why))),
            (midnight + 10 * MINUTE, lambda: ada.rerun("invoices-report", again)),
            (midnight + 30 * MINUTE, lambda: grace.rerun("invoices-report", once_more)),
        ]  # fmt: skip

    def _run_until(self, until: datetime) -> None:
        while (due := self._next_due()) is not None and due < until:
            self._move_to(max(due, self._clock.now + _SHORTEST))
        self._move_to(until)

    def _next_due(self) -> datetime | None:
        ahead = [at for at in (self._runtime.next_due(), self._jobs.next_end()) if at is not None]
        return min(ahead, default=None)

    def _move_to(self, moment: datetime) -> None:
        self._clock.now = max(self._clock.now, moment)
        if self._jobs.end(self._clock.now):
            for config in self._backend.store.pipelines.in_force():
                self._backend.store.workflows.wake(config.pipeline.id, WaitingFor.JOB)
        self._runtime.settle()
