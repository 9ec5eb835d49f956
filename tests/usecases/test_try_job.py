"""A trial of a job: what each part says, and that its token belongs to no attempt."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.jobs.job_samples import a_job
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, CannotTell, Failed, Launched, Running, Succeeded
from interlock.domain.pipeline import Schedule
from interlock.domain.run import RunKey, job_token
from interlock.errors import LaunchError, TransientError
from interlock.usecases.try_job import TrialStep, trial_context, try_job

NOW = datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
STARTED = Launched("run-7", {"type": "http"})
PIPELINE = a_job("http", url="https://etl.example.com")
SCHEDULE = Schedule(id="stream")


class Platform:
    """Answers in the order in which it is told to; what is an error is raised."""

    def __init__(self, launch: Any = STARTED, find: Any = STARTED, polls: Any = ()) -> None:
        self.answers: dict[str, Iterator[Any]] = {
            "launch": iter([launch]),
            "find": iter([find]),
            "poll": iter(polls),
        }

    def __getattr__(self, name: str) -> Any:
        def answer(*given: Any) -> Any:
            told = next(self.answers[name])
            if isinstance(told, Exception):
                raise told
            return told

        return answer


def tried(platform: Any, pipeline: Any = PIPELINE, patience: int = 10) -> list[TrialStep]:
    left = iter([True] * patience + [False])
    context = trial_context(pipeline, SCHEDULE, None, NOW, "interlock")
    return list(try_job(pipeline, context, platform, lambda: next(left)))


def test_a_job_is_followed_to_its_end_and_each_news_is_reported_once() -> None:
    polls = [Running("queued"), Running("queued"), Running("busy"), Succeeded("done")]
    steps = tried(Platform(polls=polls))
    assert [(step.part, step.message) for step in steps] == [
        ("launch", "started, run id run-7"),
        ("find", "found again by its token"),
        ("poll", "queued"),
        ("poll", "busy"),
        ("end", "succeeded: done"),
    ]
    assert all(step.is_good for step in steps)


@pytest.mark.parametrize("maybe", [True, False])
def test_a_launch_that_fails_is_all_there_is(maybe: bool) -> None:
    [step] = tried(Platform(launch=LaunchError("PERMANENT", "no such job", maybe_started=maybe)))
    assert not step.is_good and step.message.startswith("PERMANENT: no such job")
    assert ("may have started" in step.message) is maybe


@pytest.mark.parametrize(
    ("found", "good"),
    [
        (STARTED, True),
        (Absent(), True),
        (CannotTell(), True),
        (Launched("run-8", {}), False),
        (LaunchError("PERMANENT", "AccessDenied"), False),
        (TransientError("no answer"), False),
    ],
)
def test_whether_a_repeat_would_be_recognised_is_said_and_stops_nothing(
    found: Any, good: bool
) -> None:
    steps = tried(Platform(find=found, polls=[Succeeded()]))
    assert steps[1].is_good is good
    assert steps[-1] == TrialStep(steps[-1].part, "succeeded")


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (Failed(Category.TRANSIENT, "out of memory"), "failed (TRANSIENT): out of memory"),
        (Failed(None, "it broke"), "failed (unknown kind): it broke"),
        (Failed(None, "by hand", stopped=True), "stopped: by hand"),
    ],
)
def test_a_bad_end_says_of_what_kind_it_is(end: Failed, message: str) -> None:
    last = tried(Platform(polls=[end]))[-1]
    assert (last.part, last.message, last.is_good) == ("end", message, False)


def test_a_poll_without_an_answer_is_made_again() -> None:
    steps = tried(Platform(polls=[TransientError("lost"), Running("?", unseen=True), Succeeded()]))
    assert [step.is_good for step in steps[2:]] == [False, False, True]


def test_patience_ends_and_the_job_goes_on() -> None:
    last = tried(Platform(polls=[Running()] * 5), patience=3)[-1]
    assert not last.is_good and "has not ended yet" in last.message


def test_a_job_that_tells_its_end_itself_is_not_waited_for() -> None:
    pipeline = a_job("http", url="https://etl.example.com", completion="event")
    last = tried(Platform(), pipeline)[-1]
    assert last.is_good and "its own end" in last.message


def test_a_trial_has_a_token_that_no_attempt_has() -> None:
    context = trial_context(PIPELINE, SCHEDULE, "2026-03-03", NOW, "interlock")
    assert re.fullmatch(r"il-test-[0-9a-f]{27}", context.token)
    key = RunKey(PIPELINE.id, SCHEDULE.id, "2026-03-03")
    attempts = {job_token("interlock", key, attempt) for attempt in range(100)}
    assert context.token not in attempts and len(context.token) == len(attempts.pop())
    later = trial_context(PIPELINE, SCHEDULE, "2026-03-03", NOW + timedelta(seconds=1), "interlock")
    assert later.token != context.token


@pytest.mark.parametrize(
    ("schedule", "label"),
    [
        (Schedule(id="s", timezone="America/New_York"), "2026-03-03"),
        (Schedule(id="s", cron="0 6 * * *"), "2026-03-03"),
        (Schedule(id="s", cron="0 * * * *", timezone="America/New_York"), "2026-03-03T03"),
        (Schedule(id="s", cron="*/15 * * * *"), "2026-03-03T08:30"),
    ],
)
def test_without_a_date_it_is_the_present_one(schedule: Schedule, label: str) -> None:
    assert trial_context(PIPELINE, schedule, None, NOW, "i").label == label


def test_what_is_no_date_is_refused() -> None:
    with pytest.raises(ValueError, match="not a date"):
        trial_context(PIPELINE, SCHEDULE, "tomorrow", NOW, "i")
