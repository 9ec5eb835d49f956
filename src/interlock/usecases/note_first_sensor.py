"""Note the first sensor: start the relative deadline of a run that a reading did not open."""

import msgspec

from interlock.domain.config import Config
from interlock.domain.opening import unarmed, with_deadlines
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.usecases.open_run import deadline_timers
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def note_first_sensor(key: RunKey, reading: Reading, config: Config, ports: Ports) -> Run:
    """Return the run as it stands; a run that has its first reading keeps it."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.first_sensor_at is not None or not run.is_open:
            return None
        noted = run.changed(
            now,
            first_sensor_at=reading.received_at,
            trigger_version=run.trigger_version or reading.version,
        )
        noted = _with_relative(noted, config)
        ports.timers.arm(deadline_timers(noted))
        armed = noted.sla_armed | dict(unarmed(noted))
        return RunWrite(msgspec.structs.replace(noted, sla_armed=armed))

    return save_run(key, decide, ports)


def _with_relative(run: Run, config: Config) -> Run:
    """Absolute deadlines stay those that the run was opened with, whatever its file says now."""
    due = with_deadlines(run, config.pipeline, config.standing(run.key.schedule_id))
    return msgspec.structs.replace(
        run,
        relative_warning_at=due.relative_warning_at,
        relative_breach_at=due.relative_breach_at,
    )
