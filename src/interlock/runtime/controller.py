"""Controller: everything that acts, in one process, as threads over one backend.

The loop does what is due and sleeps until the next thing is, or until something is written. Workers move
executions on, a thread of its own brings alerts to people, and further ones look at the project's files,
keep house, hear of ended jobs, and watch the watchdog.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from interlock.adapters.jobs.command.exit_pipe import Ends
from interlock.adapters.jobs.command.job_folder import JobFolder, Spec, prune
from interlock.adapters.prepared import prepare_types
from interlock.domain.run import RunKey
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import InterlockError
from interlock.ports.alerts import Sink
from interlock.runtime.alert_sender import AlertSender, SenderThreads
from interlock.runtime.execution_engine import Engine
from interlock.runtime.file_watcher import FileWatcher, UnusableFiles
from interlock.runtime.hang_detector import HangDetector, Vitals
from interlock.runtime.health import Health
from interlock.runtime.housekeeping import Housekeeping
from interlock.runtime.loop import Runtime
from interlock.runtime.project_alerts import ProjectAlerts
from interlock.runtime.served_backend import ServedBackend
from interlock.runtime.workers import Workers
from interlock.usecases.conclude_pass import PassReport

log = logging.getLogger(__name__)

_KEEP_HOUSE = 20.0
_LOOK_AT_FILES = 1.0
#: Looking at files may take this part of the time: with ten thousand of them it is done less often.
_FILES_SHARE = 0.01
_RAREST_LOOK = 10.0
_SOONEST_LOOK = 0.05
_LONGEST_SLEEP = 60.0
_AFTER_TROUBLE = 1.0
_STOP_SECONDS = 5.0
#: News that come within this time are looked at together: under a stream of readings, the work of looking
#: would be more than the work itself.
_ROUTING_REST = 0.002
_ALERTS_REST = 0.05


class Controller:
    """Everything that acts. Start it once; stop it before its backend is closed."""

    def __init__(
        self,
        backend: ServedBackend,
        health: Health,
        console: Sink,
        on_pass: Callable[[PassReport], None] = lambda report: None,
    ) -> None:
        prepare_types()
        self._backend = backend
        self._health = health
        self._stopping = threading.Event()
        self._news = threading.Event()
        self._untold = threading.Event()
        self._threads: list[threading.Thread] = []
        self._ends = Ends(backend.settings.state.resolve())
        backend.database.after_commit = self._committed
        self.runtime = Runtime(
            backend.store,
            backend.ports,
            backend.settings.watchdog_every,
            hands=self._start_workers,
            on_pass=on_pass,
        )
        self._senders = SenderThreads(self._untold.set)
        alerting = ProjectAlerts(backend, console)
        self._dispatcher = AlertSender(backend.store, alerting, self._senders)
        self._loader = FileWatcher(
            backend.settings.project,
            backend.ports,
            backend.store.missing_files,
            alerting.use,
            self._note_refused,
            health.written,
        )
        self._house = Housekeeping(
            backend.store, backend.ports.clock, sweep_outputs=self._sweep_outputs
        )
        vitals = Vitals(
            backend.store.clock_trail,
            lambda: self.runtime.beats,
            lambda: () if self._stopping.is_set() else self._lasting(),
        )
        self._overdue = HangDetector(vitals, backend.settings.watchdog_every)
        health.note_controller(self._ended_threads, self._house.notice)

    def start(self) -> None:
        for name, work in (
            ("loop", self._loop),
            ("alerts", self._tell),
            ("files", self._look_at_files),
            ("house", self._keep_house),
            ("ends", self._hear_ends),
            ("overdue", self._look_whether_overdue),
        ):
            thread = threading.Thread(
                target=self._outlive, args=(work,), name=f"interlock-{name}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def _sweep_outputs(self, now: datetime) -> None:
        settings = self._backend.settings
        prune(settings.state.resolve(), now - settings.retention.outputs, self._is_open)

    def _is_open(self, spec: Spec) -> bool:
        key = RunKey(spec.pipeline, spec.values["SCHEDULE"], spec.values["LABEL"])
        run = self._backend.ports.runs.find([key]).get(key)
        return run is not None and run.is_open

    def stop(self) -> None:
        """Within seconds. What is under way and does not end is repeated after the next start."""
        self._stopping.set()
        self._committed()
        self._ends.interrupt()
        self._workers.stop(_STOP_SECONDS)
        self._senders.stop()
        until = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._backend.database.after_commit = None
        self._ends.close()

    def _outlive(self, work: Callable[[], None]) -> None:
        """Whatever ends a piece of work, memory that runs out included, it begins again."""
        while not self._stopping.is_set():
            try:
                work()
            except BaseException:  # also when there is no memory left to say so
                with suppress(Exception):
                    log.exception("a thread failed", extra={"action": "thread_failed"})
                with suppress(Exception):
                    time.sleep(_AFTER_TROUBLE)

    def _ended_threads(self) -> list[str]:
        return [each.name for each in self._lasting() if not each.is_alive()]

    def _lasting(self) -> list[threading.Thread]:
        """The threads that the controller can't run without."""
        return [*self._threads, *self._backend.database.threads()]

    def _note_refused(self, refused: UnusableFiles) -> None:
        self._health.note_refused(refused)
        self._backend.store.refused_files.keep(refused.files)

    def _start_workers(self, engine: Engine) -> Workers:
        self._workers = Workers(engine, self._news.set)
        return self._workers

    def _committed(self) -> None:
        self._news.set()
        self._untold.set()

    def _loop(self) -> None:
        self._in_turn(self._news, self.runtime.step, self._until_due, _ROUTING_REST)

    def _tell(self) -> None:
        clock = self._backend.ports.clock
        self._in_turn(
            self._untold,
            lambda: self._dispatcher.step(clock()),
            self._until_alert,
            _ALERTS_REST,
        )

    def _in_turn(
        self,
        news: threading.Event,
        step: Callable[[], bool],
        pause: Callable[[], float],
        rest: float,
    ) -> None:
        """Step after step; without work, a sleep that news ends, and at least a short rest."""
        while not self._stopping.is_set():
            news.clear()
            try:
                if not step():
                    self._stopping.wait(rest)
                    news.wait(pause())
            except Exception:
                log.exception("a step failed", extra={"action": "step_failed"})
                self._stopping.wait(_AFTER_TROUBLE)

    def _until_due(self) -> float:
        due = self.runtime.next_due()
        if due is None:
            return _LONGEST_SLEEP
        left = (due - self._backend.ports.clock()).total_seconds()
        # What is due and yet not begun is in the hands of workers: they tell when they are done.
        return _AFTER_TROUBLE if left <= 0 else min(left, _LONGEST_SLEEP)

    def _until_alert(self) -> float:
        due = self._dispatcher.next_due()
        if due is None:
            return _LONGEST_SLEEP
        left = (due - self._backend.ports.clock()).total_seconds()
        # What is due and yet not sent is in the hands of a sender, who tells when it is done.
        return _AFTER_TROUBLE if left <= 0 else min(left, _LONGEST_SLEEP)

    def _look_at_files(self) -> None:
        said = ""
        while not self._stopping.is_set():
            began, changed = time.monotonic(), False
            try:
                changed = self._loader.look()
                if self._loader.has_read:
                    self._health.loaded()
            except InterlockError as error:
                if str(error) != said:  # once, not with every look
                    said = str(error)
                    log.error(
                        "the files can't be loaded: %s", said, extra={"action": "files_failed"}
                    )
            except Exception:
                log.exception("the files can't be loaded", extra={"action": "files_failed"})
            took = 0.0 if changed else time.monotonic() - began
            usual = min(max(_LOOK_AT_FILES, took / _FILES_SHARE), _RAREST_LOOK)
            due = self._loader.until_due()
            self._stopping.wait(usual if due is None else min(usual, max(due, _SOONEST_LOOK)))

    def _keep_house(self) -> None:
        while not self._stopping.is_set():
            with _logged("house_failed"):
                self._house.look()
            self._stopping.wait(_KEEP_HOUSE)

    def _hear_ends(self) -> None:
        """A job that ended wakes its run at once; polling finds an end that was missed."""
        state = self._backend.settings.state.resolve()
        while not self._stopping.is_set():
            with _logged("ends_failed"):
                for token in self._ends.wait(_LONGEST_SLEEP):
                    spec = JobFolder(state, token).spec()
                    if spec is not None:
                        self._backend.ports.workflows.wake(spec.pipeline, WaitingFor.JOB)

    def _look_whether_overdue(self) -> None:
        while not self._stopping.wait(self._overdue.interval):
            self._overdue.look()
            if self._health.is_in_trouble:  # probe until a write succeeds again
                self._backend.store.clock_trail.probe(lambda error: None)


@contextmanager
def _logged(action: str) -> Iterator[None]:
    try:
        yield
    except Exception:
        log.exception("housework failed", extra={"action": action})
