"""Days: a timeline by day. The hours of a day share a cell, which shows the worst of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from interlock.domain.calendars import expects
from interlock.domain.config import Config
from interlock.domain.history import Tally
from interlock.domain.partition import Label, starts_at
from interlock.domain.pipeline import Schedule
from interlock.domain.run import RunKey
from interlock.domain.schedule import cron_moments, sensor_driven
from interlock.domain.zones import zone
from interlock.queries.timeline import expected_dates
from interlock.web.pages.grid import WIDTH, GridRow, Slot
from interlock.web.pages.status_badge import IS_EXPECTED, IS_MISSING, standing

_DAY = timedelta(days=1)
_HOURS = 24

#: A day for which it is too early to say whether runs are missing.
AHEAD = -1


def day_rows(
    config: Config, tallies: Sequence[Tally], days: Sequence[date], now: datetime
) -> list[GridRow]:
    """A row per schedule, a slot per day."""
    pipeline = config.pipeline
    found = defaultdict[tuple[str, str], list[Tally]](list)
    for tally in tallies:
        found[pipeline.present_id(tally.newest.schedule_id), tally.day].append(tally)
    rows = []
    for schedule in pipeline.schedules:
        expected = _expected(config, schedule, days, now)
        name = schedule.id if len(pipeline.schedules) > 1 else None
        slots = [
            _slot(
                RunKey(pipeline.id, schedule.id, day.isoformat()),
                found[schedule.id, day.isoformat()],
                expected.get(day, 0),
                _now_on(day, now, schedule),
            )
            for day in days
        ]
        rows.append(GridRow(pipeline.id, name, slots))
    return rows


def _slot(key: RunKey, tallies: Sequence[Tally], expected: int, now: int | None) -> Slot:
    runs = sum(tally.count for tally in tallies)
    if not runs:
        return _empty_slot(key, expected, now)
    absent = max(0, expected - runs)
    by_rank = sorted(
        ((standing(each.status, each.sla_verdict, each.retrying), each) for each in tallies),
        key=lambda pair: pair[0].rank,
    )
    worst, newest = by_rank[0][0], by_rank[0][1].newest
    alike = sum(each.count for shown, each in by_rank if shown is worst)
    if absent and worst.rank > IS_MISSING.rank:
        worst, alike = IS_MISSING, absent
    words = ", ".join(f"{each.count} {shown.word}" for shown, each in by_rank)
    words += f", {absent} without a run" if absent else ""
    title = f"{key.pipeline_id} {key.date}: {words if runs + absent > 1 else worst.word}"
    return Slot(
        columns=1,
        standing=worst,
        count=runs + absent,
        alike=alike,
        key=newest,
        title=title,
        now=now,
    )


def _empty_slot(key: RunKey, expected: int, now: int | None) -> Slot:
    if expected == 0:
        return Slot(columns=1, now=now)
    shown = IS_EXPECTED if expected == AHEAD else IS_MISSING
    title = f"{key.pipeline_id} {key.date}: {shown.word}"
    return Slot(columns=1, standing=shown, key=key, title=title, now=now)


def _expected(
    config: Config, schedule: Schedule, days: Sequence[date], now: datetime
) -> Mapping[date, int]:
    """How many runs each day should have by now; AHEAD for a day that is yet to come."""
    usual = _usual(config, schedule)
    return {day: _expected_on(day, config, schedule, usual, now) for day in days}


def _expected_on(
    day: date, config: Config, schedule: Schedule, usual: int | None, now: datetime
) -> int:
    where = zone(schedule.timezone)
    start, end = starts_at(Label(day), where), starts_at(Label(day + _DAY), where)
    since = config.standing(schedule.id).since
    if end <= since or not expects(schedule, config.pipeline.calendars, day):
        return 0
    if start > now:
        return AHEAD if usual else 0
    over = end + timedelta(days=schedule.offset + 1)
    plain = end - start == _DAY and since <= start and over <= now
    if usual is not None and plain:
        return usual
    return _exactly(day, config, schedule, max(start, since), now)


def _exactly(day: date, config: Config, schedule: Schedule, since: datetime, now: datetime) -> int:
    """A deadline may fall days after its date: look that far, and count by the date."""
    until = starts_at(Label(day + _DAY), zone(schedule.timezone))
    if schedule.cron is None:
        until += timedelta(days=schedule.offset + 1)
    dates = expected_dates(config.pipeline, schedule, since, min(until, now))
    return len({label for label, _ in dates if label.startswith(day.isoformat())})


def _usual(config: Config, schedule: Schedule) -> int | None:
    """How many dates a plain day has, where that is the same every day; None where it is not."""
    if schedule.cron is not None:
        every_day = schedule.cron.split()[2:] == ["*", "*", "*"]
        return _fires(schedule.cron, schedule.timezone) if every_day else None
    if not sensor_driven(schedule):
        return None
    bounds = (schedule.trigger, config.pipeline.sla)
    due = next((each.deadline for each in bounds if each and each.deadline), None)
    return 0 if due is None else _HOURS if due.startswith(":") else 1


@lru_cache(maxsize=4096)
def _fires(cron: str, zone_name: str) -> int:
    """How often a cron that fires every day does so, on a day of 24 hours."""
    start = starts_at(Label(date(2026, 1, 14)), zone(zone_name))
    return sum(1 for _ in cron_moments(cron, zone_name, start, start + _DAY))


def _now_on(day: date, now: datetime, schedule: Schedule) -> int | None:
    local = now.astimezone(zone(schedule.timezone))
    if local.date() != day:
        return None
    return round((local.hour * 60 + local.minute) / (24 * 60) * WIDTH)
