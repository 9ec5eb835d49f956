"""World: plays a scenario against the real controller, on an in-memory store and a virtual clock."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain import canonical, duration
from interlock.domain.config import Wanted
from interlock.domain.event import Event
from interlock.domain.job_record import JobRecord
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import ConfigError, InterlockError, NotFoundError, TransientError
from interlock.runtime.alert_sender import AlertSender
from interlock.runtime.alerting import console_alone
from interlock.runtime.loop import InlineRunner, Runtime
from interlock.simulation.backfill_entries import operate_backfill
from interlock.simulation.faults import (
    Crash,
    FailingEvents,
    FailingJobs,
    FailingSensors,
    FailingWorkflows,
    Faults,
    NotedWatch,
    RecordingSink,
)
from interlock.simulation.folder import Folder
from interlock.simulation.invariants import Invariants
from interlock.simulation.scenario import (
    FailEntry,
    FileEntry,
    MarkEntry,
    Moment,
    RunActionEntry,
    Scenario,
    TimelineEntry,
    pipeline_id,
)
from interlock.simulation.scripted_jobs import ScriptedJobs, SimulatedJob
from interlock.simulation.slow_calls import Crew
from interlock.simulation.store_digest import digest
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.cancel_run import cancel_run
from interlock.usecases.mark_run import mark_run
from interlock.usecases.pause import pause, resume
from interlock.usecases.ports import Ports
from interlock.usecases.retire_pipeline import retire_pipeline
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import skip_run
from interlock.usecases.unskip_run import unskip_run

_SILENT = logging.CRITICAL + 1
_PATIENCE = 20
_OF_OPERATORS = ("pause", "resume", "retire", "backfill", "cancel", "skip", "unskip", "mark")
_AFTER_TROUBLE = timedelta(seconds=1)


class Outcome(msgspec.Struct):
    """The outcome of a scenario."""

    events: list[Event]
    runs: list[Run]
    launches: list[SimulatedJob]
    alerts: list[tuple[Event, str]]
    broken: list[str]
    writes: int
    calls: int


class World:
    """Everything outside the controller, and the controller itself, which may die at any write."""

    def __init__(
        self,
        scenario: Scenario,
        faults: Faults | None = None,
        on_quiet: Callable[["World"], None] = lambda world: None,
        around: Callable[[Ports], Ports] = lambda ports: ports,
    ) -> None:
        """`around` may put other ports in the place of the controller's."""
        self._around = around
        self._on_quiet = on_quiet
        self._scenario = scenario
        self._clock = VirtualClock(scenario.start)
        self._faults = faults or Faults()
        self._database = Database()
        self._crew = Crew(self._clock)
        self._jobs = ScriptedJobs(scenario.jobs, self._clock, self._crew.rest)
        self._sink = RecordingSink(self._faults)
        self._down_until: datetime | None = None
        self._configs_in_outage: list[object] = []
        self._folder = Folder()
        self._store = Store(self._database, self._clock)
        self._invariants = Invariants(self._store, self._jobs, self._clock, scenario.watchdog)
        self._faults.on_failure = self._note_trouble
        self._boot()

    def play(self) -> Outcome:
        """Play from start to end, jumping from one due instant to the next."""
        quiet = logging.getLogger("interlock")
        level = quiet.level
        quiet.setLevel(_SILENT)
        try:
            for config in self._scenario.configs:
                self._want(config)
            self._settle()
            for moment in self._scenario.timeline:
                if moment.at > self._scenario.until:
                    break
                self._run_until(moment.at)
                self._happen(moment)
                self._settle()
            self._run_until(self._scenario.until)
            self._invariants.check_end(is_down=self._is_down())
            return self.outcome()
        finally:
            self._crew.die()
            quiet.setLevel(level)
            self._database.close()

    @property
    def now(self) -> datetime:
        return self._clock.now

    @property
    def store(self) -> Store:
        """What has been stored so far."""
        return self._store

    def digest(self) -> str | None:
        """The state without timestamps; None while work is in progress."""
        is_moving = self._is_down() or self._folder.is_waiting or self._crew.is_busy
        return None if is_moving else digest(self._database)

    def _note_trouble(self) -> None:
        self._invariants.calm_since = self._clock()

    def _boot(self) -> None:
        """A new process over the same store: it knows only what is stored."""
        self._crew.die()
        self._note_trouble()
        self._store = Store(self._database, self._clock)
        self._invariants.store = self._store
        store = self._store
        ports = Ports(
            clock=self._clock,
            pipelines=store.pipelines,
            sensors=FailingSensors(store.sensors, self._faults),
            runs=store.runs,
            job_log=store.job_log,
            reruns=store.reruns,
            backfills=store.backfills,
            events=FailingEvents(store.events, self._faults),
            outbox=store.outbox,
            claims=store.claims,
            timers=store.timers,
            workflows=FailingWorkflows(store.workflows, self._faults),
            jobs=JobsByPipeline(FailingJobs(self._jobs, self._faults)),
            watch=NotedWatch(store.watch, self._faults),
            unreadable=store.unreadable,
        )
        self._ports = self._around(ports)
        hands = self._crew.of if self._scenario.is_slow else InlineRunner
        self._runtime = Runtime(store, self._ports, self._scenario.watchdog, hands=hands)
        self._folder.follow(store.missing_files, self._ports)
        self._files_from = self._clock.now
        self._alerts_from = self._clock.now
        alerting = console_alone(store, self._ports.events, self._sink)
        self._dispatcher = AlertSender(store, lambda: alerting)

    def _settle(self) -> None:
        """Let the controller do what is due now; when it dies, boot it and continue."""
        if self._is_down():
            return
        while True:
            try:
                self._database.after_commit = self._faults.written
                while self._step():
                    self._invariants.check_step()
                break
            except Crash:
                self._database.after_commit = None
                self._boot()
            except Exception as error:  # noqa: BLE001 - a server would go on, and so do we
                self._invariants.note_raised(error)
                break
            finally:
                self._database.after_commit = None
        self._invariants.check_step()
        self._invariants.check_rest()
        self._on_quiet(self)

    def _step(self) -> bool:
        did = (
            self._look_at_files()
            or self._crew.go_on()
            or self._runtime.step()
            or self._send_alerts()
        )
        self._faults.stepped()
        return did

    def _look_at_files(self) -> bool:
        """Like a server, it waits a little after an error."""
        now = self._clock()
        if now < self._files_from:
            return False
        try:
            return self._folder.look()
        except InterlockError:
            self._files_from = now + _AFTER_TROUBLE
            return False

    def _send_alerts(self) -> bool:
        """Like a server, it waits a little after an error."""
        now = self._clock()
        if now < self._alerts_from:
            return False
        try:
            return self._dispatcher.step(now)
        except InterlockError:
            self._alerts_from = now + _AFTER_TROUBLE
            return False

    def _run_until(self, until: datetime) -> None:
        """Advance to each due moment before `until`, and to `until` itself."""
        self._settle()
        while (due := self._next_due()) is not None and due < until:
            self._move_to(due)
            self._settle()
        self._move_to(until)
        self._settle()

    def _move_to(self, moment: datetime) -> None:
        self._clock.now = max(self._clock.now, moment)
        if self._down_until is not None and self._clock.now >= self._down_until:
            self._back()
        for launch in self._jobs.ended(self._clock.now):
            if not self._is_down():
                self._store.workflows.wake(launch.pipeline, WaitingFor.JOB)

    def _next_due(self) -> datetime | None:
        if self._is_down():
            return self._down_until
        moments = [
            self._runtime.next_due(),
            self._next_alert(),
            self._jobs.next_end(),
            self._next_look(),
            self._crew.next_due(),
        ]
        ahead = [m for m in moments if m is not None]
        return max(min(ahead), self._clock.now + timedelta(milliseconds=1)) if ahead else None

    def _next_alert(self) -> datetime | None:
        due = self._dispatcher.next_due()
        return None if due is None else max(due, self._alerts_from)

    def _next_look(self) -> datetime | None:
        if self._files_from > self._clock.now:  # after an error
            return self._files_from
        return self._folder.next_due(self._clock.now)

    def _is_down(self) -> bool:
        return self._down_until is not None

    def _back(self) -> None:
        """The outage is over: a new process, which first reads the files."""
        self._down_until = None
        self._boot()
        for config in self._configs_in_outage:
            self._want(config)
        self._configs_in_outage.clear()

    def _happen(self, moment: Moment) -> None:
        entry = moment.entry
        if entry.config is not None:
            if self._is_down():
                self._configs_in_outage.append(entry.config)
            else:
                self._want(entry.config)
        elif entry.file is not None:
            self._change_file(entry.file, moment.at)
        elif entry.outage is not None:
            self._crew.die()
            self._down_until = moment.at + duration.parse(entry.outage)
        elif entry.crash:
            self._boot() if not self._is_down() else None
        elif entry.fail is not None:
            self._fail(entry.fail, moment.at)
        elif any(getattr(entry, name) is not None for name in _OF_OPERATORS):
            self._operate(entry)
        else:
            self._write(entry)

    def _fail(self, entry: FailEntry, at: datetime) -> None:
        if entry.span is None:
            self._faults.will_fail(entry.call, entry.times)
            return
        until = at + duration.parse(entry.span)
        self._faults.will_fail_while(entry.call, lambda: self._clock() < until)

    def _operate(self, entry: TimelineEntry) -> None:
        """What an operator requests from the controller, or from the state file while it is down. Operators
        retry when told to, and when the process that they asked dies; what is refused has no effect.
        """
        for _ in range(_PATIENCE):
            try:
                self._database.after_commit = self._faults.written
                self._act_for_operator(entry)
                return
            except Crash:
                self._database.after_commit = None
                if not self._is_down():
                    self._boot()
            except TransientError:
                continue
            except (NotFoundError, ConfigError):
                return
            finally:
                self._database.after_commit = None

    def _act_for_operator(self, entry: TimelineEntry) -> None:
        ports = self._operator_ports()
        if entry.pause is not None:
            pause(entry.pause, ports)
        elif entry.resume is not None:
            resume(entry.resume, ports)
        elif entry.retire is not None:
            self._retire(entry.retire)
        elif entry.backfill is not None:
            operate_backfill(entry.backfill, ports)
        elif entry.cancel is not None:
            cancel_run(self._order(entry.cancel), ports)
        elif entry.skip is not None:
            skip_run(self._order(entry.skip), ports)
        elif entry.unskip is not None:
            unskip_run(self._order(entry.unskip), ports)
        elif entry.mark is not None:
            mark_run(self._order(entry.mark), entry.mark.outcome, entry.mark.evidence, ports)

    def _operator_ports(self) -> Ports:
        return self._ports

    def _order(self, entry: RunActionEntry | MarkEntry) -> RunOrder:
        key = self._key(entry.pipeline, entry.schedule, entry.date)
        config = self._store.pipelines.find(key.pipeline_id)
        dry = config is not None and config.pipeline.dry_run
        return RunOrder(msgspec.structs.replace(key, dry=dry), "operator", entry.reason)

    def _retire(self, name: str) -> None:
        retire_pipeline(name, self._store.missing_files, self._ports)

    def _change_file(self, entry: FileEntry, at: datetime) -> None:
        self._folder.happen(entry, at)

    def _write(self, entry: TimelineEntry) -> None:
        """What producers, operators and jobs write directly into the store."""
        now = self._clock.now
        if entry.sensor is not None:
            fields = canonical.as_json(entry.sensor.data)
            reading = Reading(entry.sensor.pipeline, entry.sensor.key, fields, now)
            self._store.sensors.put(reading)
        elif entry.rerun is not None:
            rerun = entry.rerun
            key = self._key(rerun.pipeline, rerun.schedule, rerun.date)
            self._store.reruns.request(
                RerunRequest(
                    key=key,
                    reason=rerun.reason,
                    requested_at=now,
                    requested_by="operator",
                    force=rerun.force,
                )
            )
        elif entry.delete is not None and entry.delete.key is not None:
            self._store.sensors.remove(entry.delete.pipeline, entry.delete.key, now)
        elif entry.delete is not None and entry.delete.rerun is not None:
            row = entry.delete.rerun
            key = self._key(entry.delete.pipeline, row.schedule, row.date)
            self._store.reruns.withdraw(key, now)
        elif entry.job is not None:
            job = entry.job
            key = self._key(job.pipeline, job.schedule, job.date)
            self._store.job_log.append(
                JobRecord(key=key, at=now, event=job.event, error=job.error, category=job.category)
            )

    def _key(self, pipeline_id: str, schedule_id: str | None, date: str) -> RunKey:
        """Where a scenario names no schedule, the pipeline's only one, or its first."""
        if schedule_id is None:
            config = self._store.pipelines.find(pipeline_id)
            schedule_id = config.pipeline.schedules[0].id if config else "stream"
        return RunKey(pipeline_id, schedule_id, date)

    def _want(self, config: object) -> None:
        """Like the file watcher: pass the file on as it is, for the controller to judge."""
        name = pipeline_id(config)
        if name is not None:
            self._folder.put(name, config, self._clock.now)
            digest = canonical.content_hash(config)
            self._store.pipelines.want(Wanted(name, config, digest, self._clock.now))

    def outcome(self) -> Outcome:
        return Outcome(
            events=[told.event for told in self._store.events.after(0, 1_000_000)],
            runs=self._store.runs.of_pipeline(None, "0000", "9999", 1_000_000),
            launches=self._jobs.launches,
            alerts=self._sink.sent,
            broken=self._invariants.broken,
            writes=self._faults.writes,
            calls=self._faults.calls,
        )
