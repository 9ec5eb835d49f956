"""Small structs that stores and doors exchange: what they answer about themselves."""

from datetime import UTC, datetime

from interlock.domain import baseline, callers, change, job, waiting_for, watchdog_state
from interlock.domain.alerting import manner
from interlock.domain.history import Tally
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey, Status

NOW = datetime(2026, 3, 3, 10, 0, 0, 7, tzinfo=UTC)
KEY = RunKey("silver", "stream", "2026-03-03T10")


def test_a_request_is_known_by_its_instant_to_the_microsecond() -> None:
    request = RerunRequest(key=KEY, reason="manual", requested_at=NOW)
    assert request.id == "2026-03-03T10:00:00.000007+00:00"


def test_a_tally_belongs_to_the_day_of_its_newest_run() -> None:
    tally = Tally(newest=KEY, status=Status.COMPLETED, sla_verdict=None, count=3)
    assert tally.day == "2026-03-03"


def test_nothing_is_known_before_anything_happened() -> None:
    assert baseline.Baseline(0, {}).readings == {}
    assert (
        change.Change(id="1", kind=change.ChangeKind.JOB, pipeline_id="p", key="k", at=NOW).record
        is None
    )
    assert [str(each) for each in waiting_for.WaitingFor] == ["rules", "job"]
    assert not job.Running().unseen
    assert watchdog_state.WatchdogState().last_pass_at is None
    assert not manner.Manner().threaded


def test_no_token_can_be_given_the_installation_itself() -> None:
    assert set(callers.Scope) - set(callers.GRANTABLE) == {callers.Scope.OWN}
    token = callers.Token(name="ci", hash="h", scopes=("read",), created_at=NOW)
    assert token.pipelines == ()
    entry = callers.AuditEntry(at=NOW, actor="ada", action="pause", target="silver")
    assert entry.reason == ""
