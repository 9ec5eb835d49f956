"""Operations: everything a person or a program can ask of the local home, whatever door they come through.

The HTTP interface binds these to paths, the command line calls them on the state file when no server
runs. Answers are structs; both doors render the same ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from interlock.adapters.sqlite.changes import Parked
from interlock.adapters.sqlite.store import Store
from interlock.domain.admission import (
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    NoteLate,
    OpenRun,
    PostRunReading,
    Reject,
    Reopen,
    ReopenWhenReady,
    StartAgain,
    run_keys,
)
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.event import ALIASES, Event
from interlock.domain.missing import Missing
from interlock.domain.partition import Grain, Label, label_at
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.domain.schedule import next_occurrence, occurrences
from interlock.domain.sensor import Reading
from interlock.domain.watchdog_state import WatchdogState
from interlock.domain.zones import zone
from interlock.errors import ConfigError, NotFoundError
from interlock.ports.alerts import Deliveries
from interlock.queries.alerted import Alerted, alerted
from interlock.queries.findings import WatchdogPass, in_words
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.stored_reading import RefusedReading, StoredReading
from interlock.queries.why import Why, explain
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.conclude_pass import PassReport
from interlock.usecases.find_runs import find_runs
from interlock.usecases.pause import Foreseen, foresee_resume, pause, resume
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import admissible_reading, put_reading
from interlock.usecases.request_rerun import (
    RerunOrder,
    backfill_dates,
    chosen_schedule,
    request_rerun,
)
from interlock.usecases.watch import watch

if TYPE_CHECKING:
    from interlock.usecases.foresee_files import FileEdit

MOST = 1000

#: As many dates as a day may have that is counted: minutes of a five-minute cron.
_OF_A_DAY = 300


class Operations:
    """One home. Reads are a moment old at most; writes are durable when they return."""

    def __init__(
        self,
        store: Store | None,
        ports: Ports,
        every: timedelta,
        *,
        deliveries: Deliveries | None = None,
    ) -> None:
        """`store` is the file, which has its upkeep; on AWS there is none."""
        self._file, self._ports, self._every = store, ports, every
        self._deliveries = deliveries if store is None else store.deliveries

    # --- readings

    def put(
        self, pipeline_id: str, key: str, fields: Mapping[str, Any], decide: bool = False
    ) -> StoredReading:
        """Store a reading. `decide`: also say what it led to (acting on it twice is acting once)."""
        reading = put_reading(pipeline_id, key, fields, self._ports)
        led_to = self._led_to(reading) if decide else ()
        return StoredReading(pipeline_id, key, reading.received_at, reading.version, led_to)

    def _led_to(self, reading: Reading) -> tuple[str, ...]:
        """The router may have acted on it first: then its run is there, with the reading's instant."""
        admissions = admit_reading(reading, self._ports)
        pipeline = self._config(reading.pipeline_id).pipeline
        runs = find_runs(run_keys(pipeline, reading), pipeline, self._ports)
        opened = {
            key.schedule_id
            for key, run in runs.items()
            if run.first_sensor_at == reading.received_at and run.opened_by in _BY_READING
        }
        return tuple(
            _OPENED
            if isinstance(each, Ignore | StartAgain) and _schedule_of(each) in opened
            else _said(each)
            for each in admissions
        )

    def put_all(
        self, readings: Sequence[tuple[str, str, Mapping[str, Any]]]
    ) -> list[StoredReading | RefusedReading]:
        """One durable write. One that can't be used does not keep the others out."""
        answers: list[StoredReading | RefusedReading] = []
        stored: list[Reading] = []
        config = cache(self._ports.pipelines.find)
        now = self._ports.clock()
        for pipeline_id, key, fields in readings:
            try:
                reading = admissible_reading(pipeline_id, key, fields, config(pipeline_id), now)
            except (ConfigError, NotFoundError) as error:
                answers.append(RefusedReading(pipeline_id, key, str(error)))
                continue
            stored.append(reading)
            answers.append(StoredReading(pipeline_id, key, reading.received_at, reading.version))
        if stored:
            self._ports.sensors.put_all(stored)
        return answers

    def readings(self, pipeline_id: str) -> list[Reading]:
        self._config(pipeline_id)
        return self._ports.sensors.of_pipeline(pipeline_id)

    # --- looking

    def pipelines(self) -> list[PipelineState]:
        return [self._state(config) for config in self._ports.pipelines.in_force()]

    def pipeline(self, pipeline_id: str) -> PipelineState:
        return self._state(self._config(pipeline_id))

    def is_adopting(self) -> bool:
        """Whether some file is wanted and neither in force nor refused."""
        return bool(self._ports.pipelines.unadopted())

    def refused(self) -> list[RefusedConfig]:
        """The files that were refused when they were last read, and what was stored and refused."""
        from interlock.usecases.adopt_config import (
            judge_config,
        )  # and with it all that checks files
        from interlock.usecases.refuse_file import refusal

        files = [] if self._file is None else self._file.refused_files.kept()
        stored = (
            (wanted.pipeline_id, judge_config(wanted)[1])
            for wanted in self._ports.pipelines.refused()
        )
        return [
            *files,
            *(
                refusal(name, problems)
                if problems
                else RefusedConfig(pipeline_id=name, message=_SOUND_NOW)
                for name, problems in stored
            ),
        ]

    def missing(self) -> list[Missing]:
        """The pipelines in force whose files are gone; none where no files are looked at. The list is as old
        as the last look at the files: what was retired since is left out.
        """
        listed = [] if self._file is None else self._file.missing_files.kept()
        return [each for each in listed if self._is_wanted(each.pipeline_id)]

    def config(self, pipeline_id: str) -> Config:
        return self._config(pipeline_id)

    def why(self, pipeline_id: str, date: str | None = None) -> list[Why]:
        if date is not None:
            _label(date)
        return explain(pipeline_id, self._ports, date)

    def runs(
        self,
        pipeline_id: str | None = None,
        since: str = "0000",
        until: str = "9999",
        limit: int = 100,
    ) -> list[Run]:
        return self._ports.runs.of_pipeline(pipeline_id, since, until, min(limit, MOST))

    def run(self, pipeline_id: str, date: str, schedule_id: str | None = None) -> Run:
        """Raises NotFoundError for a date without a run."""
        config = self._config(pipeline_id)
        schedules = [s.id for s in config.pipeline.schedules if schedule_id in (None, s.id)]
        keys = [
            RunKey(pipeline_id, name, str(_label(date)), dry=config.pipeline.dry_run)
            for name in schedules
        ]
        found = find_runs(keys, config.pipeline, self._ports)
        if not found:
            raise NotFoundError(f"{pipeline_id} has no run of {date}")
        return next(iter(found.values()))

    def history(self, key: RunKey) -> list[Event]:
        return self._ports.events.of_run(key)

    def events(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]:
        name = None if kind is None else ALIASES.get(kind, kind)
        return self._ports.events.newest(
            pipeline_id=pipeline_id, kind=name, since=since, limit=min(limit, MOST)
        )

    def expected(self, pipeline_id: str, since: datetime, until: datetime) -> list[dict[str, Any]]:
        """The dates on which runs are expected in a range, for timelines."""
        config = self._config(pipeline_id)
        return [
            {"schedule": schedule.id, "date": moment.date, "dueAt": moment.due_at}
            for schedule in config.pipeline.schedules
            for moment in occurrences(schedule, config.pipeline.calendars, since, until)
        ]

    def watchdog(self) -> WatchdogState:
        return self._ports.watch.load()

    def alerted(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Alerted]:
        """As `events`, each with where it went as an alert."""
        if self._deliveries is None:
            raise ConfigError("this home does not know where alerts went")
        return alerted(self.events(pipeline_id, kind, since, limit), self._deliveries)

    def heartbeat(self) -> Heartbeat:
        state = self._ports.watch.load()
        return Heartbeat(
            now=self._ports.clock(),
            every_seconds=self._every.total_seconds(),
            last_pass_at=state.last_pass_at,
            last_ok_at=state.last_ok_at,
            failures=state.failures,
        )

    # --- acting; `actor` and `reason` go into the audit log

    def rerun(
        self,
        pipeline_id: str,
        date: str,
        *,
        schedule_id: str | None = None,
        reason: str = "manual",
        force: bool = False,
        actor: str = "",
    ) -> RerunRequest:
        order = RerunOrder(pipeline_id, date, schedule_id, reason, force, actor)
        return request_rerun(order, self._ports)

    def backfill(
        self, pipeline_id: str, first: str, last: str, schedule_id: str | None = None
    ) -> list[str]:
        """The dates of a range that have no completed run, for the caller to request in turn."""
        config = self._config(pipeline_id)
        schedule = chosen_schedule(config, schedule_id)
        dates = list(backfill_dates(config, schedule, first, last))
        keys = {RunKey(pipeline_id, schedule.id, date): date for date in dates}
        runs = find_runs(keys, config.pipeline, self._ports)
        done = {key.date for key, run in runs.items() if run.status is Status.COMPLETED}
        return [date for date in dates if date not in done]

    def pause(self, pipeline_id: str, until: datetime | None = None) -> Config:
        return pause(pipeline_id, self._ports, until)

    def resume(self, pipeline_id: str) -> Config:
        return resume(pipeline_id, self._ports)

    def retire(self, pipeline_id: str) -> Config:
        """Take a pipeline away whose file is missing, without waiting for the end of its grace."""
        from interlock.usecases.retire_pipeline import (
            retire_pipeline,
        )  # and with it all that checks files

        if self._file is None:
            raise ConfigError("apply without its file: that retires a pipeline at once")
        return retire_pipeline(pipeline_id, self._file.missing_files, self._ports)

    def would_resume(self, pipeline_id: str) -> list[Foreseen]:
        """What a resume would start now."""
        return foresee_resume(pipeline_id, self._ports)

    def foresee(self, documents: Mapping[str, Any], whole: bool = False) -> list["FileEdit"]:
        """What files would change if they were adopted now."""
        # with it comes all that checks files
        from interlock.usecases.foresee_files import foresee_files

        return foresee_files(documents, whole, self._ports)

    def watch(self, since: datetime | None = None) -> PassReport | None:
        """One pass of the watchdog now; None when another is under way."""
        return watch(self._every, self._ports, since)

    def watch_pass(self, since: datetime | None = None) -> WatchdogPass | None:
        """As `watch`, with what was found in words."""
        report = self.watch(since)
        return None if report is None else in_words(report)

    # --- upkeep

    def prunable(self, runs_before: str) -> int:
        """How many finished runs of dates before that day there are."""
        return self._store.retention.prunable(_label(runs_before).day.isoformat())

    def prune(self, runs_before: str | None = None) -> dict[str, int]:
        """Remove what has expired, and finished runs of dates before that day; how many by table."""
        removed = self._store.retention.sweep(self._ports.clock())
        if runs_before is not None:
            bound = _label(runs_before).day.isoformat()
            removed["runs"] += self._store.retention.prune(bound, self._ports.clock())
        return removed

    def parked(self) -> list[Parked]:
        """The changes that could not be handled."""
        return self._store.changes.parked()

    def retry_parked(self) -> int:
        """Have them tried again at once; how many."""
        return self._store.changes.retry_parked(self._ports.clock())

    @property
    def _store(self) -> Store:
        if self._file is None:
            raise ConfigError("this home has no state file to look after")
        return self._file

    def _config(self, pipeline_id: str) -> Config:
        config = self._ports.pipelines.find(pipeline_id)
        if config is None:
            raise NotFoundError(f"there is no pipeline {pipeline_id}")
        return config

    def _is_wanted(self, pipeline_id: str) -> bool:
        wanted = self._ports.pipelines.wanted(pipeline_id)
        return wanted is None or wanted.config is not None

    def _state(self, config: Config) -> PipelineState:
        now, pipeline = self._ports.clock(), config.pipeline
        moments = [
            moment.due_at
            for schedule in pipeline.schedules
            if (moment := next_occurrence(schedule, pipeline.calendars, now)) is not None
        ]
        reasons = explain(pipeline.id, self._ports)
        now_on = reasons[0]
        today = str(label_at(now, zone(now_on.timezone), Grain.DAY))
        of_today = self._ports.runs.of_pipeline(pipeline.id, today, today, _OF_A_DAY)
        return PipelineState(
            id=pipeline.id,
            owner=pipeline.pipeline.owner,
            paused=config.is_paused(now),
            retired=config.is_retired,
            active_since=config.active_since,
            config_hash=config.config_hash,
            next_expected=min(moments, default=None),
            runs=tuple(self._ports.runs.of_pipeline(pipeline.id, "0000", "9999", 5)),
            headline=now_on.headline,
            blocked_by=now_on.blocked_by,
            timezone=now_on.timezone,
            date=now_on.date,
            status=now_on.status,
            deadlines=now_on.deadlines,
            sla_verdict=now_on.sla_verdict,
            today=dict(Counter(str(run.status) for run in of_today)),
        )


def _label(date: str) -> Label:
    try:
        return Label.parse(date)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _schedule_of(admission: Ignore | StartAgain) -> str:
    if isinstance(admission, Ignore):
        return admission.schedule_id
    return admission.run.key.schedule_id


def _said(admission: Admission) -> str:
    if isinstance(admission, Ignore):
        return f"ignored: {admission.reason}"
    return _SAID[type(admission)]


_SOUND_NOW = "was refused by another version of Interlock; store it again, this one takes it"
_OPENED = "opened"
_BY_READING = (OpenedBy.SENSOR, OpenedBy.CASCADE)
_SAID: dict[type, str] = {
    OpenRun: _OPENED,
    StartAgain: _OPENED,
    Reopen: "opened again",
    ReopenWhenReady: "may open a date again whose window closed, once its rules hold",
    NoteFirst: "the first reading of a run that was opened before",
    NoteLate: "late data",
    PostRunReading: "a reading after the run",
    Exclude: "ignored: the calendar excludes the date",
    Reject: "rejected",
}
