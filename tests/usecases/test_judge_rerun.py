"""Judging a rerun: granted in one write with the new attempt, or refused with its cause."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from interlock.domain.budgets import Category, Spending
from interlock.domain.event import EventType
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Cause, Granted, RerunRefused
from interlock.domain.run import OpenedBy, RunKey, Status
from interlock.errors import TransientError
from interlock.simulation.scenario import Call, JobScript, LaunchOutcome
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.pause import pause, resume
from usecases.home import KEY, Home, assert_a_crash_changes_nothing

ACCEPTED, REJECTED = EventType.RERUN_ACCEPTED, EventType.RERUN_REJECTED
USUAL = "job: {type: command, config: {command: [etl]}, maxManualReruns: 1, maxDriftReruns: 1}"
WEEKDAYS = "schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}"


def judged(home: Home, **given: Any) -> Granted | RerunRefused | None:
    home.pass_time(seconds=1)
    return judge_rerun(home.request(**given), home.ports)


def cause(home: Home, **given: Any) -> Cause:
    answer = judged(home, **given)
    assert isinstance(answer, RerunRefused)
    return answer.cause


def failed(home: Home, text: str = USUAL) -> None:
    home.adopt(text)
    home.launched(count=1)
    home.finish("fail", category="TRANSIENT")


def test_a_failed_date_is_run_again(home: Home) -> None:
    failed(home)
    answer = judged(home)
    assert isinstance(answer, Granted)
    run = home.run()
    assert (run.status, run.attempt, run.opened_by) == (Status.PENDING, 1, OpenedBy.RERUN)
    assert run.spending == Spending(manual_reruns=1)
    event = home.event(ACCEPTED)
    assert event.detail["reason"] == "manual"
    assert event.detail["requestedBy"] == "ada"
    assert (event.detail["budget"], event.detail["spent"], event.detail["max"]) == (
        "manual_reruns", 1, 1,
    )  # fmt: skip
    (record,) = home.store.reruns.granted(KEY)
    assert (record.attempt, record.source) == (1, "manual")
    assert home.started()[-1].endswith("-rerun-1")


def test_a_date_without_a_run_is_opened_and_costs_nothing(home: Home) -> None:
    home.adopt()
    assert judged(home) == Granted(None)
    run = home.run()
    assert (run.attempt, run.opened_by, run.opened_for) == (0, OpenedBy.RERUN, "manual")
    assert run.spending == Spending()
    assert home.told() == ["TRIGGER_STARTED", "RERUN_ACCEPTED"]


@pytest.mark.parametrize(
    ("scene", "key", "expected"),
    [
        (lambda home: None, KEY, Cause.UNKNOWN_PIPELINE),
        (lambda home: home.adopt(), RunKey("silver-orders", "nope", "2026-03-03"), Cause.UNKNOWN_PIPELINE),
        (lambda home: (home.adopt(), home.take_away()), KEY, Cause.UNKNOWN_PIPELINE),
        (lambda home: home.adopt(WEEKDAYS), RunKey("silver-orders", "stream", "2026-03-07"), Cause.EXCLUDED),
        (lambda home: (home.adopt(), home.admit()), KEY, Cause.IN_PROGRESS),
        (lambda home: (home.adopt(), home.launched()), KEY, Cause.IN_PROGRESS),
        (
            lambda home: failed(home, USUAL.replace("1}", "1, maxRetries: 2}")),
            KEY,
            Cause.IN_PROGRESS,  # a retry is due
        ),
        (lambda home: failed(home, USUAL.replace("Reruns: 1", "Reruns: 0")), KEY, Cause.BUDGET),
        (lambda home: (home.adopt(), home.completed()), KEY, Cause.NO_NEW_DATA),
    ],
)  # fmt: skip
def test_a_refusal_names_its_cause_and_costs_nothing(
    home: Home, scene: Callable[[Home], object], key: RunKey, expected: Cause
) -> None:
    scene(home)
    before = home.store.runs.find([key]).get(key)
    assert cause(home, key=key) is expected
    event = home.event(REJECTED)
    assert event.detail["cause"] == expected
    assert event.date == key.date
    assert home.store.runs.find([key]).get(key) == before
    assert home.store.reruns.granted(key) == []
    assert home.store.reruns.unjudged() == []


def test_a_refusal_while_in_progress_names_the_attempt(home: Home) -> None:
    home.adopt()
    home.launched()
    cause(home)
    assert home.event(REJECTED).detail["activeAttempt"] == 0


def test_a_spent_budget_is_reported_with_its_figures(home: Home) -> None:
    failed(home)
    judged(home)
    home.mode("evaluate")
    home.mode("trigger")
    home.finish("fail", category="TRANSIENT")
    assert cause(home, force=True) is Cause.BUDGET
    event = home.event(REJECTED)
    assert (event.detail["spent"], event.detail["max"]) == (1, 1)


@pytest.mark.parametrize("key", ["orders", "stock", "audit"])  # of trigger, rule, post-run rule
def test_after_a_success_any_reading_that_the_date_uses_counts_as_news(
    home: Home, key: str
) -> None:
    home.adopt(
        USUAL
        + "\nvalidation: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}"
        + "\npostRun: {rules: [{key: audit, check: exists}]}"
    )
    for name in ("stock", "audit"):
        home.reading(name, date="2026-03-03")
    home.completed()
    home.reading("weather", date="2026-03-03", n=1)  # no rule uses it
    # of audit, which the job did not use, what was there at completion counts as seen
    assert cause(home) is Cause.NO_NEW_DATA
    home.reading(key, date="2026-03-03", n=2)
    assert isinstance(judged(home), Granted)


def test_force_opens_the_breaker(home: Home) -> None:
    home.adopt()
    home.completed()
    assert isinstance(judged(home, force=True), Granted)
    assert home.event(ACCEPTED).detail["forced"] is True


def test_our_own_requests_are_charged_to_drift(home: Home) -> None:
    home.adopt(USUAL)
    home.completed(count=1)
    home.reading(date="2026-03-03", count=2)
    assert isinstance(judged(home, reason="late-data"), Granted)
    assert home.run().spending == Spending(drift_reruns=1)


def test_the_same_request_again_is_no_other_request(home: Home) -> None:
    failed(home)
    home.pass_time(seconds=1)
    request = home.request()
    judge_rerun(request, home.ports)
    before = home.state()
    judge_rerun(request, home.ports)
    assert home.state() == before
    assert home.events(REJECTED) == []


def test_a_request_that_opened_a_date_is_not_granted_again_when_its_attempts_have_failed(
    home: Home,
) -> None:
    home.scripts["silver-orders"] = (
        JobScript(launch=LaunchOutcome.ERROR, category=Category.PERMANENT),
    )
    home.adopt()
    home.reading(date="2026-03-03", count=1)
    request = home.request()
    judge_rerun(request, home.ports)
    home.settle()
    assert home.run().status is Status.FAILED
    before = home.state()
    judge_rerun(request, home.ports)
    assert home.state() == before

    home.pass_time(seconds=1)
    home.admit(count=2)  # another reading opens the next attempt, which fails too
    home.settle()
    assert home.run().attempt == 1
    before = home.state()
    judge_rerun(request, home.ports)
    assert home.state() == before
    assert home.run().spending == Spending()
    assert len(home.events(ACCEPTED)) == 1


def test_a_repeated_refused_request_is_neither_published_nor_judged_again(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    home.pass_time(seconds=1)
    request = home.request()
    judge_rerun(request, home.ports)
    home.reading(date="2026-03-03", count=2)  # it would be granted now
    judge_rerun(request, home.ports)
    assert len(home.events(REJECTED)) == 1
    assert home.events(ACCEPTED) == []


def test_a_request_in_a_pause_waits_for_the_resume(home: Home) -> None:
    failed(home)
    pause("silver-orders", home.ports)
    assert judged(home) is None
    assert len(home.store.reruns.unjudged()) == 1
    resume("silver-orders", home.ports)
    assert home.run().attempt == 1
    assert home.store.reruns.unjudged() == []


def test_a_withdrawn_request_does_nothing(home: Home) -> None:
    failed(home)
    home.settle()
    home.request()
    home.store.reruns.withdraw(KEY, home.clock())
    assert home.store.reruns.unjudged() == []


class Racing:
    """Runs that another process changes between the read and the write."""

    def __init__(self, home: Home, meanwhile: Callable[[], object]) -> None:
        self._runs, self._meanwhile = home.store.runs, meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def save(self, *given: Any, **also: Any) -> bool:
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()
        return self._runs.save(*given, **also)


def test_two_requests_at_once_make_one_attempt(home: Home) -> None:
    failed(home)
    home.pass_time(seconds=1)
    first = home.request()
    home.pass_time(seconds=1)
    second = home.request("another")
    racing = Racing(home, lambda: judge_rerun(second, home.ports))
    judge_rerun(first, replace(home.ports, runs=racing))
    assert home.run().attempt == 1
    assert [record.reason for record in home.store.reruns.granted(KEY)] == ["another"]
    assert home.run().spending == Spending(manual_reruns=1)


def test_a_dry_run_says_what_it_would_do(home: Home) -> None:
    home.adopt("dryRun: true\n" + USUAL)
    home.admit(count=1)
    home.settle()
    home.reading(date="2026-03-03", count=2)
    assert isinstance(judged(home), Granted)
    event = home.event(EventType.DRY_RUN_WOULD_RERUN)
    assert event.detail["budget"] == "manual_reruns"
    assert home.run(RunKey("silver-orders", "stream", "2026-03-03", dry=True)).attempt == 0
    assert home.store.reruns.unjudged() == []


def test_a_dry_run_says_what_it_would_refuse(home: Home) -> None:
    home.adopt("dryRun: true")
    home.admit(count=1)
    home.settle()
    assert cause(home) is Cause.NO_NEW_DATA
    assert home.told()[-1] == "DRY_RUN_RERUN_REJECTED"


def test_a_start_that_fails_is_made_up_for_by_the_repeat(home: Home) -> None:
    failed(home)
    home.pass_time(seconds=1)
    request = home.request()
    home.fails(Call.START)
    with pytest.raises(TransientError):
        judge_rerun(request, home.ports)
    assert len(home.started()) == 1
    judge_rerun(request, home.ports)
    assert len(home.started()) == 2
    assert len(home.events(ACCEPTED)) == 1


def request_of(home: Home) -> RerunRequest:
    """The request of the scene, as its change record has it."""
    return RerunRequest(key=KEY, reason="manual", requested_at=home.clock(), requested_by="ada")


def dry_run_done(home: Home) -> None:
    home.adopt("dryRun: true")
    home.admit()
    home.settle()


SCENES: dict[str, Callable[[Home], object]] = {
    "failed": failed,
    "never-ran": lambda home: home.adopt(),
    "in-progress": lambda home: (home.adopt(), home.launched()),
    "completed": lambda home: (home.adopt(), home.completed()),
    "unknown": lambda home: None,
    "dry": dry_run_done,
}


@pytest.mark.parametrize("name", SCENES)
def test_dying_at_any_line_gives_no_second_event_and_no_second_attempt(name: str) -> None:
    def scene(home: Home) -> None:
        SCENES[name](home)
        home.request()

    home = assert_a_crash_changes_nothing(
        scene, lambda home: judge_rerun(request_of(home), home.ports)
    )
    answers = {ACCEPTED, REJECTED, EventType.DRY_RUN_RERUN_REJECTED}
    assert len([event for event in home.events() if event.type in answers]) == 1
