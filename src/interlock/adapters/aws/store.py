"""Store: every AWS adapter of the four tables, over one client and one clock."""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from interlock.adapters.aws.backfills import DynamoBackfills
from interlock.adapters.aws.claims import DynamoClaims
from interlock.adapters.aws.events import EventLog
from interlock.adapters.aws.job_log import DynamoJobLog
from interlock.adapters.aws.keys import active_key
from interlock.adapters.aws.outbox import DynamoOutbox
from interlock.adapters.aws.pipelines import DynamoPipelines
from interlock.adapters.aws.reruns import DynamoReruns
from interlock.adapters.aws.row_cache import Notes
from interlock.adapters.aws.runs import DynamoRuns
from interlock.adapters.aws.sensors import DynamoSensors
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.watch import DynamoWatch
from interlock.adapters.unreadable_rows import MetRows
from interlock.domain.admission import run_keys
from interlock.domain.sensor import Reading
from interlock.ports.engine import Clock

if TYPE_CHECKING:  # a function imports only what it needs, and starts sooner
    from interlock.adapters.aws.alert_routes import DynamoAlertRoutes
    from interlock.adapters.aws.deliveries import DynamoDeliveries
    from interlock.adapters.aws.disabled_sinks import DynamoSwitches
    from interlock.adapters.aws.handlings import DynamoHandlings
    from interlock.adapters.aws.history import DynamoHistory
    from interlock.adapters.aws.parallel_reads import Fan
    from interlock.adapters.aws.rate_limits import DynamoPaces
    from interlock.adapters.aws.threads import DynamoThreads

EVENTS_KEPT = timedelta(days=90)


@dataclass(frozen=True)
class TableNames:
    """The four tables of one installation."""

    control: str
    joblog: str
    rerun: str
    events: str


@dataclass
class Store:
    """Caches nothing beyond one piece of work, except configs for the configured time."""

    client: Any
    names: TableNames
    clock: Clock
    configs_kept_for: timedelta = timedelta(0)
    events_kept_for: timedelta = EVENTS_KEPT
    notes: Notes = field(default_factory=Notes)
    pipelines: DynamoPipelines = field(init=False)
    sensors: DynamoSensors = field(init=False)
    runs: DynamoRuns = field(init=False)
    job_log: DynamoJobLog = field(init=False)
    reruns: DynamoReruns = field(init=False)
    backfills: DynamoBackfills = field(init=False)
    event_log: EventLog = field(init=False)
    outbox: DynamoOutbox = field(init=False)
    claims: DynamoClaims = field(init=False)
    watch: DynamoWatch = field(init=False)
    unreadable: MetRows = field(init=False)

    def __post_init__(self) -> None:
        client, names, clock, notes = self.client, self.names, self.clock, self.notes
        self.unreadable = met = MetRows()
        control, rerun = Table(client, names.control, met), Table(client, names.rerun, met)
        self.pipelines = DynamoPipelines(control, notes, clock, self.configs_kept_for)
        self.sensors = DynamoSensors(control, notes, clock)
        self.runs = DynamoRuns(control, rerun, notes, clock)
        self.job_log = DynamoJobLog(Table(client, names.joblog, met))
        self.reruns = DynamoReruns(control, rerun, clock)
        self.backfills = DynamoBackfills(control, clock)
        self._events = Table(client, names.events, met)
        self.event_log = EventLog(self._events, self.events_kept_for, clock)
        self.outbox = DynamoOutbox(control, notes)
        self.claims = DynamoClaims(control, notes, clock)
        self.watch = DynamoWatch(control)

    def foresee(self, reading: Reading) -> None:
        """A reading is about to be admitted: read its config and its runs in one request, if the cached
        config tells which runs those are. If the config has changed since, the new one counts, and its
        runs are read separately.
        """
        before = self.pipelines.read_before(reading.pipeline_id)
        if before is None or not self.configs_kept_for:
            return
        place = active_key(reading.pipeline_id)
        runs = run_keys(before.pipeline, reading)
        self.pipelines.read_again(self.runs.find_with(place, runs))

    # --- what only people and the dispatcher query

    @cached_property
    def fan(self) -> "Fan":
        from interlock.adapters.aws.parallel_reads import Fan

        return Fan()

    @cached_property
    def deliveries(self) -> "DynamoDeliveries":
        from interlock.adapters.aws.deliveries import DynamoDeliveries

        return DynamoDeliveries(self._events, self.clock, fan=self.fan)

    @cached_property
    def threads(self) -> "DynamoThreads":
        from interlock.adapters.aws.threads import DynamoThreads

        return DynamoThreads(self._events, self.fan)

    @cached_property
    def handlings(self) -> "DynamoHandlings":
        from interlock.adapters.aws.handlings import DynamoHandlings

        control = Table(self.client, self.names.control, self.unreadable)
        return DynamoHandlings(self._events, control)

    @cached_property
    def paces(self) -> "DynamoPaces":
        from interlock.adapters.aws.rate_limits import DynamoPaces

        return DynamoPaces(self._events)

    @cached_property
    def switches(self) -> "DynamoSwitches":
        from interlock.adapters.aws.disabled_sinks import DynamoSwitches

        return DynamoSwitches(self._events)

    @cached_property
    def alert_routes(self) -> "DynamoAlertRoutes":
        from interlock.adapters.aws.alert_routes import DynamoAlertRoutes

        return DynamoAlertRoutes(self._events)

    @cached_property
    def history(self) -> "DynamoHistory":
        from interlock.adapters.aws.history import DynamoHistory

        return DynamoHistory(self.runs, self.event_log, self.fan, self.runs.active)
