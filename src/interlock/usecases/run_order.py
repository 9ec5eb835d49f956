"""Run order: what an operator wants of the run of a date, and why; and the run that it is about."""

import msgspec

from interlock.domain.config import Config
from interlock.domain.partition import Label
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.schedule import is_expected
from interlock.errors import ConfigError, ConflictError
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports
from interlock.usecases.unknown_pipeline import unknown_pipeline


class RunOrder(msgspec.Struct, frozen=True):
    """Which run, who asks, and why."""

    key: RunKey
    by: str
    reason: str

    @property
    def name(self) -> str:
        """As messages name the run."""
        return f"{self.key.pipeline_id} {self.key.date}"


class OrderedRun(msgspec.Struct, frozen=True):
    """The run that an order is about, under the key of the present file; None if its date has none."""

    config: Config
    key: RunKey
    run: Run | None


def ordered_run(key: RunKey, ports: Ports) -> OrderedRun:
    """Raises NotFoundError for a pipeline that is not in force, and ConfigError for an unknown schedule."""
    config = ports.pipelines.find(key.pipeline_id)
    if config is None or config.is_retired:
        raise unknown_pipeline(key.pipeline_id, ports)
    pipeline = config.pipeline
    if not pipeline.has_schedule(key.schedule_id):
        names = ", ".join(schedule.id for schedule in pipeline.schedules)
        raise ConfigError(f"{pipeline.id} has no schedule {key.schedule_id}; it has {names}")
    present = pipeline.present_id(key.schedule_id)
    key = msgspec.structs.replace(key, schedule_id=present, dry=pipeline.dry_run)
    return OrderedRun(config, key, find_runs([key], pipeline, ports).get(key))


def check_readable(order: RunOrder, run: Run | None) -> None:
    """Raises ConflictError for a row that can't be read: nothing is known about its date."""
    if run is not None and run.status is Status.UNREADABLE:
        problem = "its stored row can't be read: `interlock doctor` names the remedy"
        raise ConflictError(f"{order.name}: {problem}")


def objection_to_date(key: RunKey, config: Config) -> str | None:
    """Why a date without a run can't have one: its schedule does not know it."""
    pipeline, label = config.pipeline, Label.parse(key.date)
    if is_expected(pipeline.schedule(key.schedule_id), pipeline.calendars, label):
        return None
    return f"{key.date} is not a date of its schedule {key.schedule_id}: no run is expected"
