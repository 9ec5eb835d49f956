"""The past of the demo: played by the real controller, and left as a server would have left it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.demo.demo_past import play_past
from interlock.demo.demo_project import write_project
from interlock.demo.demo_sources import DAY, HOUR, failed_day
from interlock.domain.event import EventType
from interlock.domain.run import Run, Status
from interlock.operations.requests import AuditQuery, EventsQuery, RunsQuery
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import Settings, read_settings

NOW = datetime.now(UTC)
FAILED = failed_day(NOW).isoformat()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("demo")
    write_project(folder, NOW.date(), failed_day(NOW))
    settings = read_settings(folder, {})
    heard: list[datetime] = []
    play_past(settings, NOW - 2 * DAY, NOW, heard.append)
    assert heard == sorted(heard) and heard[-1] <= NOW
    return settings


@pytest.fixture
def backend(settings: Settings) -> LocalBackend:
    return open_local_backend(settings)


def runs_of(backend: LocalBackend, pipeline: str) -> list[Run]:
    with backend:
        return backend.queries.runs(RunsQuery(pipeline=pipeline, limit=500)).items


def test_two_days_of_hours_are_done_and_nothing_lies_in_the_future(backend: LocalBackend) -> None:
    runs = runs_of(backend, "earthquake-silver")
    assert len(runs) > 40
    assert sum(run.status is Status.COMPLETED for run in runs) >= len(runs) - 4
    moments = [m for run in runs for m in (run.opened_at, run.completed_at, run.changed_at) if m]
    assert min(moments) >= NOW - 2 * DAY and max(moments) <= NOW


def test_no_job_of_the_past_is_left_running(backend: LocalBackend) -> None:
    with backend:
        found = backend.queries.runs(RunsQuery(limit=1000)).items
    assert [run.key for run in found if run.status in (Status.RUNNING, Status.TRIGGERING)] == []


def test_the_last_hour_of_coins_waits_for_more_of_them(backend: LocalBackend) -> None:
    newest, *_ = runs_of(backend, "crypto-silver")
    assert newest.status is Status.PENDING


def test_ada_paused_the_export_and_said_why(backend: LocalBackend) -> None:
    with backend:
        pause = backend.queries.pipeline("customer-export").pause
    assert pause is not None and pause.by == "ada" and "CRM" in pause.reason


def test_the_failed_date_has_no_reruns_left_and_grace_was_refused(backend: LocalBackend) -> None:
    with backend:
        run = backend.queries.run("invoices-report", "stream", FAILED).run
        rejected = EventsQuery(pipeline="invoices-report", type=EventType.RERUN_REJECTED)
        (refusal,) = backend.queries.events(rejected).items
        actors = {entry.actor for entry in backend.queries.audit(AuditQuery()).items}
    assert run.status is Status.FAILED_FINAL
    assert "budget" in refusal.message and {"ada", "grace"} <= actors


def test_jobs_of_the_past_have_their_output(backend: LocalBackend) -> None:
    with backend:
        output = backend.queries.output("invoices-report", "stream", FAILED)
    assert "there is no tax table for this month" in output.text
    assert output.exit_code == 65 and output.state == "ended"


def test_the_files_are_in_force_as_a_server_would_read_them(
    settings: Settings, tmp_path: Path
) -> None:
    with open_local_backend(settings) as backend:
        found = backend.queries.pipelines().items
        assert len(found) == 10 and not backend.queries.refused().items
        assert backend.queries.config("crypto-silver").adopted_at <= NOW - 2 * DAY + HOUR
