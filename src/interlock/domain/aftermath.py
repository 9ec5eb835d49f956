"""Aftermath: what a post-run reading says about a run, while its job runs and when it is done."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from interlock.domain.drift import Drift, drift, drift_field
from interlock.domain.pipeline import PostRun
from interlock.domain.rules import Verdict, judge
from interlock.domain.run import Evidence
from interlock.domain.sensor import Reading


class Drifted(msgspec.Struct, frozen=True):
    """A watched number left its baseline."""

    reading: Reading
    drift: Drift


def drifts(
    post_run: PostRun, readings: Mapping[str, Reading], baseline: Mapping[str, Evidence]
) -> Iterator[Drifted]:
    """The readings, by rule key, whose watched number moved by more than the threshold."""
    seen = set()
    for rule in post_run.rules:
        field = drift_field(post_run, rule)
        reading, before = readings.get(rule.key), baseline.get(rule.key)
        if field is None or reading is None or before is None or (rule.key, field) in seen:
            continue
        seen.add((rule.key, field))
        found = drift(before.fields, reading.fields, field, post_run.drift_threshold)
        if found is not None:
            yield Drifted(reading, found)


def outcome(post_run: PostRun, readings: Mapping[str, Reading], now: datetime) -> Verdict:
    """How the post-run rules fare; all must hold."""
    return judge(post_run.rules, readings, now)
