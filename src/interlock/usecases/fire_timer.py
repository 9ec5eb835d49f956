"""Fire a timer: its moment has come; do what it was armed for."""

from collections.abc import Mapping
from typing import Any

from interlock.domain.run import DeadlineKind, RunKey
from interlock.ports import Ports, TimerKind
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.retry_job import retry_job


def fire_timer(kind: str, payload: Mapping[str, Any], ports: Ports) -> None:
    """Every effect re-reads what it decides from, so firing late or twice is harmless."""
    pipeline_id, schedule_id = payload["pipelineId"], payload["scheduleId"]
    dry = bool(payload.get("dry"))
    if kind == TimerKind.CRON:
        fire_cron(pipeline_id, schedule_id, ports)
    elif kind == TimerKind.RETRY:
        key = RunKey(pipeline_id, schedule_id, payload["date"], dry=dry)
        retry_job(key, int(payload["attempt"]), ports)
    else:
        key = RunKey(pipeline_id, schedule_id, payload["date"])
        fire_deadline(key, DeadlineKind(kind), ports)
