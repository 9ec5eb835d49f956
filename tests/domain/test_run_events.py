"""Events about a run, under the name a dry run would use."""

from datetime import UTC, datetime

from contracts.samples import a_key, a_run
from declared import declared
from interlock.domain.event import EventType, RowOverride, Severity, subject
from interlock.domain.run_events import about_date, about_run, run_subject

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
PIPELINE = declared()
DRY = a_key(dry=True)


def test_an_event_happens_when_its_run_changed() -> None:
    run = a_run(attempt=2, run_id="job-2")
    (event,) = about_run(EventType.JOB_TRIGGERED, run, PIPELINE, "go", jobType="glue")
    assert event.timestamp == run.changed_at
    assert (event.attempt, event.run_id) == (2, "job-2")
    assert event.event_id.endswith("/JOB_TRIGGERED/2")  # its part is the attempt, unless said


def test_an_event_may_have_a_time_parts_and_a_severity_of_its_own() -> None:
    (event,) = about_date(
        EventType.RETRY_EXHAUSTED,
        run_subject(a_run(), PIPELINE),
        NOW,
        "spent",
        parts=(0, "job"),
        override=RowOverride(Severity.CRITICAL, "elsewhere"),
    )
    assert (event.timestamp, event.severity) == (NOW, Severity.CRITICAL)
    assert event.detail["source"] == "elsewhere"


def test_a_date_without_a_run_has_events_too() -> None:
    (event,) = about_date(EventType.SLA_BREACH, subject(PIPELINE, a_key()), NOW, "late")
    assert (event.date, event.attempt, event.run_id) == ("2026-03-03", None, None)


def test_a_dry_run_tells_its_twin_with_what_that_may_hold() -> None:
    (event,) = about_run(
        EventType.JOB_COMPLETED, a_run(DRY), PIPELINE, "done", runId="x", durationSeconds=5
    )
    assert event.type is EventType.DRY_RUN_COMPLETED
    assert set(event.detail) == {"source"}


def test_a_dry_run_never_alarms() -> None:
    (event,) = about_date(
        EventType.RERUN_REJECTED,
        subject(PIPELINE, DRY),
        NOW,
        "refused",
        parts=("r",),
        override=RowOverride(Severity.CRITICAL),
        cause="budget",
    )
    assert (event.type, event.severity) == (EventType.DRY_RUN_RERUN_REJECTED, Severity.INFO)
    assert event.detail["cause"] == "budget"


def test_what_has_no_twin_is_not_told_of_a_dry_run() -> None:
    assert about_run(EventType.TRIGGER_STARTED, a_run(DRY), PIPELINE, "opened") == ()
    assert about_date(EventType.SLA_BREACH, subject(PIPELINE, DRY), NOW, "late") == ()
