"""Fire a timer: its time has come; do what it was armed for."""

import logging
from collections.abc import Mapping
from typing import Any

from interlock.domain.partition import Label
from interlock.domain.run import DeadlineKind, RunKey
from interlock.domain.timer import TimerKind
from interlock.errors import UnreadableError
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.fire_deadline import fire_deadline
from interlock.usecases.judge_post_run import judge_again
from interlock.usecases.ports import Ports
from interlock.usecases.retry_job import retry_job

log = logging.getLogger(__name__)


def fire_timer(kind: str, payload: Mapping[str, Any], ports: Ports) -> None:
    """Every effect re-reads what it decides from, so firing late or twice is harmless. A timer that needs
    an unreadable row is left to the watchdog, which acts once the row is readable.
    """
    try:
        _fire(kind, payload, ports)
    except UnreadableError as error:
        extra = {"action": "timer_waits", "timer": kind}
        log.warning("a timer waits for an unreadable row: %s", error, extra=extra)


def check_timer(kind: str, payload: Mapping[str, Any]) -> None:
    """Raises ValueError for a timer that this version can't fire."""
    if kind not in _KINDS:
        raise ValueError(f"unknown timer kind {kind}")
    named = ("pipelineId", "scheduleId") if kind == TimerKind.CRON else _OF_A_DATE
    missing = [name for name in named if not isinstance(payload.get(name), str)]
    if kind == TimerKind.RETRY and not isinstance(payload.get("attempt"), int):
        missing.append("attempt")
    if missing:
        raise ValueError(f"a timer of the kind {kind} needs {', '.join(missing)}")
    if kind != TimerKind.CRON:
        Label.parse(payload["date"])


_KINDS = frozenset({*TimerKind, *DeadlineKind})
_OF_A_DATE = ("pipelineId", "scheduleId", "date")


def _fire(kind: str, payload: Mapping[str, Any], ports: Ports) -> None:
    pipeline_id, schedule_id = payload["pipelineId"], payload["scheduleId"]
    dry = bool(payload.get("dry"))
    if kind == TimerKind.CRON:
        fire_cron(pipeline_id, schedule_id, ports)
    elif kind == TimerKind.RETRY:
        key = RunKey(pipeline_id, schedule_id, payload["date"], dry=dry)
        retry_job(key, int(payload["attempt"]), ports)
    elif kind == TimerKind.POST_RUN:
        key = RunKey(pipeline_id, schedule_id, payload["date"])
        judge_again(key, int(payload["attempt"]), ports)
    else:
        key = RunKey(pipeline_id, schedule_id, payload["date"])
        fire_deadline(key, DeadlineKind(kind), ports)
