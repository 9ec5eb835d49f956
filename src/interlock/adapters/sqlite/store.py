"""Store: every local adapter, over one database and one clock."""

from dataclasses import dataclass, field

from interlock.adapters.sqlite.agenda import SqliteAgenda
from interlock.adapters.sqlite.alert_routes import SqliteAlertRoutes
from interlock.adapters.sqlite.audit import SqliteAudit, SqliteTokens
from interlock.adapters.sqlite.backfills import SqliteBackfills
from interlock.adapters.sqlite.changes import SqliteChanges
from interlock.adapters.sqlite.claims import SqliteClaims
from interlock.adapters.sqlite.clock_trail import SqliteClockTrail
from interlock.adapters.sqlite.cursors import SqliteCursors
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.deliveries import SqliteDeliveries
from interlock.adapters.sqlite.disabled_sinks import SqliteSwitches
from interlock.adapters.sqlite.events import SqliteEvents
from interlock.adapters.sqlite.figures import SqliteFigures
from interlock.adapters.sqlite.file_notes import SqliteFileNotes, missing_files, refused_files
from interlock.adapters.sqlite.handlings import SqliteHandlings
from interlock.adapters.sqlite.history import SqliteHistory
from interlock.adapters.sqlite.job_log import SqliteJobLog
from interlock.adapters.sqlite.outbox import SqliteOutbox
from interlock.adapters.sqlite.pipelines import SqlitePipelines
from interlock.adapters.sqlite.rate_limits import SqlitePaces
from interlock.adapters.sqlite.reruns import SqliteReruns
from interlock.adapters.sqlite.retention import SqliteRetention
from interlock.adapters.sqlite.runs import SqliteRuns
from interlock.adapters.sqlite.sensors import SqliteSensors
from interlock.adapters.sqlite.threads import SqliteThreads
from interlock.adapters.sqlite.timers import SqliteTimers
from interlock.adapters.sqlite.watch import SqliteWatch
from interlock.adapters.sqlite.workflows import SqliteWorkflows
from interlock.adapters.unreadable_rows import MetRows
from interlock.domain.config import RefusedConfig
from interlock.domain.missing import Missing
from interlock.ports.engine import Clock


@dataclass
class Store:
    """Keeps no state outside the database: a new store continues where the last one ended."""

    database: Database
    clock: Clock
    pipelines: SqlitePipelines = field(init=False)
    sensors: SqliteSensors = field(init=False)
    runs: SqliteRuns = field(init=False)
    job_log: SqliteJobLog = field(init=False)
    reruns: SqliteReruns = field(init=False)
    backfills: SqliteBackfills = field(init=False)
    events: SqliteEvents = field(init=False)
    outbox: SqliteOutbox = field(init=False)
    claims: SqliteClaims = field(init=False)
    timers: SqliteTimers = field(init=False)
    workflows: SqliteWorkflows = field(init=False)
    watch: SqliteWatch = field(init=False)
    changes: SqliteChanges = field(init=False)
    clock_trail: SqliteClockTrail = field(init=False)
    cursors: SqliteCursors = field(init=False)
    deliveries: SqliteDeliveries = field(init=False)
    threads: SqliteThreads = field(init=False)
    handlings: SqliteHandlings = field(init=False)
    paces: SqlitePaces = field(init=False)
    switches: SqliteSwitches = field(init=False)
    alert_routes: SqliteAlertRoutes = field(init=False)
    refused_files: SqliteFileNotes[RefusedConfig] = field(init=False)
    missing_files: SqliteFileNotes[Missing] = field(init=False)
    tokens: SqliteTokens = field(init=False)
    audit: SqliteAudit = field(init=False)
    retention: SqliteRetention = field(init=False)
    figures: SqliteFigures = field(init=False)
    agenda: SqliteAgenda = field(init=False)
    history: SqliteHistory = field(init=False)
    unreadable: MetRows = field(init=False)

    def __post_init__(self) -> None:
        database, clock = self.database, self.clock
        self.pipelines = SqlitePipelines(database, clock)
        self.sensors = SqliteSensors(database, clock)
        self.runs = SqliteRuns(database, clock)
        self.job_log = SqliteJobLog(database)
        self.reruns = SqliteReruns(database)
        self.backfills = SqliteBackfills(database, clock)
        self.events = SqliteEvents(database)
        self.outbox = SqliteOutbox(database)
        self.claims = SqliteClaims(database, clock)
        self.timers = SqliteTimers(database, clock)
        self.workflows = SqliteWorkflows(database, clock)
        self.watch = SqliteWatch(database)
        self.changes = SqliteChanges(database)
        self.clock_trail = SqliteClockTrail(database)
        self.cursors = SqliteCursors(database)
        self.deliveries = SqliteDeliveries(database)
        self.threads = SqliteThreads(database)
        self.handlings = SqliteHandlings(database)
        self.paces = SqlitePaces(database)
        self.switches = SqliteSwitches(database)
        self.alert_routes = SqliteAlertRoutes(database)
        self.refused_files = refused_files(database)
        self.missing_files = missing_files(database)
        self.tokens = SqliteTokens(database)
        self.audit = SqliteAudit(database)
        self.retention = SqliteRetention(database)
        self.figures = SqliteFigures(database)
        self.agenda = SqliteAgenda(database, self.workflows.held)
        self.history = SqliteHistory(database, clock)
        self.unreadable = database.unreadable
