"""Attend a run: its execution ended; do at once what the next watchdog pass would do."""

from datetime import datetime

from interlock.domain.config import Config
from interlock.domain.findings import Finish, WatchdogFinding
from interlock.domain.guards import stale_attempt
from interlock.domain.run import EngineState, Run, RunKey
from interlock.usecases.job_ending import has_succeeded
from interlock.usecases.ports import Ports
from interlock.usecases.watchdog_checks import act_on_finding


def attend_run(key: RunKey, execution: str, config: Config, ports: Ports) -> WatchdogFinding | None:
    """What was done about the run; None when it has its end, or another execution goes on with it.

    A run whose second execution failed is left to the passes: once each is enough. So is one reported after
    its lease: the passes know whether anything worked on it meanwhile.
    """
    now = ports.clock()
    run = ports.runs.find([key]).get(key)
    if run is None or run.execution_name != execution or run.executions > 1:
        return None
    if now > run.lease_until:
        return None
    finding = _finding(run, now, ports)
    if finding is not None:
        act_on_finding(finding, config, now, ports)
    return finding


def _finding(run: Run, now: datetime, ports: Ports) -> WatchdogFinding | None:
    if run.is_unfinished:
        return Finish(run)
    if not run.is_open:
        return None
    return next(stale_attempt(run, EngineState.ENDED, has_succeeded(run, ports), now), None)
