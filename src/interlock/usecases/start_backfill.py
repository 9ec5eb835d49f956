"""Start a backfill: store it with its dates, and begin the first of them."""

import msgspec

from interlock.domain.backfill import FINISHED, Backfill, backfill_id
from interlock.domain.backfill_events import started
from interlock.errors import ConfigError, ConflictError
from interlock.usecases.advance_backfill import advance_backfill, publish
from interlock.usecases.plan_backfill import plan_backfill
from interlock.usecases.ports import Ports
from interlock.usecases.request_rerun import chosen_schedule
from interlock.usecases.unknown_pipeline import unknown_pipeline


class BackfillOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Which dates to run, how many at once, who asks and why; without a schedule, the only one."""

    pipeline_id: str
    first: str
    last: str
    schedule_id: str | None = None
    max_concurrent: int = 2
    requested_by: str = ""
    reason: str


def start_backfill(order: BackfillOrder, ports: Ports) -> Backfill:
    """The backfill as it stands. Raises ConfigError for a range that is not accepted or has nothing to run,
    ConflictError while another backfill of the schedule has dates of it.
    """
    config = ports.pipelines.find(order.pipeline_id)
    if config is None or config.is_retired:
        raise unknown_pipeline(order.pipeline_id, ports)
    schedule = chosen_schedule(config, order.schedule_id)
    dates = plan_backfill(config, schedule, order.first, order.last, ports)
    if not dates:
        raise ConfigError(
            f"nothing to run: every date from {order.first} to {order.last} has completed,"
            " or the schedule expects none"
        )
    _check_free(order.pipeline_id, schedule.id, dates, ports)
    now = ports.clock()
    backfill = Backfill(
        id=backfill_id(order.pipeline_id, schedule.id, (order.first, order.last), now),
        pipeline_id=order.pipeline_id,
        schedule_id=schedule.id,
        first=order.first,
        last=order.last,
        dates=tuple(dates),
        max_concurrent=order.max_concurrent,
        requested_at=now,
        requested_by=order.requested_by,
        reason=order.reason,
        changed_at=now,
    )
    event = started(backfill, config)
    ports.backfills.save(backfill, [event])  # if it is there already, this is a repeat
    publish([event], ports)
    return advance_backfill(backfill.id, ports) or backfill


def _check_free(pipeline_id: str, schedule_id: str, dates: list[str], ports: Ports) -> None:
    """Two backfills of one date would each wait for the other's run of it."""
    wanted = set(dates)
    for other in ports.backfills.newest(_SEARCHED, pipeline_id=pipeline_id):
        if other.state in FINISHED or other.schedule_id != schedule_id:
            continue
        both = sorted(wanted & {*other.waiting, *other.begun})
        if both:
            raise ConflictError(
                f"the backfill {other.id} already has {both[0]}"
                f"{f' and {len(both) - 1} more' if len(both) > 1 else ''}:"
                " wait for it, resume it or cancel it"
            )


#: How many of a pipeline's newest backfills are compared.
_SEARCHED = 100
