"""Runs: of two writers one wins, and what belongs together is stored together."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from contracts.home import Home, tell
from contracts.samples import (
    KEY,
    LEASE,
    NOW,
    ManualClock,
    a_grant,
    a_key,
    a_request,
    a_run,
    an_event,
    many,
    reopened,
)
from interlock.domain.baseline import Baseline
from interlock.domain.budgets import Category, Spending
from interlock.domain.deadline import SlaVerdict
from interlock.domain.run import (
    DeadlineKind,
    Evidence,
    Failure,
    Judgement,
    MarkedAs,
    OutcomeMark,
    PostRunState,
    RuleRecord,
    Run,
    Skip,
    Status,
    execution_name,
)
from interlock.domain.sla import SlaWatch
from interlock.errors import NotFoundError

AtOnce = Callable[[Sequence[Callable[[], bool]]], list[bool]]

RUN = a_run()
TRIGGERING = RUN.to(Status.TRIGGERING, NOW)
RUNNING = TRIGGERING.to(Status.RUNNING, NOW)
FAILED = RUNNING.to(Status.FAILED, NOW)
COMPLETED = RUNNING.to(Status.COMPLETED, NOW, completed_at=NOW)
OWNER = str(KEY)
SKIPPED = a_run(status=Status.SKIPPED, skip=Skip(by="ada", at=NOW, reason="why", created=True))
FREED = SlaWatch(key=KEY, unskipped_at=NOW)


def store(home: Home, *versions: Run) -> None:
    assert home.runs.open(versions[0])
    for version in versions[1:]:
        assert home.runs.save(version)


def test_a_run_comes_back_as_it_was_stored(home: Home) -> None:
    run = a_run(
        evidence={"orders": Evidence("orders", "v", {"n": Decimal("12.50"), "m": 10**30})},
        verdict=Judgement(
            NOW, False, (RuleRecord("orders", "gte", "n", Decimal("0.1"), None, "x"),)
        ),
        job={"runId": "jr_1", "attempts": [1, Decimal("2.5"), None], "nested": {"a": ""}},
        failure=Failure("job", "it broke: ünï\n", Category.TIMEOUT),
        spending=Spending(1, 2, 3, 4),
        sla_armed={DeadlineKind.BREACH: NOW},
        post_run=PostRunState("passed", 2, {"audit": NOW}, ("x",)),
    )
    store(home, run)
    assert home.runs.get(KEY) == run


def test_a_date_without_a_run_is_not_found(home: Home) -> None:
    assert home.runs.find([KEY]) == {}
    with pytest.raises(NotFoundError, match="silver-orders/stream/2026-03-03"):
        home.runs.get(KEY)


def test_exactly_the_runs_asked_for_are_found(home: Home) -> None:
    runs = many(150, lambda n: a_run(a_key(pipeline_id=f"p{n}", schedule_id="s")))
    for run in runs:
        assert home.runs.open(run)
    wanted = [run.key for run in runs[:120]]
    assert home.runs.find([*wanted, KEY]) == {run.key: run for run in runs[:120]}
    assert home.runs.find([]) == {}


def test_a_dry_run_of_the_same_date_is_another_run(home: Home) -> None:
    dry = a_run(a_key(dry=True))
    store(home, RUN)
    store(home, dry)
    assert home.runs.find([KEY, dry.key]) == {KEY: RUN, dry.key: dry}


def test_of_fifty_concurrent_opens_one_wins(home: Home, at_once: AtOnce) -> None:
    def opening(number: int) -> Callable[[], bool]:
        return lambda: home.runs.open(a_run(opened_for=str(number)), [an_event(number)])

    won = at_once(many(50, opening))
    assert won.count(True) == 1
    winner = str(won.index(True))
    assert home.runs.get(KEY).opened_for == winner
    assert [event.event_id for event in home.outbox.pending(OWNER)] == [an_event(winner).event_id]


def test_only_the_first_to_save_a_version_wins(home: Home) -> None:
    store(home, RUN)
    assert home.runs.save(TRIGGERING)
    assert not home.runs.save(RUN.to(Status.FAILED, NOW))
    assert home.runs.get(KEY) == TRIGGERING


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(RUN, id="the version that is stored"),
        pytest.param(RUNNING, id="the version after the next"),
        pytest.param(msgspec.structs.replace(TRIGGERING, version=3), id="a version left out"),
        pytest.param(RUN.changed(NOW, status=Status.RUNNING), id="a state left out"),
        pytest.param(RUN.changed(NOW, attempt=1), id="an attempt opened while one is open"),
        pytest.param(msgspec.structs.replace(TRIGGERING, attempt=1), id="another attempt's move"),
    ],
)
def test_what_is_not_the_next_version_cannot_be_written(home: Home, late: Run) -> None:
    store(home, RUN)
    assert not home.runs.save(late)
    assert home.runs.get(KEY) == RUN


@pytest.mark.parametrize("status", [Status.SKIPPED, Status.COMPLETED, Status.PENDING])
def test_a_state_that_no_arrow_leads_to_cannot_be_written(home: Home, status: Status) -> None:
    store(home, RUN, TRIGGERING)
    assert not home.runs.save(TRIGGERING.changed(NOW, status=status))
    assert home.runs.get(KEY) == TRIGGERING


def test_what_people_said_comes_back_as_it_was_stored(home: Home) -> None:
    mark = OutcomeMark(
        outcome=MarkedAs.DONE, by="ada", at=NOW, reason="ünï", evidence={"rows": "1", "": ""}
    )
    run = a_run(skip=Skip(by="", at=NOW, reason="a holiday", created=True), mark=mark)
    store(home, run)
    assert home.runs.get(KEY) == run


def test_a_removed_run_leaves_its_date_free_and_its_watch_with_the_events(home: Home) -> None:
    store(home, SKIPPED)
    event = an_event("unskipped")
    assert home.runs.remove(SKIPPED, FREED, [event])
    assert home.runs.find([KEY]) == {} and home.runs.active() == []
    assert home.claims.watch(KEY) == FREED
    assert home.outbox.pending(f"{KEY}/sla") == [event]
    tell(home, [event])
    assert home.runs.open(RUN)
    assert home.runs.get(KEY) == RUN


def test_a_run_is_removed_only_as_it_was_seen(home: Home) -> None:
    store(home, SKIPPED)
    later = SKIPPED.changed(NOW)
    assert home.runs.save(later)
    assert not home.runs.remove(SKIPPED, FREED)
    assert not home.runs.remove(later.changed(NOW, status=Status.PENDING), FREED)
    assert home.runs.get(KEY) == later and home.claims.watch(KEY) is None
    assert home.runs.remove(later, FREED)
    assert not home.runs.remove(later, msgspec.structs.replace(FREED, version=2))


def test_a_run_stays_if_its_watch_has_moved_on_or_its_events_wait(home: Home) -> None:
    assert home.claims.save_watch(FREED)
    assert home.runs.open(SKIPPED, [an_event()])
    following = msgspec.structs.replace(FREED, version=2)
    assert not home.runs.remove(SKIPPED, following)
    tell(home, [an_event()])
    assert not home.runs.remove(SKIPPED, FREED)
    assert not home.runs.remove(SKIPPED, msgspec.structs.replace(FREED, version=3))
    assert home.runs.get(KEY) == SKIPPED
    assert home.runs.remove(SKIPPED, following)
    assert home.claims.watch(KEY) == following


def test_of_many_that_remove_a_run_one_wins(home: Home, at_once: AtOnce) -> None:
    store(home, SKIPPED)
    assert at_once([lambda: home.runs.remove(SKIPPED, FREED)] * 8).count(True) == 1


def test_a_message_about_an_attempt_that_is_over_changes_nothing(home: Home) -> None:
    second = reopened(FAILED)
    store(home, RUN, TRIGGERING, RUNNING, FAILED, second)
    late = msgspec.structs.replace(COMPLETED, version=second.version + 1)
    assert not home.runs.save(late)
    assert home.runs.get(KEY) == second


@pytest.mark.parametrize("ended", [FAILED, COMPLETED, RUNNING.to(Status.FAILED_FINAL, NOW)])
def test_a_run_that_has_ended_can_be_opened_again(home: Home, ended: Run) -> None:
    store(home, RUN, TRIGGERING, RUNNING, ended, reopened(ended))
    assert home.runs.get(KEY).attempt == 1


def test_a_run_that_was_never_opened_cannot_be_saved(home: Home) -> None:
    assert not home.runs.save(TRIGGERING, [an_event()])
    assert home.runs.find([KEY]) == {} and home.outbox.pending(OWNER) == []


def test_what_comes_with_a_version_is_stored_with_it(home: Home) -> None:
    baseline = Baseline(0, {"audit": Evidence("audit", "v", {"count": Decimal("1.10")})})
    store(home, RUN, TRIGGERING, RUNNING)
    assert home.runs.save(COMPLETED, [an_event(1), an_event(2)], baseline=baseline)
    assert home.runs.baseline(KEY) == baseline

    second = reopened(COMPLETED)
    assert home.runs.save(second, rerun=a_grant(), request=a_request())
    assert home.outbox.pending(OWNER) == [an_event(1), an_event(2)]
    assert home.reruns.granted(KEY) == [a_grant()]
    assert home.reruns.unjudged() == [a_request()]
    assert [change.request for change in home.changes()] == [a_request()]


def test_nothing_of_a_lost_write_is_stored(home: Home) -> None:
    store(home, RUN, TRIGGERING)
    lost = RUN.to(Status.FAILED, NOW)
    assert not home.runs.save(
        lost, [an_event()], baseline=Baseline(0, {}), rerun=a_grant(), request=a_request()
    )
    assert not home.runs.open(RUN, [an_event()])
    assert home.outbox.pending(OWNER) == []
    assert home.runs.baseline(KEY) is None
    assert home.reruns.granted(KEY) == [] and home.reruns.unjudged() == []
    assert home.changes() == []


def test_a_retry_is_spent_once_however_many_fire_it(home: Home, at_once: AtOnce) -> None:
    store(home, RUN, TRIGGERING, RUNNING, FAILED)
    second = reopened(FAILED, spending=Spending(retries=1))
    won = at_once([lambda: home.runs.save(second, rerun=a_grant())] * 20)
    assert won.count(True) == 1
    assert home.runs.get(KEY).spending == Spending(retries=1)
    assert home.reruns.granted(KEY) == [a_grant()]


def test_the_baseline_of_a_later_attempt_takes_the_place_of_an_earlier_one(home: Home) -> None:
    store(home, RUN, TRIGGERING, RUNNING)
    home.runs.save(COMPLETED, baseline=Baseline(0, {}))
    run = home.runs.get(KEY)
    for version in (reopened(run), Status.TRIGGERING, Status.RUNNING):
        run = version if isinstance(version, Run) else run.to(version, NOW)
        assert home.runs.save(run)
    assert home.runs.save(run.to(Status.COMPLETED, NOW), baseline=Baseline(1, {}))
    assert home.runs.baseline(KEY) == Baseline(1, {})


DRY_RUN = a_run(a_key(dry=True))
DRY_FAILED = DRY_RUN.to(Status.FAILED, NOW)


def test_an_expired_dry_run_is_absent_and_its_date_can_be_opened(
    home: Home, clock: ManualClock
) -> None:
    store(home, DRY_RUN, DRY_FAILED)
    clock.now = DRY_RUN.lease_until + timedelta(days=91) - timedelta(microseconds=1)
    assert home.runs.get(DRY_RUN.key) == DRY_FAILED
    assert not home.runs.open(a_run(DRY_RUN.key, now=clock.now))

    clock.advance(microseconds=1)
    assert home.runs.find([DRY_RUN.key]) == {} and home.runs.active() == []
    again = a_run(DRY_RUN.key, now=clock.now)
    assert home.runs.open(again)
    assert home.runs.get(DRY_RUN.key) == again


def test_a_date_that_was_opened_again_can_be_retried_again(home: Home, clock: ManualClock) -> None:
    grant = a_grant(key=DRY_RUN.key)
    store(home, DRY_RUN, DRY_FAILED)
    again = reopened(DRY_FAILED)
    assert home.runs.save(again, rerun=grant)
    assert home.runs.save(again.to(Status.FAILED, NOW))
    clock.advance(days=100)
    fresh = a_run(DRY_RUN.key, now=clock.now)
    failed = fresh.to(Status.FAILED, clock.now)
    store(home, fresh, failed)
    assert home.runs.save(reopened(failed, clock.now), rerun=grant)


@pytest.mark.parametrize("versions", [[RUN], [RUN, TRIGGERING], [RUN, TRIGGERING, RUNNING, FAILED]])
def test_no_step_of_the_clock_makes_a_run_vanish(
    home: Home, clock: ManualClock, versions: list[Run]
) -> None:
    store(home, *versions)
    store(home, DRY_RUN)
    clock.advance(days=4000)
    assert home.runs.find([KEY, DRY_RUN.key]) == {KEY: versions[-1], DRY_RUN.key: DRY_RUN}
    assert len(home.runs.active()) == 2
    assert not home.runs.open(a_run(now=clock.now))


def test_a_finished_run_stays(home: Home, clock: ManualClock) -> None:
    store(home, RUN, TRIGGERING, RUNNING, COMPLETED)
    clock.advance(days=4000)
    assert home.runs.find([KEY]) == {KEY: COMPLETED}


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("run", "due_after"),
    [
        pytest.param(RUN, timedelta(minutes=2), id="not started yet"),
        pytest.param(msgspec.structs.replace(RUN, started_at=NOW), LEASE, id="its lease ends"),
        pytest.param(RUN.to(Status.TRIGGERING, NOW), LEASE, id="its lease ends while launching"),
        pytest.param(
            a_run(status=Status.FAILED, retry_at=NOW + HOUR),
            HOUR + timedelta(minutes=2),
            id="its retry did not come",
        ),
        pytest.param(a_run(status=Status.FAILED), None, id="failed, and nothing is due"),
        pytest.param(a_run(status=Status.COMPLETED), None, id="completed"),
        pytest.param(
            a_run(status=Status.COMPLETED, post_run_due_at=NOW + HOUR), HOUR, id="post-run readings"
        ),
        pytest.param(
            a_run(
                status=Status.COMPLETED,
                post_run_due_at=NOW + HOUR,
                post_run=PostRunState(missing_judged=True),
            ),
            None,
            id="post-run readings were judged",
        ),
        pytest.param(
            a_run(
                status=Status.FAILED_FINAL,
                relative_warning_at=NOW + HOUR,
                relative_breach_at=NOW + 2 * HOUR,
            ),
            2 * HOUR,
            id="a breach, and no warning, of a failed run",
        ),
        pytest.param(
            a_run(
                status=Status.FAILED,
                relative_warning_at=NOW + HOUR,
                relative_breach_at=NOW + 2 * HOUR,
                sla_told=(DeadlineKind.RELATIVE_WARNING,),
            ),
            2 * HOUR,
            id="a breach, once the warning was told",
        ),
        pytest.param(
            a_run(
                status=Status.FAILED,
                relative_warning_at=NOW + HOUR,
                relative_breach_at=NOW + 2 * HOUR,
                sla_told=(DeadlineKind.RELATIVE_BREACH,),
            ),
            None,
            id="a breach that was told makes its warning idle",
        ),
        pytest.param(
            a_run(
                status=Status.COMPLETED,
                relative_breach_at=NOW + HOUR,
                sla_verdict=SlaVerdict.MET,
            ),
            None,
            id="done in time",
        ),
        pytest.param(
            a_run(status=Status.COMPLETED, relative_breach_at=NOW + HOUR),
            timedelta(minutes=2),
            id="done, and without a verdict",
        ),
        pytest.param(
            a_run(status=Status.COMPLETED, cascading=True),
            timedelta(minutes=2),
            id="done, and downstream has not heard of it",
        ),
        pytest.param(
            a_run(a_key(dry=True)), timedelta(minutes=2), id="a dry run that was never started"
        ),
        pytest.param(
            a_run(a_key(dry=True), status=Status.FAILED, retry_at=NOW),
            None,
            id="a dry run is not retried",
        ),
    ],
)
def test_a_run_is_due_exactly_when_the_watchdog_must_look(
    home: Home, run: Run, due_after: timedelta | None
) -> None:
    assert home.runs.open(run)
    if due_after is None:
        assert home.runs.due(NOW + timedelta(days=6)) == []
    else:
        assert home.runs.due(NOW + due_after - timedelta(milliseconds=1)) == []
        assert home.runs.due(NOW + due_after) == [run]


def test_a_run_with_an_outbox_is_due_until_it_is_published(home: Home) -> None:
    run = a_run(status=Status.FAILED)
    assert home.runs.open(run, [an_event(1), an_event(2)])
    minute = NOW + timedelta(minutes=1)
    assert home.runs.due(minute - timedelta(milliseconds=1)) == []
    assert home.runs.due(minute) == [run]
    tell(home, [an_event(1)])
    assert home.runs.due(minute) == [run]
    tell(home, [an_event(2)])
    assert home.runs.due(minute) == []


def test_a_run_that_is_due_for_two_reasons_is_listed_once(home: Home) -> None:
    store(home, RUN)
    assert home.runs.save(TRIGGERING, [an_event()])
    assert home.runs.due(NOW + timedelta(days=1)) == [TRIGGERING]


def test_a_run_leaves_the_watch_list_with_what_was_watched_for(home: Home) -> None:
    store(home, RUN, TRIGGERING, RUNNING)
    late = NOW + timedelta(days=1)
    assert home.runs.due(late) == [RUNNING]
    assert home.runs.save(COMPLETED)
    assert home.runs.due(late) == []


def test_failed_runs_of_a_schedule_are_found_from_a_date_on(home: Home) -> None:
    failed = ("2026-03-02", "2026-03-03", "2026-03-03T05", "2026-03-05")
    for date in failed:
        key = a_key(date=date)
        store(home, a_run(key), a_run(key).to(Status.FAILED, NOW))
    for key in (a_key(date="2026-03-04"), a_key(schedule_id="zzz"), a_key(dry=True)):
        store(home, a_run(key))  # open, of another schedule, and dry
    found = home.runs.failed_since(a_key(date="2026-03-03"))
    assert sorted(run.key.date for run in found) == list(failed[1:])
    assert home.runs.failed_since(a_key(schedule_id="zz", date="2026-03-03")) == []


def test_runs_that_are_not_final_are_active_the_oldest_first(home: Home) -> None:
    def opened(number: int, status: Status) -> Run:
        key = a_key(date=f"2026-03-0{number}")
        at = NOW - timedelta(hours=number)
        return a_run(key, at, status=status, execution_name=execution_name(key, 0))

    runs = [opened(number, status) for number, status in enumerate(Status, 1)]
    for run in runs:
        assert home.runs.open(run)
    assert [run.status for run in home.runs.active()] == [
        Status.FAILED,
        Status.RUNNING,
        Status.TRIGGERING,
        Status.PENDING,
    ]


def test_open_runs_are_known_by_their_executions(home: Home) -> None:
    for number, status in enumerate(Status, 1):
        assert home.runs.open(a_run(a_key(date=f"2026-03-0{number}"), status=status))
    assert home.runs.open(a_run(a_key(dry=True)))
    open_ = [a_key(date=f"2026-03-0{number}") for number in (1, 2, 3)]  # the first three are open
    open_.append(a_key(dry=True))
    assert home.runs.open_executions() == {execution_name(key, 0): key for key in open_}
    old = a_run(a_key(date="2025-01-01"), NOW - timedelta(days=400))
    assert home.runs.open(old)
    assert old.key in home.runs.open_executions().values()


def labelled(pipeline_id: str, date: str) -> Run:
    return a_run(a_key(pipeline_id=pipeline_id, date=date))


def test_runs_are_listed_by_their_dates_the_newest_first(home: Home) -> None:
    labels = ["2026-02-28", "2026-03-01", "2026-03-02T00", "2026-03-02T23", "2026-03-03"]
    for label in labels:
        store(home, labelled("a", label))
    store(home, labelled("b", "2026-03-01"))

    def listed(*asked: Any) -> list[tuple[str, str]]:
        return [(run.key.pipeline_id, run.key.date) for run in home.runs.of_pipeline(*asked)]

    assert listed("a", "2026-03-01", "2026-03-02", 10) == [
        ("a", "2026-03-02T23"),  # the hours of the last day belong to it
        ("a", "2026-03-02T00"),
        ("a", "2026-03-01"),
    ]
    assert listed(None, "2026-03-01", "2026-03-01", 10) == [
        ("a", "2026-03-01"),
        ("b", "2026-03-01"),
    ]
    assert listed("a", "2026-01-01", "2026-12-31", 1) == [("a", "2026-03-03")]
    assert listed("c", "2026-01-01", "2026-12-31", 10) == []
