"""The first version of a run, its deadlines, and the timers that guard them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_key, a_reading, a_run
from declared import declared
from interlock.domain.deadline import SlaVerdict
from interlock.domain.opening import (
    SlaState,
    first_attempt,
    inherited,
    instants,
    open_moments,
    projection,
    unarmed,
    window_end,
    with_deadlines,
    without_deadlines,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, Status, execution_name
from interlock.domain.sla import pruned
from interlock.domain.standing import standing_since

NOW = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
LEASE = timedelta(hours=4, minutes=30)
BREACH = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
WARNING = BREACH - timedelta(minutes=30)
ABSOLUTE = declared("sla: {deadline: '10:00', expectedDuration: 30m}")
BOTH = declared("sla: {deadline: '10:00', expectedDuration: 30m, maxDuration: 2h}")
KIND = DeadlineKind
READY = declared("sla: {evaluationDeadline: '09:00'}")
READY_AT = BREACH - timedelta(hours=1)


def opened(
    pipeline: Pipeline = ABSOLUTE, key: RunKey | None = None, since: datetime = NOW, **given: Any
) -> Run:
    return first_attempt(
        pipeline,
        key or a_key(),
        OpenedBy.SENSOR,
        "orders",
        NOW,
        lease=LEASE,
        config_hash="h",
        standing=standing_since(since),
        **given,
    )


def test_a_run_is_opened_pending_with_its_lease() -> None:
    run = opened()
    assert (run.status, run.version, run.attempt) == (Status.PENDING, 1, 0)
    assert (run.opened_at, run.changed_at, run.lease_until) == (NOW, NOW, NOW + LEASE)
    assert run.execution_name == "silver-orders-stream-2026-03-03"
    assert (run.opened_by, run.opened_for, run.config_hash) == ("sensor", "orders", "h")


def test_a_run_that_a_reading_opens_knows_it() -> None:
    reading = a_reading()
    run = opened(reading=reading)
    assert run.trigger_version == reading.version
    assert run.first_sensor_at == reading.received_at
    assert opened().first_sensor_at is None


@pytest.mark.parametrize(
    ("pipeline", "given", "expected"),
    [
        (declared(), {}, {}),  # nothing is promised
        (ABSOLUTE, {}, {KIND.WARNING: WARNING, KIND.BREACH: BREACH}),
        (BOTH, {}, {KIND.WARNING: WARNING, KIND.BREACH: BREACH}),  # no reading yet
        # a deadline before the pipeline existed is none
        (ABSOLUTE, {"since": BREACH + timedelta(seconds=1)}, {}),
        (ABSOLUTE, {"since": BREACH}, {KIND.BREACH: BREACH}),  # its warning was before
        (ABSOLUTE, {"since": WARNING}, {KIND.WARNING: WARNING, KIND.BREACH: BREACH}),
        (ABSOLUTE, {"key": a_key(dry=True)}, {}),  # a dry run promises nothing
        (declared("sla: {deadline: ':30'}"), {}, {}),  # a day has no such minute
        (READY, {}, {KIND.READINESS: READY_AT}),
        (READY, {"since": READY_AT + timedelta(seconds=1)}, {}),
        (READY, {"key": a_key(dry=True)}, {}),
        (declared("sla: {evaluationDeadline: ':30'}"), {}, {}),
    ],
)
def test_a_date_has_the_deadlines_its_file_gives_it(
    pipeline: Pipeline, given: dict[str, Any], expected: dict[DeadlineKind, datetime]
) -> None:
    run = opened(pipeline, **given)
    assert instants(run) == expected
    assert run.sla_armed == expected


def test_a_relative_deadline_counts_from_the_first_reading() -> None:
    reading = a_reading()
    first = reading.received_at.replace(microsecond=0)
    assert instants(opened(BOTH, reading=reading)) == {
        KIND.WARNING: WARNING,
        KIND.BREACH: BREACH,
        KIND.RELATIVE_WARNING: first + timedelta(minutes=90),
        KIND.RELATIVE_BREACH: first + timedelta(hours=2),
    }


def test_a_date_that_was_watched_before_it_opened_keeps_what_was_said() -> None:
    told = SlaState({KIND.WARNING: WARNING}, (KIND.WARNING,), None)
    run = opened(sla=told)
    assert run.sla_told == (KIND.WARNING,)
    assert run.sla_armed == {KIND.WARNING: WARNING, KIND.BREACH: BREACH}
    breached = SlaState({KIND.BREACH: BREACH}, (KIND.BREACH,), SlaVerdict.BREACHED)
    run = opened(sla=breached)
    assert (run.sla_verdict, run.sla_armed) == (SlaVerdict.BREACHED, {KIND.BREACH: BREACH})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {KIND.WARNING, KIND.BREACH}),
        ({"sla_armed": {KIND.WARNING: WARNING}}, {KIND.BREACH}),
        ({"sla_armed": {KIND.WARNING: NOW}}, {KIND.WARNING, KIND.BREACH}),  # at another time
        ({"sla_told": (KIND.WARNING,)}, {KIND.BREACH}),
        ({"sla_verdict": SlaVerdict.MET}, set()),  # nothing is left to say
    ],
)
def test_a_moment_needs_a_timer_until_it_is_armed_or_told(
    changes: dict[str, Any], expected: set[DeadlineKind]
) -> None:
    run = a_run(warning_at=WARNING, breach_at=BREACH, **changes)
    assert {kind for kind, _ in unarmed(run)} == expected


@pytest.mark.parametrize(
    ("changes", "is_open"),
    [
        ({}, True),
        ({"sla_told": (KIND.READINESS,)}, False),
        ({"ready_at": NOW}, False),  # the rules hold: its moment will have nothing to say
        ({"sla_verdict": SlaVerdict.BREACHED}, True),  # a relative deadline may come first
    ],
)
def test_that_the_rules_must_hold_needs_a_timer_until_they_do(
    changes: dict[str, Any], is_open: bool
) -> None:
    run = a_run(readiness_at=READY_AT, **changes)
    assert dict(unarmed(run)) == ({KIND.READINESS: READY_AT} if is_open else {})
    assert open_moments(run) == dict(unarmed(run))


def test_deadlines_follow_the_file_and_not_what_was_there() -> None:
    run = a_run(breach_at=NOW, relative_breach_at=NOW)
    assert instants(with_deadlines(run, declared(), standing_since(NOW))) == {}


def test_a_file_that_drops_its_deadlines_takes_them_from_the_run() -> None:
    run = a_run(breach_at=NOW, warning_at=NOW, relative_breach_at=NOW, relative_warning_at=NOW)
    dropped = without_deadlines(run, NOW)
    assert (instants(dropped), dropped.version) == ({}, run.version + 1)


DRY = a_key(dry=True)


@pytest.mark.parametrize(
    ("sla", "status", "margin"),
    [
        ("{deadline: '10:00', expectedDuration: 30m}", "met", timedelta(hours=25, minutes=30)),
        ("{deadline: '10:00', expectedDuration: 26h}", "breach", timedelta(0)),  # at the instant
        ("{deadline: '10:00'}", "unknown", None),  # no expectedDuration
        ("{deadline: ':30', expectedDuration: 1h}", "unknown", None),  # a day has no such minute
    ],
)
def test_a_dry_run_is_held_against_the_deadline_it_does_not_have(
    sla: str, status: str, margin: timedelta | None
) -> None:
    pipeline = declared(f"sla: {sla}\ndryRun: true")
    found = projection(opened(pipeline, DRY), pipeline, NOW)
    assert found is not None
    assert (found.status, found.margin) == (status, margin)


def test_without_an_sla_there_is_nothing_to_project() -> None:
    assert projection(opened(declared(), DRY), declared(), NOW) is None


def test_the_rules_must_hold_within_the_window_of_the_attempt() -> None:
    pipeline = declared(
        "schedule: {trigger: {key: orders, check: exists}, evaluation: {window: 90m}}"
    )
    assert window_end(opened(pipeline), pipeline) == NOW + timedelta(minutes=90)
    waited = msgspec.structs.replace(opened(pipeline), waits_at=NOW + timedelta(hours=5))
    assert window_end(waited, pipeline) == NOW + timedelta(hours=6, minutes=30)


def test_a_date_that_was_pruned_opens_under_names_that_nothing_had_before() -> None:
    old = a_run(status=Status.COMPLETED, attempt=1, sla_verdict=SlaVerdict.MET)
    run = opened(sla=inherited(pruned(old, NOW)))
    assert (run.attempt, run.execution_name) == (2, execution_name(a_key(), 2))
    assert run.sla_verdict is SlaVerdict.MET
    assert inherited(None) == SlaState()
