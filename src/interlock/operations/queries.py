"""Queries: everything that can be asked of a backend. No query changes anything.

Each question is declared here once. A backend answers it (`StoreQueries`), the HTTP API offers it
(`endpoints.py`), and the command line asks it in the same way of a file, a server or AWS.
"""

from typing import Protocol

from interlock.domain.callers import AuditEntry
from interlock.domain.change import Parked
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.edits import FileEdit
from interlock.domain.event import Event
from interlock.domain.missing import Missing
from interlock.domain.run import Run
from interlock.domain.sensor import Reading
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
)
from interlock.operations.results import DateAnswer, ForeseenReading, Prunable, RunHistory
from interlock.operations.tokens import TokenShown
from interlock.queries.alert_overview import AlertOverview, OpenAlert
from interlock.queries.alerted import Alerted
from interlock.queries.attainment import Attainment
from interlock.queries.backfill_progress import BackfillDate, BackfillProgress
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.paging import Page
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.run_output import RunOutput
from interlock.queries.search import Found
from interlock.queries.timeline import TimelineRow
from interlock.queries.why import Why
from interlock.usecases.pause import Foreseen


class Queries(Protocol):
    """Answers are at most a moment old. An unknown pipeline, run or token raises NotFoundError, a
    malformed date or range ConfigError.
    """

    def readings(self, pipeline: str, query: Paging = Paging()) -> Page[Reading]:
        """The readings of a pipeline."""
        ...

    def pipelines(self, query: Paging = Paging()) -> Page[PipelineState]:
        """Every pipeline at a glance."""
        ...

    def pipeline(self, pipeline: str) -> PipelineState:
        """One pipeline at a glance."""
        ...

    def config(self, pipeline: str) -> Config:
        """The config in force."""
        ...

    def why(self, pipeline: str, query: OnDate = OnDate()) -> Page[Why]:
        """Why a date has or hasn't run, for each schedule."""
        ...

    def runs(self, query: RunsQuery = RunsQuery()) -> Page[Run]:
        """Runs, the newest dates first."""
        ...

    def run(self, pipeline: str, schedule: str, date: str) -> RunHistory:
        """One run and its history."""
        ...

    def output(
        self, pipeline: str, schedule: str, date: str, query: OutputQuery = OutputQuery()
    ) -> RunOutput:
        """What the job of a run printed, as far as it is kept, or where its platform shows that."""
        ...

    def events(self, query: EventsQuery = EventsQuery()) -> Page[Event]:
        """The event log, newest first."""
        ...

    def alerts(self, query: EventsQuery = EventsQuery()) -> Page[Alerted]:
        """The event log, newest first, each event with the sinks that got it as an alert."""
        ...

    def alerting(self) -> AlertOverview:
        """The routes, mutes and sinks in force, and the alerts that are open."""
        ...

    def alert(self, pipeline: str, schedule: str, date: str) -> OpenAlert:
        """The open alerts of a date, and what people did about them."""
        ...

    def search(self, query: SearchQuery) -> Page[Found]:
        """Pipelines, runs, reading keys and event types that match, the best of each first."""
        ...

    def timeline(self, query: RangeQuery) -> Page[TimelineRow]:
        """By pipeline: the dates on which there is a run, or one is expected."""
        ...

    def sla(self, query: RangeQuery) -> Page[Attainment]:
        """By pipeline: how well its deadlines are met."""
        ...

    def watchdog(self) -> Heartbeat:
        """The state of the watchdog."""
        ...

    def refused(self) -> Page[RefusedConfig]:
        """The files, or stored configs, that were refused: where, and why."""
        ...

    def missing(self) -> Page[Missing]:
        """The pipelines in force whose files are missing, and when they are retired."""
        ...

    def foresee(self, files: NewFiles) -> Page[FileEdit]:
        """What files would change if they were adopted now; changes nothing."""
        ...

    def backfill(self, pipeline: str, query: BackfillQuery) -> Page[str]:
        """The dates of a range that have no completed run and are not skipped."""
        ...

    def foresee_reading(self, pipeline: str, wanted: ForeseeReading) -> ForeseenReading:
        """What a reading would lead to if it were put now; stores nothing."""
        ...

    def foresee_dates(self, pipeline: str, wanted: NewDates) -> Page[DateAnswer]:
        """What a request about many dates would do: each date has its own answer; changes nothing."""
        ...

    def backfills(self, query: BackfillsQuery = BackfillsQuery()) -> Page[BackfillProgress]:
        """Backfills, newest first, and how far each has come."""
        ...

    def backfill_progress(self, backfill: str) -> BackfillProgress:
        """How far one backfill has come."""
        ...

    def backfill_dates(
        self, backfill: str, query: BackfillDatesQuery = BackfillDatesQuery()
    ) -> Page[BackfillDate]:
        """The dates of a backfill and what each is doing, oldest first."""
        ...

    def would_resume(self, pipeline: str) -> Page[Foreseen]:
        """What a resume would start now."""
        ...

    def prunable(self, query: PruneQuery) -> Prunable:
        """How many finished runs there are of dates before a day."""
        ...

    def parked(self) -> Page[Parked]:
        """The changes that could not be handled."""
        ...

    def audit(self, query: AuditQuery = AuditQuery()) -> Page[AuditEntry]:
        """Who asked for what and why, newest first, and what came of it."""
        ...

    def tokens(self) -> Page[TokenShown]:
        """The tokens."""
        ...
