"""Launch: what a poll must know of a job, and what is news of it."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from contracts.samples import NOW, a_run
from interlock.domain import canonical
from interlock.domain.launch import Launch, at_most_once, launch_of, requested_at
from interlock.domain.pipeline import Job
from interlock.domain.run import Judgement, Run, Status

LAUNCHED_AT = datetime(2026, 3, 3, 10, 0, 0, 123456, tzinfo=UTC)


def running() -> Run:
    return (
        a_run()
        .to(Status.TRIGGERING, NOW)
        .to(Status.RUNNING, NOW, run_id="jr-1", launched_at=LAUNCHED_AT, job={"url": "x"})
    )


def test_only_a_job_that_runs_is_polled() -> None:
    assert launch_of(a_run()) is None
    assert launch_of(running().to(Status.COMPLETED, NOW)) is None
    launch = launch_of(running())
    assert launch is not None
    assert (launch.run_id, launch.launched_at, launch.job) == ("jr-1", LAUNCHED_AT, {"url": "x"})


def test_it_travels_as_text_and_comes_back_to_the_microsecond() -> None:
    launch = launch_of(running())
    assert msgspec.convert(canonical.decode(canonical.encode(launch)), Launch) == launch


@pytest.mark.parametrize(
    ("kept", "said", "new"),
    [
        ((None, False), (None, False), False),
        (("step 2", False), ("step 2", False), False),
        (("step 2", False), ("step 3", False), True),
        (("403", False), ("403", True), True),  # it can't be seen
        (("403", True), ("403", True), False),
        (("403", True), ("403", False), False),  # that it could not stays noted
    ],
)
def test_the_same_said_again_is_no_news(
    kept: tuple[str | None, bool], said: tuple[str | None, bool], new: bool
) -> None:
    run = running()
    launch = Launch(run.key, 0, "jr-1", LAUNCHED_AT, {}, *kept)
    assert launch.says_nothing_new(*said) is not new


@pytest.mark.parametrize(("config", "once"), [({}, False), ({"atMostOnce": True}, True)])
def test_an_owner_may_want_no_job_rather_than_two(config: dict[str, bool], once: bool) -> None:
    assert at_most_once(Job(type="http", config=config)) is once


def test_a_job_whose_launch_is_in_doubt_may_run_since_its_rules_held() -> None:
    claimed = a_run(verdict=Judgement(NOW, ready=True, results=())).to(Status.TRIGGERING, NOW)
    assert requested_at(claimed.changed(NOW + timedelta(hours=1))) == NOW
    assert requested_at(a_run().changed(NOW)) == NOW
