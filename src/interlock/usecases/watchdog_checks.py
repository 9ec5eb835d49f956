"""Watchdog checks: one row each.

A row holds everything that is known of a check: the guard that looks, what it needs to be loaded beside
the common snapshot, and what it may find, each with its words and with what acting on it means. The pass,
the command line, the metrics and the reference read it there.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration, guards
from interlock.domain.config import Config
from interlock.domain.findings import (
    Admit,
    ArmDeadline,
    Close,
    ExtendLease,
    Finish,
    FireLate,
    GiveUp,
    JudgeDeadline,
    LookAgain,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    Resume,
    RetryNow,
    Suspect,
    TimeOut,
    WatchdogFinding,
)
from interlock.domain.guards import Snapshot
from interlock.usecases import catch_up, recover_run
from interlock.usecases.load_snapshots import ScheduleLook, came_after, engine_answers
from interlock.usecases.ports import Ports

Action = Callable[[Any, Config, datetime, Ports], None]


class FindingSpec(msgspec.Struct, frozen=True):
    """What a check may find: in words, and what is done about it."""

    kind: type[WatchdogFinding]
    words: Callable[[Any, datetime], str]
    act: Action


class GuardSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a check of the watchdog, and everything that is known of it."""

    name: str
    #: What it looks for is said by the first line of its docstring.
    guard: Callable[[Snapshot, datetime], Iterable[WatchdogFinding]]
    finds: tuple[FindingSpec, ...]
    #: What it needs beside the common snapshot, by the fields of that; `extra` takes anything.
    load: Callable[[ScheduleLook, datetime, Ports], Mapping[str, Any]] | None = None
    #: Whether it is asked all the same when that can't be loaded: it then sees less, and nothing wrong.
    copes: bool = False
    #: Whether it is also asked about pipelines that are retired or dry, and schedules that are gone.
    of_quiet: bool = False


def act_on_finding(finding: WatchdogFinding, config: Config, now: datetime, ports: Ports) -> None:
    """Every action is conditional and may be taken twice, or by two passes at once."""
    finding_spec(finding).act(finding, config, now, ports)


def finding_spec(finding: WatchdogFinding) -> FindingSpec:
    """The row of a finding, in the row of the check that has it."""
    for row in GUARDS.values():
        for spec in row.finds:
            if type(finding) is spec.kind:
                return spec
    raise LookupError(f"no check of the watchdog finds {type(finding).__name__}")


def _late(since: datetime, now: datetime) -> str:
    return f"{duration.for_people(now - since)} late"


_FIRE_LATE = FindingSpec(
    FireLate, lambda f, now: f"{f.key.date}: fired {_late(f.due_at, now)}", catch_up.fire_late
)
_MISSED = FindingSpec(
    Missed,
    lambda f, now: f"{f.key.date}: missed, {_late(f.due_at, now)} ({f.cause})",
    catch_up.tell_missed,
)
_JUDGE_DEADLINE = FindingSpec(
    JudgeDeadline,
    lambda f, now: f"{f.key.date}: its {f.kind} had passed untold; judged",
    catch_up.judge_deadline,
)

_ROWS = (
    GuardSpec(
        name="stale-triggers",
        guard=guards.stale_triggers,
        load=engine_answers,
        copes=True,
        of_quiet=True,
        finds=(
            FindingSpec(
                Restart,
                lambda f, now: f"{f.run.key.date}: it was never started; started",
                recover_run.restart_run,
            ),
            FindingSpec(
                NoteStarted,
                lambda f, now: f"{f.run.key.date}: it is running after all; noted",
                recover_run.note_started,
            ),
            FindingSpec(
                Finish,
                lambda f, now: f"{f.run.key.date}: its job had succeeded; completed",
                recover_run.finish_run,
            ),
            FindingSpec(
                Resume,
                lambda f, now: f"{f.run.key.date}: its execution broke off; another one goes on",
                recover_run.resume_run,
            ),
            FindingSpec(
                GiveUp,
                lambda f, now: f"{f.run.key.date}: its execution ended without a launch; failed",
                recover_run.give_up_run,
            ),
            FindingSpec(
                TimeOut,
                lambda f, now: (
                    f"{f.run.key.date}: outlived its lease (engine: {f.engine}); timed out"
                ),
                recover_run.time_out_run,
            ),
            FindingSpec(
                ExtendLease,
                lambda f, now: f"{f.run.key.date}: slow, not dead; its lease is extended",
                recover_run.extend_lease,
            ),
            FindingSpec(
                RetryNow,
                lambda f, now: f"{f.run.key.date}: its retry was due; retried",
                recover_run.retry_now,
            ),
        ),
    ),
    GuardSpec(
        name="sensor-trigger-reconciliation",
        guard=guards.sensor_trigger_reconciliation,
        finds=(
            FindingSpec(
                Suspect,
                lambda f, now: f"{f.name}: may be on its way; looked at again",
                lambda finding, config, now, ports: None,  # the pass remembers it
            ),
            FindingSpec(
                Admit,
                lambda f, now: f"{f.reading.key}: a reading that had no effect yet; acted on it",
                catch_up.admit_found,
            ),
        ),
    ),
    GuardSpec(
        name="missed-schedules",
        guard=guards.missed_schedules,
        finds=(_FIRE_LATE, _MISSED),
    ),
    GuardSpec(
        name="missed-inclusion-schedules",
        guard=guards.missed_inclusion_schedules,
        finds=(_FIRE_LATE, _MISSED),
    ),
    GuardSpec(
        name="trigger-deadlines",
        guard=guards.trigger_deadlines,
        finds=(
            FindingSpec(
                Close,
                lambda f, now: f"{f.key.date}: the trigger deadline passed without a run; closed",
                catch_up.close_date,
            ),
        ),
    ),
    GuardSpec(
        name="sla-scheduling",
        guard=guards.sla_scheduling,
        finds=(
            FindingSpec(
                ArmDeadline,
                lambda f, now: f"{f.key.date}: a deadline's timer was not there; armed",
                catch_up.arm_found,
            ),
            _JUDGE_DEADLINE,
        ),
    ),
    GuardSpec(
        name="relative-sla-breaches",
        guard=guards.relative_sla_breaches,
        finds=(_JUDGE_DEADLINE,),
    ),
    GuardSpec(
        name="post-run-sensors",
        guard=guards.post_run_sensors,
        load=came_after,
        finds=(
            FindingSpec(
                PostRunMissing,
                lambda f, now: (
                    f"{f.run.key.date}: post-run readings never came: "
                    f"{', '.join(f.missing) or 'none missing'}"
                ),
                catch_up.tell_post_run_missing,
            ),
            FindingSpec(
                LookAgain,
                lambda f, now: f"{f.run.key.date}: its post-run rules were due; judged again",
                catch_up.look_again,
            ),
        ),
    ),
)

#: In this order: repairs first, so that a date repaired in a pass is not reported as missed in it.
GUARDS: dict[str, GuardSpec] = {row.name: row for row in _ROWS}
