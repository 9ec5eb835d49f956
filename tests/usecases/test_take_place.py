"""Places for jobs: taken by one conditional write, kept by what the runs say, and handed on when they end."""

from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.budgets import Category
from interlock.domain.event import EventType
from interlock.domain.job_record import HANDED_OVER, JobRecord
from interlock.domain.places import Places
from interlock.domain.run import Run, RunKey, Status, execution_name
from interlock.errors import TransientError
from interlock.lifecycle.modes import ORCHESTRATOR, call
from interlock.queries.why import explain
from interlock.simulation.scenario import JobScript
from interlock.usecases.note_job_record import note_job_record
from interlock.usecases.retry_job import retry_job
from interlock.usecases.take_place import leave_place, take_place
from usecases.home import NOW, Home, assert_a_crash_changes_nothing

ONE = "job: {type: command, config: {command: [etl]}, maxConcurrent: 1, maxRetries: 1}"
SHORT = "\nvalidation: {rules: [{key: orders, check: gte, field: count, value: 100}]}"
FIRST, SECOND, THIRD = (RunKey("silver-orders", "stream", f"2026-03-0{n}") for n in (1, 2, 3))
WINDOW = timedelta(hours=1)


def opened(home: Home, *keys: RunKey, text: str = ONE, count: int = 200) -> None:
    home.adopt(text)
    for key in keys:
        home.admit(f"orders#{key.date}", date=key.date, count=count)


def look(home: Home, key: RunKey, **also: Any) -> dict[str, Any]:
    answer: dict[str, Any] = home.mode("evaluate", key, **also)
    return answer


def launch(home: Home, key: RunKey) -> None:
    assert look(home, key)["passed"]
    home.mode("trigger", key)
    home.jobs.launches[-1].script = JobScript(hang=True)


def end(home: Home, key: RunKey, event: str = "success", **facts: Any) -> None:
    record = JobRecord(
        key=key, at=home.clock(), event=event, attempt=home.run(key).attempt, **facts
    )
    home.store.job_log.append(record)
    home.mode("check-job", key, watched="")
    home.mode("complete-trigger", key, event=event, ending="")


def places(home: Home) -> Places:
    found = home.store.claims.places("silver-orders")
    assert found is not None
    return found


def test_a_further_date_waits_at_the_gate_and_says_for_whom(home: Home) -> None:
    opened(home, FIRST, SECOND)
    launch(home, FIRST)
    answer = look(home, SECOND)
    assert (answer["passed"], answer["exhausted"], answer["failing"]) == (False, False, [])
    assert answer["waitSeconds"] == 300
    run = home.run(SECOND)
    assert (run.status, run.waits_for, run.waits_at) == (Status.PENDING, (FIRST,), NOW)
    assert (run.ready_at, run.evidence) == (NOW, {})  # the evidence is that of the launch
    assert len(home.events(EventType.VALIDATION_PASSED)) == 2
    (why,) = explain("silver-orders", home.ports, SECOND.date)
    assert why.headline == "its rules hold, and it waits for a place (attempt 0)"
    assert why.blocked_by == ("waits for a place behind 2026-03-01",)
    assert why.unblock == ("the end of 2026-03-01",)
    end(home, FIRST)
    assert look(home, SECOND)["passed"]
    run = home.run(SECOND)
    assert run.waits_for == () and run.evidence and run.verdict is not None and run.verdict.ready
    assert len(home.events(EventType.VALIDATION_PASSED)) == 2  # once an attempt


def test_the_next_one_is_called_when_a_job_ends(home: Home) -> None:
    opened(home, FIRST, SECOND)
    home.scripts["silver-orders"] = (JobScript(after="10m"),)
    home.settle()
    assert [each.date for each in home.jobs.launches] == ["2026-03-01"]
    home.pass_time(minutes=10)
    home.store.workflows.wake_all(home.clock())  # the engine hears of the end
    home.settle()
    assert [each.date for each in home.jobs.launches] == ["2026-03-01", "2026-03-02"]
    assert home.run(FIRST).status is Status.COMPLETED


def test_waiting_for_a_place_does_not_close_the_window(home: Home) -> None:
    opened(home, FIRST, SECOND, text=ONE + SHORT)
    launch(home, FIRST)
    for _ in range(30):
        assert not look(home, SECOND)["exhausted"]
        home.pass_time(minutes=5)
    end(home, FIRST)
    assert look(home, SECOND)["passed"]


def test_rules_that_never_held_close_the_window_whatever_place_is_free(home: Home) -> None:
    opened(home, FIRST, text=ONE + SHORT)
    opened(home, SECOND, text=ONE + SHORT, count=5)
    launch(home, FIRST)
    assert look(home, SECOND)["failing"] == ["orders.count is 5, needs >= 100"]
    assert home.run(SECOND).waits_for == ()
    home.pass_time(hours=1)
    assert look(home, SECOND)["exhausted"]


def test_a_launch_rests_on_a_verdict_that_was_made_with_its_place(home: Home) -> None:
    opened(home, FIRST, SECOND, text=ONE + SHORT)
    launch(home, FIRST)
    look(home, SECOND)
    home.pass_time(minutes=50)
    home.reading("orders#2026-03-02", date="2026-03-02", count=5)
    assert look(home, SECOND)["failing"] == ["orders.count is 5, needs >= 100"]
    run = home.run(SECOND)
    assert (run.waits_for, run.waits_at) == ((FIRST,), home.clock())  # no place either way
    (why,) = explain("silver-orders", home.ports, SECOND.date)
    assert why.blocked_by == (
        "orders.count is 5, needs >= 100",
        "waits for a place behind 2026-03-01",
    )
    assert places(home).waiting == ()  # it holds up no other
    end(home, FIRST)
    assert not look(home, SECOND)["exhausted"]
    assert home.run(SECOND).waits_for == ()
    home.pass_time(minutes=59)
    answer = look(home, SECOND)
    assert (answer["passed"], answer["exhausted"], answer["waitSeconds"]) == (False, False, 60)
    home.pass_time(minutes=1)
    assert look(home, SECOND)["exhausted"]  # a whole window after the place was free
    home.mode("validation-exhausted", SECOND)
    event = home.event(EventType.VALIDATION_EXHAUSTED)
    assert event.detail["windowEnd"] == "2026-03-03T09:50:00Z"


@pytest.mark.parametrize("holds", [True, False])
def test_a_wait_through_an_outage_longer_than_the_window_fails_nothing(
    home: Home, holds: bool
) -> None:
    opened(home, FIRST, SECOND, text=ONE + SHORT)
    launch(home, FIRST)
    look(home, SECOND)
    end(home, FIRST)
    home.pass_time(hours=9)
    if not holds:
        home.reading("orders#2026-03-02", date="2026-03-02", count=5)
    answer = look(home, SECOND)
    assert answer["passed"] is holds
    assert holds or not answer["exhausted"]


def test_a_retry_asks_for_a_place_of_its_own(home: Home) -> None:
    opened(home, FIRST, SECOND)
    launch(home, FIRST)
    look(home, SECOND)
    end(home, FIRST, "fail", category=Category.TRANSIENT)
    launch(home, SECOND)
    home.pass_time(seconds=30)
    assert retry_job(FIRST, 0, home.ports) is not None
    assert not look(home, FIRST)["passed"]
    assert home.run(FIRST).waits_for == (SECOND,)
    end(home, SECOND)
    assert look(home, FIRST)["passed"]


def test_the_older_of_two_that_wait_goes_first(home: Home) -> None:
    opened(home, FIRST, SECOND, THIRD)
    launch(home, FIRST)
    for key in (THIRD, SECOND):
        assert not look(home, key)["passed"]
    end(home, FIRST)
    assert not look(home, THIRD)["passed"]
    assert home.run(THIRD).waits_for == (SECOND,)
    launch(home, SECOND)
    home.pass_time(minutes=1)
    end(home, SECOND)
    assert look(home, THIRD)["passed"]


def test_a_run_that_no_longer_looks_holds_up_no_other(home: Home) -> None:
    opened(home, FIRST, SECOND, THIRD)
    launch(home, FIRST)
    for key in (SECOND, THIRD):
        look(home, key)
    end(home, FIRST)
    home.pass_time(minutes=12)
    assert look(home, THIRD)["passed"]


def test_jobs_that_run_when_the_limit_comes_are_counted(home: Home) -> None:
    opened(home, FIRST, text="")
    launch(home, FIRST)
    opened(home, SECOND)
    assert not look(home, SECOND)["passed"]
    assert home.run(SECOND).waits_for == (FIRST,)
    end(home, FIRST)
    assert look(home, SECOND)["passed"]


@pytest.mark.parametrize("text", ["", "dryRun: true\n" + ONE])
def test_where_nothing_is_limited_nothing_is_asked(home: Home, text: str) -> None:
    config = home.adopt(text)
    home.admit(date="2026-03-02")
    dry = config.pipeline.dry_run
    key = RunKey("silver-orders", "stream", "2026-03-02", dry=dry)

    class Untouched:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    ports = home.with_ports(claims=Untouched())
    assert take_place(home.run(key), config.pipeline, NOW, ports) == ()
    assert leave_place(home.run(key), config.pipeline, ports) == ()


class Raced:
    """Marks in which another writer gets there first, a number of times."""

    def __init__(self, claims: Any, times: int, between: Any = lambda: None) -> None:
        self._marks, self.times, self._between = claims, times, between

    def __getattr__(self, name: str) -> Any:
        return getattr(self._marks, name)

    def save_places(self, found: Places) -> bool:
        if self.times:
            self.times -= 1
            self._between()
            return False
        return bool(self._marks.save_places(found))


def test_of_two_that_see_one_free_place_one_waits(home: Home) -> None:
    opened(home, FIRST, SECOND)

    def first_wins() -> None:
        launch(home, FIRST)

    raced = home.with_ports(claims=Raced(home.store.claims, 1, first_wins))
    answer = call(ORCHESTRATOR, home.payload("evaluate", SECOND), raced)
    assert not answer["passed"]
    assert home.run(SECOND).waits_for == (FIRST,)


def test_a_row_that_others_write_all_the_time_fails_the_step(home: Home) -> None:
    opened(home, FIRST)
    ports = home.with_ports(claims=Raced(home.store.claims, 100))
    with pytest.raises(TransientError, match="other runs took its place first"):
        call(ORCHESTRATOR, home.payload("evaluate", FIRST), ports)
    assert look(home, FIRST)["passed"]


@pytest.mark.parametrize("key", [FIRST, SECOND])
def test_dying_at_any_line_changes_nothing(key: RunKey) -> None:
    """Of the one that gets the place, and of the one that waits for it."""

    def scene(home: Home) -> None:
        opened(home, FIRST, SECOND)
        if key is SECOND:
            launch(home, FIRST)

    plain = assert_a_crash_changes_nothing(scene, lambda home: look(home, key))
    assert [each.date for each in places(plain).holders] == ["2026-03-01"]


def test_a_place_that_was_taken_before_a_crash_is_given_back_if_the_rules_fail(home: Home) -> None:
    opened(home, FIRST, SECOND, text=ONE + SHORT)
    run = home.run(FIRST)
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    take_place(run, config.pipeline, NOW, home.ports)  # and then it died
    home.reading("orders#2026-03-01", date="2026-03-01", count=1)
    look(home, FIRST)
    assert places(home).holders == ()
    assert look(home, SECOND)["passed"]


# --- waits that outlast an execution


def waits_long(home: Home) -> Run:
    """A run that has waited for as long as its execution has time."""
    opened(home, FIRST, SECOND)
    launch(home, FIRST)
    look(home, SECOND, executionName=execution_name(SECOND, 0))
    home.pass_time(hours=2, minutes=50)
    return home.run(SECOND)


def test_a_wait_that_outlasts_an_execution_goes_on_in_the_next(home: Home) -> None:
    name = waits_long(home).execution_name
    answer = look(home, SECOND, executionName=name)
    assert answer["current"] is False  # this one ends
    run = home.run(SECOND)
    assert run.execution_name == f"{name}-wait-1"
    assert (run.started_at, run.handovers, run.waits_for) == (None, 1, (FIRST,))
    assert run.lease_until == home.clock() + home.ports.lease
    (record,) = [each for each in home.store.job_log.of_run(SECOND) if each.attempt == 0]
    assert (record.event, record.at) == (HANDED_OVER, home.clock())
    assert run.execution_name not in home.started()
    note_job_record(record, home.ports)
    assert run.execution_name in home.started()
    # it looks on where the other one ended, and may be handed over again
    look(home, SECOND, executionName=run.execution_name)
    assert home.run(SECOND).started_at == home.clock()
    home.pass_time(hours=2, minutes=50)
    look(home, SECOND, executionName=run.execution_name)
    lines = [each.event for each in home.store.job_log.of_run(SECOND)]
    assert lines == [HANDED_OVER, f"{HANDED_OVER}-2"]
    end(home, FIRST)
    last = home.run(SECOND).execution_name
    assert last.endswith("-wait-2")
    assert look(home, SECOND, executionName=last)["passed"]


def test_an_execution_that_was_relieved_does_nothing_more(home: Home) -> None:
    name = waits_long(home).execution_name
    look(home, SECOND, executionName=name)
    end(home, FIRST)
    version = home.run(SECOND).version
    for _ in range(2):  # called again, it sees to it that the next one is started
        assert look(home, SECOND, executionName=name)["current"] is False
    assert home.run(SECOND).version == version
    assert len(home.store.job_log.of_run(SECOND)) == 1


def test_dying_while_a_wait_is_handed_over_changes_nothing() -> None:
    name = execution_name(SECOND, 0)
    assert_a_crash_changes_nothing(waits_long, lambda home: look(home, SECOND, executionName=name))


@pytest.mark.parametrize(
    "news",
    [
        {"attempt": 1},  # of another attempt
        {"key": THIRD},  # of a date without a run
    ],
)
def test_a_record_that_is_not_a_handover_starts_nothing(home: Home, news: dict[str, Any]) -> None:
    look(home, SECOND, executionName=waits_long(home).execution_name)
    before = home.started()
    given: dict[str, Any] = {"key": SECOND, "at": NOW, "event": HANDED_OVER, "attempt": 0}
    note_job_record(JobRecord(**given | news), home.ports)
    assert home.started() == before


def test_a_wait_whose_schedule_is_gone_ends(home: Home) -> None:
    look(home, SECOND, executionName=waits_long(home).execution_name)
    home.adopt("schedules: [{id: a, cron: '0 6 * * *'}, {id: b, cron: '0 7 * * *'}]")
    record = home.store.job_log.of_run(SECOND)[-1]
    for _ in range(2):
        note_job_record(record, home.ports)
    run = home.run(SECOND)
    assert run.status is Status.FAILED_FINAL
    assert run.failure is not None and run.failure.reason == "schedule"
    event = home.event(EventType.RETRY_EXHAUSTED)
    assert event.message == "a date that waited for a place was dropped: its schedule was removed"
    assert event.date == SECOND.date


def test_jobs_that_may_take_as_long_as_an_execution_are_not_handed_over_at_every_look(
    home: Home,
) -> None:
    opened(
        home,
        FIRST,
        SECOND,
        text=ONE.replace("maxRetries", "jobPollWindowSeconds: 86400, maxRetries"),
    )
    launch(home, FIRST)
    look(home, SECOND)
    home.pass_time(minutes=14)
    look(home, SECOND)
    assert home.run(SECOND).handovers == 0
    home.pass_time(minutes=1)
    look(home, SECOND)
    assert home.run(SECOND).handovers == 1
