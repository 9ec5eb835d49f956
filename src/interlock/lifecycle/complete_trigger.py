"""Complete the trigger: end the run, and say how the attempt ended."""

from typing import Any

from interlock.domain.opening import instants
from interlock.domain.run import Run, Status
from interlock.lifecycle.polling import ending_seen_by
from interlock.lifecycle.step import Step
from interlock.usecases.complete_run import complete_run
from interlock.usecases.ports import Ports


def complete_trigger(step: Step, ports: Ports) -> dict[str, Any]:
    """After an exhausted poll window the run has already ended, and this only names the outcome."""
    run = complete_run(step.key, step.attempt, step.pipeline, ports, ending_seen_by(step))
    return finish_answer(run, step)


def finish_answer(run: Run, step: Step) -> dict[str, Any]:
    """The output of a step that may end an attempt; all fields, always."""
    current = run.attempt == step.attempt
    completed = current and run.status is Status.COMPLETED
    return {
        "current": current,
        "outcome": outcome(run, step),
        "running": current and run.status is Status.RUNNING,
        "settleSla": completed and not run.key.dry and bool(instants(run)),
    }


def outcome(run: Run, step: Step) -> str:
    """One word for how the attempt ended."""
    if run.attempt != step.attempt:
        return "superseded"
    if run.status is Status.COMPLETED:
        return "completed"
    if run.awaits_retry:
        return "retrying"
    return _OUTCOMES.get(run.failure.reason if run.failure else "job", "failed")


_OUTCOMES = {
    "poll": "poll-exhausted",
    "window": "validation-exhausted",
    "launch": "launch-failed",
    "infra": "infra-failure",
}
