"""Pipeline plots: job durations, arrivals of readings and their numbers, over a pipeline's newest dates."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.check import in_symbols
from interlock.domain.partition import Grain, Label, starts_at
from interlock.domain.pipeline import Pipeline, Rule
from interlock.domain.rules import field_value
from interlock.domain.run import Run
from interlock.domain.sensor import RESERVED, Reading, split_key
from interlock.domain.zones import zone
from interlock.ports.stores import Sensors
from interlock.web.pages.instants import span
from interlock.web.pages.plot import Axis, Measured, Plot, as_number, plot
from interlock.web.pages.status_badge import standing_of

#: How many dates a plot has, how many sensors are read, how many fields are drawn.
DATES = 60
_KEYS = 6
_FIELDS = 6
_DAY = 24 * 3600
#: Fields that say which date a reading is of, or when it ends: no measurements.
_NO_MEASURES = frozenset({"hour", "ttl"})


class PlotSource(msgspec.Struct, frozen=True):
    """What is drawn: runs, oldest first, and readings by sensor and date."""

    pipeline: Pipeline
    zone_name: str
    runs: list[Run]
    readings: dict[str, dict[str, Reading]]


def pipeline_plots(
    pipeline: Pipeline, zone_name: str, runs: Sequence[Run], sensors: Sensors
) -> list[Plot]:
    """`runs` are the newest, newest first."""
    newest = [run for run in runs if not run.is_bare][:DATES]
    if not newest:
        return []
    dates = [run.key.date for run in newest]
    readings = {
        key: _by_date(sensors.between(pipeline.id, key, min(dates), max(dates)))
        for key in _sensor_keys(pipeline)
    }
    source = PlotSource(pipeline, zone_name, newest[::-1], readings)
    return [*_durations(source), *_arrivals(source), *_numbers(source)]


def _sensor_keys(pipeline: Pipeline) -> list[str]:
    triggers = [each.trigger.rule for each in pipeline.schedules if each.trigger is not None]
    keys = dict.fromkeys(rule.key for rule in (*triggers, *pipeline.validation.every_rule))
    return [key for key in keys if not key.startswith(RESERVED)][:_KEYS]


def _by_date(readings: Sequence[Reading]) -> dict[str, Reading]:
    found = {}
    for reading in readings[-DATES:]:
        period = split_key(reading.key)[1]
        if period is not None and (label := _label(period)) is not None:
            found[str(label)] = reading
    return found


def _label(period: str) -> Label | None:
    try:
        return Label.parse(period)
    except ValueError:
        return None


def _durations(source: PlotSource) -> Iterator[Plot]:
    measured = [
        Measured(
            run.key.date,
            (run.completed_at - run.launched_at).total_seconds(),
            run.key,
            standing_of(run).tone,
        )
        for run in source.runs
        if run.completed_at is not None and run.launched_at is not None
    ]
    sla = source.pipeline.sla
    text = sla.expected_duration if sla else None
    expected = [] if text is None else [(duration.parse(text).total_seconds(), f"expected {text}")]
    if measured:
        axis = Axis(span, is_seconds=True, from_zero=True)
        yield plot("duration", ("Job duration", "how long the job ran"), measured, axis, expected)


def _arrivals(source: PlotSource) -> Iterator[Plot]:
    """Of each sensor whose readings carry their date; without one, when the first reading of a run came."""
    found = False
    for n, (key, readings) in enumerate(source.readings.items()):
        arrived = {date: each.received_at for date, each in readings.items() if each.timed}
        if arrived:
            found = True
            yield _arrival(f"arrival-{n}", f"Arrival of {key}", arrived, source)
    first = {
        run.key.date: run.first_sensor_at for run in source.runs if run.first_sensor_at is not None
    }
    if first and not found:
        yield _arrival("arrival", "Arrival of the first reading", first, source)


def _arrival(name: str, title: str, arrived: Mapping[str, datetime], source: PlotSource) -> Plot:
    where = zone(source.zone_name)
    keys = {run.key.date: run.key for run in source.runs}
    measured = [
        Measured(
            date, (at - starts_at(Label.parse(date), where)).total_seconds(), keys.get(date), "busy"
        )
        for date, at in sorted(arrived.items())
    ]
    is_daily = all(Label.parse(each.date).grain is Grain.DAY for each in measured)
    unit = f"time of day, {source.zone_name}" if is_daily else "after the start of the date"
    axis = Axis(_time_of_day if is_daily else span, is_seconds=True)
    return plot(name, (title, unit), measured, axis)


def _time_of_day(seconds: float) -> str:
    """`03:30`; `03:30 +1d` on the day after the date."""
    days, rest = divmod(round(seconds), _DAY)
    text = f"{rest // 3600:02}:{rest % 3600 // 60:02}"
    return f"{text} {days:+}d" if days else text


def _numbers(source: PlotSource) -> Iterator[Plot]:
    """The fields that rules judge come first."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for key, path in _judged(source.pipeline):
        values[key, path] = {}
    for key, date, fields in _seen(source):
        for path in {*fields, *(path for name, path in values if name == key)} - _NO_MEASURES:
            number = _number(field_value(fields, path))
            if number is not None:
                values.setdefault((key, path), {})[date] = number
    keys = {run.key.date: run.key for run in source.runs}
    drawn = [(place, by_date) for place, by_date in values.items() if by_date][:_FIELDS]
    for n, ((key, path), by_date) in enumerate(drawn):
        measured = [
            Measured(date, number, keys.get(date)) for date, number in sorted(by_date.items())
        ]
        bounds = list(_bounds(source.pipeline, key, path))
        titles = (f"{key}.{path}", "as reported for each date")
        yield plot(f"field-{n}", titles, measured[-DATES:], Axis(as_number), bounds)


def _judged(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    for rule in pipeline.validation.every_rule:
        if rule.field is not None and not rule.key.startswith(RESERVED):
            yield rule.key, rule.field


def _seen(source: PlotSource) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The fields of each sensor and date: as stored now, then as the run saw them, which counts more."""
    for key, readings in source.readings.items():
        for date, reading in readings.items():
            yield key, date, reading.fields
    for run in source.runs:
        for key, evidence in run.evidence.items():
            if not key.startswith(RESERVED):
                yield key, run.key.date, evidence.fields


def _bounds(pipeline: Pipeline, key: str, path: str) -> Iterator[tuple[float, str]]:
    """The numbers that rules compare the field with."""
    for rule in pipeline.validation.every_rule:
        if (rule.key, rule.field) != (key, path) or rule.check.spec.looks_back:
            continue  # a change is no value
        limits = rule.value if isinstance(rule.value, list) else [rule.value]
        for number in map(_number, limits):
            if number is not None:
                yield number, _needs(rule, number)


def _needs(rule: Rule, number: float) -> str:
    asked = rule.value if isinstance(rule.value, list) else as_number(number)
    return f"needs {in_symbols(rule.check, asked)}"


def _number(value: Any) -> float | None:
    """A number that can be drawn; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < _LARGEST else None


#: Beyond it, and for what is not a number, a scale has no steps.
_LARGEST = 1e15
