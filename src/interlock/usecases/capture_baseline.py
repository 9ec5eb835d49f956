"""Capture a baseline: keep post-run readings as they were, so that later ones can be compared with them."""

from collections.abc import Mapping
from typing import Any

from interlock.domain import canonical
from interlock.domain.baseline import Baseline
from interlock.domain.event import EventType, clean
from interlock.domain.pipeline import Pipeline
from interlock.domain.post_run import drift_field
from interlock.domain.rules import field_value
from interlock.domain.run import Evidence
from interlock.domain.run_events import about_run
from interlock.usecases.save_run import RunWrite

#: What a row can hold besides its own attributes, on every store.
LARGEST_BASELINE = 350 * 1024


def capture_baseline(
    write: RunWrite, readings: Mapping[str, Evidence], pipeline: Pipeline
) -> RunWrite:
    """The write with these readings as the baseline of its attempt, and its event. Readings too large to keep
    leave the attempt as it is, and that is an event too.
    """
    if not readings:
        return write
    sizes = {key: len(canonical.encode(seen)) for key, seen in readings.items()}
    if sum(sizes.values()) > LARGEST_BASELINE:
        largest = max(sizes, key=lambda key: sizes[key])
        return not_captured(
            write, f"the readings are too large to keep, {largest} most of all", pipeline
        )
    run = write.run
    captured = about_run(
        EventType.POST_RUN_BASELINE_CAPTURED,
        run,
        pipeline,
        f"baseline stored, readings in it: {len(readings)}",
        parts=(run.attempt, len(readings)),
        baseline=_watched(readings, pipeline),
    )
    baseline = Baseline(run.attempt, dict(readings))
    return RunWrite(run, (*write.events, *captured), {**write.also, "baseline": baseline})


def not_captured(write: RunWrite, error: str, pipeline: Pipeline) -> RunWrite:
    """The write, with the event that drift of this attempt will go undetected."""
    told = about_run(
        EventType.BASELINE_CAPTURE_FAILED,
        write.run,
        pipeline,
        f"no baseline was stored: {error}",
        error=clean(error),
    )
    return RunWrite(write.run, (*write.events, *told), write.also)


def _watched(readings: Mapping[str, Evidence], pipeline: Pipeline) -> list[dict[str, Any]]:
    """The numbers used to measure drift."""
    post_run = pipeline.post_run
    assert post_run is not None
    watched = dict.fromkeys(
        (rule.key, drift_field(post_run, rule, readings[rule.key].fields))
        for rule in post_run.rules
        if rule.key in readings
    )
    return [
        {"key": key, "field": field, "value": field_value(readings[key].fields, field or "")}
        for key, field in watched
    ]
