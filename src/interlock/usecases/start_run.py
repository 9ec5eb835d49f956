"""Start a run: pass its attempt to the engine, under the attempt's own name."""

from typing import Any

from interlock.domain.canonical import as_json
from interlock.domain.opening import window_end
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, execution_name
from interlock.domain.timestamp import spell
from interlock.usecases.ports import Ports


def start_run(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """Starting again has no effect. The attempt is judged by the config as it is now."""
    ports.workflows.start(run.execution_name, _given(run, pipeline))


def start_again(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """Start a further execution of an attempt, judged by the input of the first one; if the engine has
    forgotten that, by the current config.
    """
    first = execution_name(run.key, run.attempt)
    given = ports.workflows.given(first) or _given(run, pipeline)
    ports.workflows.start(run.execution_name, given | {"executionName": run.execution_name})


def _given(run: Run, pipeline: Pipeline) -> dict[str, Any]:
    return {
        "pipelineId": run.key.pipeline_id,
        "scheduleId": run.key.schedule_id,
        "date": run.key.date,
        "attempt": run.attempt,
        "executionName": run.execution_name,
        "openedAt": spell(run.opened_at),
        "windowEnd": spell(window_end(run, pipeline)),
        "config": as_json(pipeline),
    }
