"""Post-run: what readings after the launch say about a run: drift, late data, and its post-run rules."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.check import number
from interlock.domain.drift import Drift, drift
from interlock.domain.pipeline import Pipeline, PostRun, Rule
from interlock.domain.rules import Verdict, field_value, judge
from interlock.domain.run import Evidence, Run
from interlock.domain.sensor import Reading, names_date

#: How long a changed trigger reading reruns the job of a pipeline without post-run rules.
LATE_WINDOW = timedelta(hours=24)

#: Files can't set less; configs stored before that check may.
_SHORTEST = timedelta(seconds=1)

#: What is compared when a rule's own field is not a number.
COUNT_FIELD = "sensor_count"


class Drifted(msgspec.Struct, frozen=True):
    """A watched number left its baseline."""

    reading: Reading
    drift: Drift


def post_run_keys(pipeline: Pipeline) -> frozenset[str]:
    return frozenset() if pipeline.post_run is None else frozenset(watched_keys(pipeline.post_run))


def watched_keys(post_run: PostRun) -> tuple[str, ...]:
    """The keys of its rules, in their order, also those that they compare with."""
    return tuple(dict.fromkeys(key for rule in post_run.rules for key in rule.keys))


def post_run_window(post_run: PostRun) -> timedelta:
    """For how long after completion its readings are judged."""
    return duration.parse(post_run.evaluation.window)


def late_window(pipeline: Pipeline) -> timedelta:
    """For how long after completion late data reruns the job automatically."""
    post_run = pipeline.post_run
    if post_run is None:
        return LATE_WINDOW
    return duration.parse(post_run.late_window or post_run.evaluation.window)


def drift_field(post_run: PostRun, rule: Rule, baseline: Mapping[str, Any]) -> str | None:
    """The field that a post-run rule watches; None when the baseline has no number to watch."""
    if post_run.drift_field is not None:
        return post_run.drift_field
    candidates = (rule.field, COUNT_FIELD)
    return next((f for f in candidates if f and _has_number(baseline, f)), None)


def is_measured(
    post_run: PostRun, key: str, baseline: Mapping[str, Any], current: Mapping[str, Any]
) -> bool:
    """Whether a rule on this key can measure how far the reading has moved."""
    fields = (drift_field(post_run, r, baseline) for r in post_run.rules if r.key == key)
    return any(f and _has_number(baseline, f) and _has_number(current, f) for f in fields)


def drifts(
    post_run: PostRun, readings: Mapping[str, Reading], baseline: Mapping[str, Evidence]
) -> Iterator[Drifted]:
    """The readings, by rule key, whose watched number moved by more than the threshold."""
    seen = set()
    for rule in post_run.rules:
        reading, before = readings.get(rule.key), baseline.get(rule.key)
        if reading is None or before is None:
            continue
        field = drift_field(post_run, rule, before.fields)
        if field is None or (rule.key, field) in seen:
            continue
        seen.add((rule.key, field))
        found = drift(before.fields, reading.fields, field, post_run.drift_threshold)
        if found is not None:
            yield Drifted(reading, found)


def came_since(run: Run, readings: Mapping[str, Reading]) -> dict[str, Reading]:
    """The readings that can belong to this attempt: its inputs, and what arrived since it was opened. Of
    those without a date that arrived after completion, the ones assigned to this run: the next may
    belong to another date.
    """
    return {
        key: reading
        for key, reading in readings.items()
        if _came_for(run, key, reading) and not _is_of_another(run, key, reading)
    }


def _came_for(run: Run, key: str, reading: Reading) -> bool:
    known = key in run.evidence or key in run.post_run.seen
    return known or (reading.timed and reading.received_at >= run.opened_at)


def _is_of_another(run: Run, key: str, reading: Reading) -> bool:
    if run.completed_at is None or not reading.timed or names_date(reading):
        return False
    at = reading.received_at
    return at > run.completed_at and run.post_run.seen.get(key) != at


def outcome(
    post_run: PostRun, readings: Mapping[str, Reading], seen: Collection[str], now: datetime
) -> Verdict | None:
    """The result of the post-run rules; all must hold. None while some have no reading yet and none fails:
    a reading that never arrives is reported separately. One that was `seen` and is gone fails its rule.
    """
    there = [
        rule for rule in post_run.rules if all(key in readings or key in seen for key in rule.keys)
    ]
    verdict = judge(there, readings, now)
    is_settled = verdict.failing or len(there) == len(post_run.rules)
    return verdict if is_settled else None


def looks_again_at(completed_at: datetime, post_run: PostRun, now: datetime) -> datetime | None:
    """When the rules are judged next without a reading: at their interval, if they age, and at the end
    of the window. None when that is over.
    """
    end = completed_at + post_run_window(post_run)
    interval = post_run.evaluation.interval
    if now >= end:
        return None
    if interval is None or not any(rule.check.spec.ages for rule in post_run.rules):
        return end
    every = max(duration.parse(interval), _SHORTEST)
    turns = max(now - completed_at, timedelta(0)) // every + 1
    return min(completed_at + turns * every, end)


def _has_number(fields: Mapping[str, Any], field: str) -> bool:
    return number(field_value(fields, field)) is not None
