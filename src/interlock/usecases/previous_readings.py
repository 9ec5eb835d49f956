"""Look back: the readings of the previous expected date, for the rules that compare with them."""

from interlock.domain.admission import rejection, trigger_keys
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.previous_date import previous_date, previous_key
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import (
    Reading,
    UnreadableReading,
    names_date,
    period_keys,
    serving,
    unreadable_reading,
)
from interlock.domain.zones import zone
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports


def previous_readings(key: RunKey, pipeline: Pipeline, ports: Ports) -> dict[str, Reading]:
    """For each key of a rule that looks back, what the previous date had, under `previous_key`: its stored
    reading or, once that is overwritten, what its run was judged on. Point reads only.

    A reading without fields means that the date had a run, but nothing is known of the key.
    """
    wanted = frozenset(
        rule.key for rule in pipeline.validation.every_rule if rule.check.spec.looks_back
    )
    if not wanted:
        return {}
    schedule = pipeline.schedule(key.schedule_id)
    label = previous_date(schedule, pipeline.calendars, Label.parse(key.date))
    if label is None:
        return {}
    before = RunKey(key.pipeline_id, key.schedule_id, str(label), dry=key.dry)
    found = _stored(before, wanted, pipeline, ports)
    lacking = wanted - found.keys()
    run = find_runs([before], pipeline, ports).get(before) if lacking else None
    if run is not None:
        found |= {name: _as_judged(run, name) for name in lacking}
    return {previous_key(name): reading for name, reading in found.items()}


def _stored(
    key: RunKey, wanted: frozenset[str], pipeline: Pipeline, ports: Ports
) -> dict[str, Reading]:
    """The stored readings that are certainly of that date: a plain one without a date may be today's."""
    schedule, label = pipeline.schedule(key.schedule_id), Label.parse(key.date)
    rows = ports.sensors.find(
        key.pipeline_id, {each for name in wanted for each in period_keys(name, label)}
    )
    own = trigger_keys(schedule)
    believed = {
        name: reading
        for name, reading in rows.items()
        if rejection(pipeline, schedule, reading) is None and _is_dated(reading, own)
    }
    return serving(wanted, believed, label, zone(schedule.timezone), own)


def _is_dated(reading: Reading, own: frozenset[str]) -> bool:
    """Whether it is known which date a reading belongs to. An unreadable one may belong to any, and must
    not pass for none.
    """
    if isinstance(reading, UnreadableReading) or names_date(reading):
        return True
    return reading.key in own and reading.timed


def _as_judged(run: Run, name: str) -> Reading:
    """What a run was judged on; nothing, if it had no such reading or did not get that far."""
    at = run.opened_at
    if run.status is Status.UNREADABLE:
        return unreadable_reading(run.key.pipeline_id, name, at, "the row of the run can't be read")
    seen = run.evidence.get(name)
    if seen is None:
        return Reading(run.key.pipeline_id, name, {}, at)
    return Reading(run.key.pipeline_id, seen.key, seen.fields, at, seen.version)
