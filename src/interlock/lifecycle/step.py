"""Step: what the state machine hands to one mode of the orchestrator, and what a mode may assume."""

import math
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from interlock.domain import canonical, timestamp
from interlock.domain.config import Config
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import OPEN, Run, RunKey
from interlock.errors import ConfigError
from interlock.usecases.ports import Ports
from interlock.usecases.readable_config import readable_config


class Step(msgspec.Struct, frozen=True):
    """One attempt at one state; `pipeline` is the snapshot that the attempt is judged by."""

    key: RunKey
    attempt: int
    pipeline: Pipeline
    given: Mapping[str, Any]

    def is_current(self, run: Run) -> bool:
        """Whether the run is still at this attempt."""
        return run.attempt == self.attempt and run.status in OPEN

    def owns(self, run: Run) -> bool:
        """Whether the run belongs to this execution. An execution whose state machine does not pass its name
        owns any run.
        """
        return self.given.get("executionName") in (None, run.execution_name)

    def moment(self, name: str) -> datetime:
        """An instant from the state machine's data."""
        found = timestamp.instant(self.given[name])
        if found is None:
            raise ConfigError(f"{name} is not an instant: {self.given[name]!r}")
        return found


def step_of(given: Mapping[str, Any]) -> Step:
    """Read a Task's parameters."""
    pipeline = _pipeline(canonical.encode(given["config"]))
    key = RunKey(given["pipelineId"], given["scheduleId"], given["date"], dry=pipeline.dry_run)
    return Step(key, int(given["attempt"]), pipeline, given)


def config_of(step: Step, ports: Ports) -> Config:
    """The snapshot together with what is in force around it, for use cases that take a config. An unreadable
    stored config does not keep an attempt from ending.
    """
    found = readable_config(step.key.pipeline_id, ports)
    if found is None:
        now = ports.clock()
        return Config(pipeline=step.pipeline, config_hash="", adopted_at=now, active_since=now)
    return msgspec.structs.replace(found, pipeline=step.pipeline)


def seconds_until(moment: datetime, now: datetime) -> int:
    """Whole seconds, rounded up so that the next poll is never early; at least zero."""
    return max(0, math.ceil((moment - now).total_seconds()))


@lru_cache(maxsize=1024)
def _pipeline(text: str) -> Pipeline:
    return msgspec.convert(canonical.decode(text), Pipeline, strict=False)
