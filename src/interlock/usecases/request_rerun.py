"""Request a rerun: ask for one date to run again."""

import msgspec

from interlock.domain.config import Config
from interlock.domain.horizon import last_believed
from interlock.domain.partition import Label
from interlock.domain.pipeline import Schedule
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey
from interlock.errors import ConfigError
from interlock.usecases.ports import Ports
from interlock.usecases.unknown_pipeline import unknown_pipeline


class RerunOrder(msgspec.Struct, frozen=True):
    """What to run again, and why; without a schedule, the pipeline must have only one."""

    pipeline_id: str
    date: str
    schedule_id: str | None = None
    reason: str = "manual"
    force: bool = False
    requested_by: str = ""
    over_budget: bool = False


def request_rerun(order: RerunOrder, ports: Ports) -> RerunRequest:
    """Store the request; its change record leads to the decision."""
    pipeline_id = order.pipeline_id
    config = ports.pipelines.find(pipeline_id)
    if config is None or config.is_retired:
        raise unknown_pipeline(pipeline_id, ports)
    schedule = chosen_schedule(config, order.schedule_id)
    try:
        label = Label.parse(order.date)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    now = ports.clock()
    last = last_believed(schedule, config.pipeline.calendars, label, now)
    if last is not None:
        raise ConfigError(
            f"{label} is too far ahead: {last} is the last date that may run now;"
            " set schedule.horizon to allow later ones"
        )
    request = RerunRequest(
        key=RunKey(pipeline_id, schedule.id, str(label)),
        reason=order.reason,
        requested_at=now,
        requested_by=order.requested_by,
        force=order.force,
        over_budget=order.over_budget,
    )
    ports.reruns.request(request)
    return request


def chosen_schedule(config: Config, schedule_id: str | None) -> Schedule:
    """The named schedule, or the only one."""
    schedules = config.pipeline.schedules
    if schedule_id is None and len(schedules) == 1:
        return schedules[0]
    names = ", ".join(schedule.id for schedule in schedules)
    for schedule in schedules:
        if schedule.id == schedule_id:
            return schedule
    raise ConfigError(f"choose one of the schedules {names}")
