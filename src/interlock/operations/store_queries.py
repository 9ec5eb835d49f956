"""Store queries: implements `Queries` over the ports of a backend."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from interlock.domain.alerting.threads import AlertKey
from interlock.domain.callers import AuditEntry, AuditFilter
from interlock.domain.change import Parked
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.edits import FileEdit
from interlock.domain.event import ALIASES, Event
from interlock.domain.history import EventFilter
from interlock.domain.job_output import OutputPart, OutputStream
from interlock.domain.missing import Missing
from interlock.domain.reading_doubts import reading_doubts
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError, NotFoundError
from interlock.operations.alert_access import AlertAccess
from interlock.operations.many_dates import foreseen_date, ordered_dates
from interlock.operations.requests import (
    AuditQuery,
    BackfillDatesQuery,
    BackfillQuery,
    BackfillsQuery,
    EventsQuery,
    ForeseeReading,
    NewDates,
    NewFiles,
    OnDate,
    OutputQuery,
    Paging,
    PruneQuery,
    RangeQuery,
    RunsQuery,
    SearchQuery,
    label_of,
)
from interlock.operations.results import DateAnswer, ForeseenReading, Prunable, RunHistory
from interlock.operations.tokens import TokenShown, shown
from interlock.ports.jobs import JobOutputs
from interlock.ports.reads import History
from interlock.ports.state_file import StateFile
from interlock.queries.alert_overview import (
    AlertOverview,
    OpenAlert,
    alert_overview,
    open_alert,
)
from interlock.queries.alerted import Alerted, alerted
from interlock.queries.attainment import Attainment, attainments
from interlock.queries.backfill_progress import (
    BackfillDate,
    BackfillProgress,
    backfill_dates,
    backfill_progress,
)
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.paging import Page, cursor_of, page_of, place_at
from interlock.queries.pipeline_state import PipelineState, pipeline_state
from interlock.queries.run_output import RunOutput, run_output
from interlock.queries.search import Found, search
from interlock.queries.stored_reading import in_words
from interlock.queries.timeline import TimelineRow, timeline
from interlock.queries.why import Why, explain
from interlock.usecases.admit_reading import foresee_reading
from interlock.usecases.find_runs import find_runs
from interlock.usecases.pause import Foreseen, foresee_resume
from interlock.usecases.plan_backfill import plan_backfill
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import admissible_reading
from interlock.usecases.request_rerun import chosen_schedule
from interlock.usecases.steer_backfill import found_backfill
from interlock.usecases.unknown_pipeline import unknown_pipeline

LONGEST_RANGE = timedelta(days=92)
#: The most runs that one page with a status searches, and how many it reads at once.
MOST_SEARCHED = 5_000
_SEARCHED_AT_ONCE = 1_000

T = TypeVar("T")


class StoreQueries:
    """One backend. `file` is its state file; AWS has none. `outputs` reads what jobs printed."""

    def __init__(
        self,
        ports: Ports,
        history: History,
        alerts: AlertAccess,
        watchdog_every: timedelta,
        file: StateFile | None = None,
        outputs: JobOutputs | None = None,
    ) -> None:
        self._ports, self._history, self._alerts = ports, history, alerts
        self._every, self._file, self._outputs = watchdog_every, file, outputs

    # --- pipelines and their readings

    def readings(self, pipeline: str, query: Paging = Paging()) -> Page[Reading]:
        place_at(query.cursor, str)
        self.config(pipeline)
        readings = self._ports.sensors.of_pipeline(pipeline)
        return _behind(readings, query, [reading.key for reading in readings])

    def pipelines(self, query: Paging = Paging()) -> Page[PipelineState]:
        page = self._configs(query)
        return Page([pipeline_state(config, self._ports) for config in page.items], page.next)

    def pipeline(self, pipeline: str) -> PipelineState:
        return pipeline_state(self.config(pipeline), self._ports)

    def config(self, pipeline: str) -> Config:
        config = self._ports.pipelines.find(pipeline)
        if config is None:
            raise unknown_pipeline(pipeline, self._ports)
        return config

    def is_adopting(self) -> bool:
        """Whether a wanted file is neither in force nor refused yet."""
        return bool(self._ports.pipelines.unadopted())

    def refused(self) -> Page[RefusedConfig]:
        from interlock.queries.refused_configs import refused_configs  # imports the file checks

        files = [] if self._file is None else self._file.refused_files.kept()
        return Page([*files, *refused_configs(self._ports)])

    def missing(self) -> Page[Missing]:
        """As of the last check of the files, without what was retired since."""
        listed = [] if self._file is None else self._file.missing_files.kept()
        return Page([each for each in listed if self._is_wanted(each.pipeline_id)])

    def foresee(self, files: NewFiles) -> Page[FileEdit]:
        from interlock.usecases.foresee_files import foresee_files  # imports the file checks

        return Page(foresee_files(files.pipelines, files.whole, self._ports))

    # --- runs and events

    def why(self, pipeline: str, query: OnDate = OnDate()) -> Page[Why]:
        if query.date is not None:
            label_of(query.date)
        return Page(explain(pipeline, self._ports, query.date))

    def runs(self, query: RunsQuery = RunsQuery()) -> Page[Run]:
        after = place_at(query.cursor, RunKey)
        since, until = query.since or "0000", query.until or "9999"
        found: list[Run] = []
        searched = 0
        while len(found) <= query.limit and searched < MOST_SEARCHED:
            wanted = query.limit + 1 if not searched else _SEARCHED_AT_ONCE
            page = self._history.runs(query.pipeline, since, until, after, wanted, query.status)
            if page is None:
                raise ConfigError("this backend lists the runs of one pipeline: name it")
            found += [run for run in page if query.status in (None, run.state)]
            if len(page) < wanted:
                return page_of(found[: query.limit + 1], query.limit, lambda run: run.key)
            after, searched = page[-1].key, searched + len(page)
        if len(found) <= query.limit and after is not None:
            return Page(found, cursor_of(after))
        return page_of(found[: query.limit + 1], query.limit, lambda run: run.key)

    def run(self, pipeline: str, schedule: str, date: str) -> RunHistory:
        run = self._run(pipeline, schedule, date)
        return RunHistory(run, self._ports.events.of_run(run.key))

    def output(
        self, pipeline: str, schedule: str, date: str, query: OutputQuery = OutputQuery()
    ) -> RunOutput:
        if query.tail is not None and query.offset is not None:
            raise ConfigError("tail and offset exclude each other: give one of them")
        if self._outputs is None:
            raise ConfigError("this backend has no output of jobs")
        part = OutputPart(
            stream=OutputStream(query.stream),
            offset=query.offset,
            tail=query.tail,
            limit=query.limit,
        )
        run = self._run(pipeline, schedule, date)
        return run_output(run, query.attempt, part, self._ports, self._outputs)

    def _run(self, pipeline: str, schedule: str, date: str) -> Run:
        config = self.config(pipeline)
        key = RunKey(pipeline, schedule, str(label_of(date)), dry=config.pipeline.dry_run)
        found = find_runs([key], config.pipeline, self._ports)
        if not found:
            raise NotFoundError(f"{pipeline} has no run of {date}")
        return next(iter(found.values()))

    def events(self, query: EventsQuery = EventsQuery()) -> Page[Event]:
        kind = None if query.type is None else ALIASES.get(query.type, query.type)
        wanted = EventFilter(
            pipeline_id=query.pipeline, kind=kind, since=query.since, until=query.until
        )
        before = place_at(query.cursor, tuple[datetime, int])
        found = self._history.events(wanted, before, query.limit + 1)
        page = page_of(found, query.limit, lambda told: (told.event.timestamp, told.seq))
        return Page([told.event for told in page.items], page.next)

    def alerts(self, query: EventsQuery = EventsQuery()) -> Page[Alerted]:
        page = self.events(query)
        return Page(alerted(page.items, self._alerts.stores.deliveries), page.next)

    def alerting(self) -> AlertOverview:
        names = [config.pipeline.id for config in self._ports.pipelines.in_force()]
        access = self._alerts
        return alert_overview(access.in_force(), access.stores, names, self._ports.clock())

    def alert(self, pipeline: str, schedule: str, date: str) -> OpenAlert:
        key = AlertKey(pipeline, schedule, str(label_of(date)))
        found = open_alert(key, self._alerts.stores, self._ports.clock())
        if found is None:
            raise NotFoundError(f"{pipeline} {key.date} has no open alert")
        return found

    def search(self, query: SearchQuery) -> Page[Found]:
        return Page(search(query.q, query.limit, self._ports, self._history))

    def timeline(self, query: RangeQuery) -> Page[TimelineRow]:
        _check_range(query)
        page, now = self._configs(query), self._ports.clock()
        rows = timeline(page.items, query.since, query.until, now, self._history)
        return Page(rows, page.next)

    def sla(self, query: RangeQuery) -> Page[Attainment]:
        _check_range(query)
        page = self._configs(query)
        return Page(attainments(page.items, query.since, query.until, self._history), page.next)

    def watchdog(self) -> Heartbeat:
        state = self._ports.watch.load()
        return Heartbeat(
            now=self._ports.clock(),
            every_seconds=self._every.total_seconds(),
            last_pass_at=state.last_pass_at,
            last_ok_at=state.last_ok_at,
            failures=state.failures,
        )

    # --- backfills

    def backfills(self, query: BackfillsQuery = BackfillsQuery()) -> Page[BackfillProgress]:
        before = place_at(query.cursor, str)
        if query.pipeline is not None:
            self.config(query.pipeline)
        found = self._ports.backfills.newest(query.limit + 1, before, query.pipeline)
        page = page_of(found, query.limit, lambda backfill: backfill.id)
        return Page([backfill_progress(each, self._ports) for each in page.items], page.next)

    def backfill_progress(self, backfill: str) -> BackfillProgress:
        return backfill_progress(found_backfill(backfill, self._ports), self._ports)

    def backfill_dates(
        self, backfill: str, query: BackfillDatesQuery = BackfillDatesQuery()
    ) -> Page[BackfillDate]:
        after = place_at(query.cursor, str)
        found = found_backfill(backfill, self._ports)
        dates = backfill_dates(found, query.state, after, query.limit + 1, self._ports)
        return page_of(dates, query.limit, lambda date: date.date)

    # --- what a command would do

    def backfill(self, pipeline: str, query: BackfillQuery) -> Page[str]:
        config = self.config(pipeline)
        schedule = chosen_schedule(config, query.schedule)
        return Page(plan_backfill(config, schedule, query.since, query.until, self._ports))

    def foresee_reading(self, pipeline: str, wanted: ForeseeReading) -> ForeseenReading:
        config, now = self.config(pipeline), self._ports.clock()
        reading = admissible_reading(pipeline, wanted.key, wanted.fields, config, now)
        return ForeseenReading(
            led_to=in_words(foresee_reading(reading, self._ports)),
            doubts=tuple(reading_doubts(config.pipeline, wanted.key, wanted.fields)),
        )

    def foresee_dates(self, pipeline: str, wanted: NewDates) -> Page[DateAnswer]:
        orders = ordered_dates(self.config(pipeline), wanted, self._ports)
        return Page([foreseen_date(each, wanted, self._ports) for each in orders])

    def would_resume(self, pipeline: str) -> Page[Foreseen]:
        return Page(foresee_resume(pipeline, self._ports))

    def prunable(self, query: PruneQuery) -> Prunable:
        day = label_of(query.before).day.isoformat()
        return Prunable(state_file(self._file).retention.prunable(day))

    # --- upkeep

    def parked(self) -> Page[Parked]:
        return Page(state_file(self._file).changes.parked())

    def audit(self, query: AuditQuery = AuditQuery()) -> Page[AuditEntry]:
        if self._file is None:
            raise NotFoundError(
                "this backend keeps no audit log: on AWS, CloudTrail records who called what"
            )
        wanted = AuditFilter(
            actor=query.actor,
            action=query.action,
            pipeline_id=query.pipeline,
            since=query.since,
            until=query.until,
        )
        before = place_at(query.cursor, int)
        found = self._file.audit.newest(query.limit + 1, wanted, before)
        return page_of(found, query.limit, lambda entry: entry.seq)

    def tokens(self) -> Page[TokenShown]:
        return Page([shown(token) for token in state_file(self._file).tokens.all()])

    def _configs(self, query: Paging) -> Page[Config]:
        configs = self._ports.pipelines.in_force()
        return _behind(configs, query, [config.pipeline.id for config in configs])

    def _is_wanted(self, pipeline: str) -> bool:
        wanted = self._ports.pipelines.wanted(pipeline)
        return wanted is None or wanted.config is not None


def state_file(file: StateFile | None) -> StateFile:
    """Raises ConfigError for a backend without one."""
    if file is None:
        raise ConfigError("this backend has no state file to maintain")
    return file


def _behind(found: Sequence[T], query: Paging, names: Sequence[str]) -> Page[T]:
    """The page after the cursor, of a list ordered by name."""
    after = place_at(query.cursor, str)
    named = [pair for pair in zip(names, found, strict=True) if after is None or pair[0] > after]
    page = page_of(named[: query.limit + 1], query.limit, lambda pair: pair[0])
    return Page([each for _, each in page.items], page.next)


def _check_range(query: RangeQuery) -> None:
    if not query.since <= query.until <= query.since + LONGEST_RANGE:
        raise ConfigError(
            f"from must not be after to, and at most {LONGEST_RANGE.days} days before it"
        )
