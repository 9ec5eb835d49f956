"""Start a run: hand its attempt to the engine, under the attempt's own name."""

from interlock.domain.canonical import as_json
from interlock.domain.opening import window_end
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run
from interlock.domain.timestamp import spell
from interlock.ports import Ports


def start_run(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """Starting twice is starting once. The attempt is judged by the config as it is now."""
    ports.workflows.start(
        run.execution_name,
        {
            "pipelineId": run.key.pipeline_id,
            "scheduleId": run.key.schedule_id,
            "date": run.key.date,
            "attempt": run.attempt,
            "executionName": run.execution_name,
            "openedAt": spell(run.opened_at),
            "windowEnd": spell(window_end(run, pipeline)),
            "config": as_json(pipeline),
        },
    )
