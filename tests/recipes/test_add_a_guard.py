"""To add a guard: its function in domain/guards.py, and one row in usecases/watchdog_checks.py.

To add an event: one row of `EventType` in domain/event.py. The guard added here tells of a new one.
"""

from pathlib import Path

from recipes.workshop import Workshop

EVENTS = "src/interlock/domain/event.py"
GUARDS = "src/interlock/domain/guards.py"
ROWS = "src/interlock/usecases/watchdog_checks.py"

EVENT = """
    JOB_SLOW = "JOB_SLOW", EventSpec(
        "a job takes longer than its owner expects", "watchdog", Severity.WARNING, Alert.YES,
        ("attempt",), ("expected", "runningFor"), "look at the job of {pipeline} for {date}",
        phase=Phase.LATE, shown={"runningFor": "running for"})
"""
GUARD = '''
class SlowJob(WatchdogFinding, frozen=True):
    """The job of a run takes longer than expected."""

    run: Run
    running_for: timedelta


def slow_jobs(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """A job takes longer than its owner expects."""
    sla = seen.pipeline.sla
    if sla is None or sla.expected_duration is None:
        return
    for run in seen.extra["running"]:
        if now - run.launched_at > duration.parse(sla.expected_duration):
            yield SlowJob(run, now - run.launched_at)


'''
ACTION = '''
def _load_running(look: ScheduleLook, now: datetime, ports: Ports) -> Mapping[str, Any]:
    """The runs of a schedule whose job runs."""
    running = [run for run in ports.runs.active() if run.launched_at is not None]
    name = look.config.pipeline.id, look.schedule.id
    ours = [run for run in running if (run.key.pipeline_id, run.key.schedule_id) == name]
    return {"extra": {"running": ours}}


def _tell_slow(finding: guards.SlowJob, config: Config, now: datetime, ports: Ports) -> None:
    """Once for each attempt: the claim of an event is made of its id."""
    sla = config.pipeline.sla
    assert sla is not None
    span = duration.for_people(finding.running_for)
    for event in about_date(
        EventType.JOB_SLOW,
        run_subject(finding.run, config.pipeline),
        now,
        f"its job has been running for {span}",
        parts=(finding.run.attempt,),
        expected=sla.expected_duration,
        runningFor=span,
    ):
        claim_event(event, ports)


'''
ROW = """
    GuardSpec(
        name="slow-jobs",
        guard=guards.slow_jobs,
        load=_load_running,
        finds=(
            FindingSpec(
                guards.SlowJob,
                lambda f, now: f"{f.run.key.date}: its job is slow; told",
                _tell_slow,
            ),
        ),
    ),
"""
IMPORTS = """
from interlock.domain.event import EventType
from interlock.domain.run_events import about_date, run_subject
from interlock.usecases.claim_event import claim_event
"""


def test_a_guard_is_its_function_and_its_row_and_an_event_is_a_row(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    workshop.add(EVENTS, EVENT, before="    # fmt: on")
    workshop.add(GUARDS, GUARD, before="def _is_unstarted(")
    workshop.add(ROWS, IMPORTS, before="from interlock.domain import duration, guards")
    workshop.add(ROWS, ACTION, before="_ROWS = (")
    workshop.add(ROWS, ROW, before='    GuardSpec(\n        name="post-run-sensors",')
    workshop.tries("made_up_guard.py")
