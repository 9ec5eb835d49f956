"""Day-labelled: whether the runs of a schedule are days, according to its newest run.

A deadline `:MM` expects a sensor-driven schedule to have hours. A schedule whose readings name only days has
none.
"""

from interlock.domain.partition import Grain, Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey
from interlock.usecases.ports import Ports

#: Runs of other schedules may be newer; the schedule's newest run is searched among this many.
_NEWEST = 100


def is_day_labelled(pipeline: Pipeline, schedule_id: str, ports: Ports) -> bool:
    """Also False for a schedule without runs: then its hours are expected as declared."""
    newest = _newest(pipeline, schedule_id, ports)
    return bool(newest) and _is_day(newest[0])


def was_told_of_days(key: RunKey, pipeline: Pipeline, config_hash: str, ports: Ports) -> bool:
    """Whether another day has run under the same file."""
    return any(
        _is_day(run) and run.key != key and run.config_hash == config_hash
        for run in _newest(pipeline, key.schedule_id, ports)
    )


def _newest(pipeline: Pipeline, schedule_id: str, ports: Ports) -> list[Run]:
    runs = ports.runs.of_pipeline(pipeline.id, "0000", "9999", _NEWEST)
    present = pipeline.present_id(schedule_id)
    return [
        run
        for run in runs
        if pipeline.present_id(run.key.schedule_id) == present and not run.is_placeholder
    ]


def _is_day(run: Run) -> bool:
    return Label.parse(run.key.date).grain is Grain.DAY
