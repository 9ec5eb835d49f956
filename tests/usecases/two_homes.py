"""Two homes: a controller over SQLite and one over DynamoDB, for what must hold in both of them alike."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from aws.functions import function_home
from aws.homes import NAMES, Services, quick_services
from contracts.hostile import Spoil, spoiler_of_file, spoiler_of_tables
from declared import document
from interlock.adapters.aws.store import Store as AwsStore
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.sqlite.store import Store
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.domain.event import Event
from interlock.domain.sensor import Reading
from interlock.files import load_text
from interlock.ports.jobs import Jobs
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.conclude_pass import PassReport
from interlock.usecases.ports import Ports
from interlock.usecases.watch import watch
from interlock.wiring.aws_settings import Function
from usecases.home import CADENCE, KEY, NOW, Home


@dataclass
class Stage:
    """One of them. `spoil` makes rows hostile, `delete` is what an operator does about a run's row."""

    clock: VirtualClock
    ports: Ports
    spoil: Spoil
    delete: Callable[[], None]
    told: Callable[[], Sequence[Event]]
    launches: Callable[[], int]
    #: As another process sees the same state.
    fresh: Callable[[], Ports]

    def adopt(self, text: str = "") -> None:
        pipeline = load_text(document(text), year=2026).pipeline
        assert pipeline is not None
        config = canonical.as_json(pipeline)
        hashed = canonical.content_hash(config)
        self.ports.pipelines.want(Wanted(pipeline.id, config, hashed, self.clock()))
        assert adopt_config(pipeline.id, self.ports) is not None

    def reading(self, key: str = "orders", **fields: Any) -> Reading:
        fields = {"date": KEY.date, **fields}
        reading = Reading(KEY.pipeline_id, key, fields, self.clock())
        self.ports.sensors.put(reading)
        return reading

    def look(self, ports: Ports | None = None, **span: float) -> PassReport:
        """Time passes, and the watchdog makes a pass."""
        self.clock.now += timedelta(**(span or {"minutes": 5}))
        report = watch(CADENCE, ports or self.fresh())
        assert report is not None
        return report

    def types(self) -> list[str]:
        """What was told of dates and rows: neither of files, nor of the watchdog itself."""
        own = ("CONFIG_ADOPTED", "WATCHDOG_RECOVERED")
        return [event.type for event in self.told() if event.type not in own]


def local_stage() -> Stage:
    home = Home()

    def delete() -> None:
        home.database.write(lambda connection: connection.execute("DELETE FROM runs"))

    def fresh() -> Ports:
        store = Store(home.database, home.clock)
        return replace(
            home.ports,
            pipelines=store.pipelines,
            sensors=store.sensors,
            runs=store.runs,
            claims=store.claims,
            watch=store.watch,
        )

    return Stage(
        clock=home.clock,
        ports=home.ports,
        spoil=spoiler_of_file(home.database),
        delete=delete,
        told=home.events,
        launches=lambda: len(home.jobs.launches),
        fresh=fresh,
    )


def aws_stage() -> Stage:
    clock = VirtualClock(NOW)
    services = quick_services(clock)
    scripted = ScriptedJobs({}, clock)
    jobs: Jobs = JobsByPipeline(scripted)
    home = function_home(Function.WATCHDOG, services, clock, jobs)

    def delete() -> None:
        gone = {"removedAt": {"S": "2026-03-03T00:00:00Z"}}  # the stand-in deletes nothing
        place = {"PK": {"S": f"PIPELINE#{KEY.pipeline_id}"}}
        row = {"SK": {"S": f"TRIGGER#{KEY.schedule_id}#{KEY.date}"}, **place, **gone}
        services.tables.put_item(TableName=NAMES.control, Item=row)

    return Stage(
        clock=clock,
        ports=home.ports,
        spoil=spoiler_of_tables(services.tables, asdict(NAMES), home.store.notes.forget),
        delete=delete,
        told=lambda: _told(services, clock),
        launches=lambda: len(scripted.launches),
        fresh=lambda: function_home(Function.WATCHDOG, services, clock, jobs).ports,
    )


def _told(services: Services, clock: VirtualClock) -> list[Event]:
    log = AwsStore(services.tables, NAMES, clock).event_log
    return list(reversed(log.newest(limit=1000)))


STAGES = {"sqlite": local_stage, "dynamodb": aws_stage}
