"""What every type of job promises."""

import json
from base64 import b64encode
from typing import Any

import pytest

from adapters.jobs.job_samples import CANARY, a_context, ending, soon
from adapters.jobs.kinds import KINDS, Kind
from adapters.jobs.worlds import World
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, CannotTell, Failed, Launched, Running, Succeeded
from interlock.domain.job_kinds import JOB_KINDS


def test_the_contract_is_tested_for_every_type() -> None:
    assert {kind.type for kind in KINDS} == set(JOB_KINDS)


def test_a_launched_job_has_a_run_id(world: World) -> None:
    launched = world.jobs().launch(world.pipeline("succeed"), a_context())
    assert launched.run_id


def test_metadata_is_small_json_and_says_the_type(world: World, kind: Kind) -> None:
    launched = world.jobs().launch(world.pipeline("succeed"), a_context())
    text = json.dumps(launched.metadata)
    assert len(text.encode()) < 16 * 1024
    assert json.loads(text) == launched.metadata
    assert launched.metadata["type"] == kind.type


def test_a_job_is_followed_by_what_its_metadata_was_stored_as(world: World) -> None:
    launched = world.jobs().launch(world.pipeline("succeed"), a_context())
    stored = Launched(launched.run_id, json.loads(json.dumps(launched.metadata)))
    assert isinstance(ending(world.jobs(), stored), Succeeded)


def test_no_secret_is_stored_or_told(world: World) -> None:
    jobs = world.jobs()
    launched = jobs.launch(world.pipeline("say-secret"), a_context())

    def heard() -> Running | Succeeded | Failed | None:
        answer = jobs.poll(launched.metadata)
        return answer if "***" in answer.message else None

    answer = soon(heard)
    told = repr(launched) + repr(answer)
    basic = b64encode(f"interlock:{CANARY}".encode()).decode()  # as Airflow 2 gets it
    for spelling in (CANARY, json.dumps(CANARY)[1:-1], "canary-7f3a", "bearer-", basic):
        assert spelling not in told
        assert spelling.encode() not in world.stored()


def test_launching_twice_with_one_token_starts_one_job(world: World, kind: Kind) -> None:
    for _ in range(2):
        launched = world.jobs().launch(world.pipeline("succeed"), a_context())
        ending(world.jobs(), launched)
    assert world.starts(a_context().token) == 1 or kind.promises.at_least_once


def test_another_attempt_is_another_job(world: World) -> None:
    jobs = world.jobs()
    for attempt in (0, 1):
        ending(jobs, jobs.launch(world.pipeline("succeed"), a_context(attempt)))
    assert [world.starts(a_context(attempt).token) for attempt in (0, 1)] == [1, 1]


def test_before_the_launch_there_is_nothing_to_find(world: World, kind: Kind) -> None:
    found = world.jobs().find(world.pipeline("succeed"), a_context())
    assert isinstance(found, Absent if kind.promises.findable else CannotTell)


def test_an_unrecorded_launch_is_found_and_not_repeated(world: World, kind: Kind) -> None:
    context = a_context()
    launched = world.jobs().launch(world.pipeline("hang"), context)
    jobs = world.jobs()
    found = jobs.find(world.pipeline("hang"), context)
    if not kind.promises.findable:
        assert isinstance(found, CannotTell)
        return
    if kind.promises.is_idempotent:
        assert isinstance(found, Absent)
        found = jobs.launch(world.pipeline("hang"), context)
    assert isinstance(found, Launched)
    assert (found.run_id, found.metadata) == (launched.run_id, launched.metadata)
    assert isinstance(jobs.poll(found.metadata), Running)
    soon(lambda: world.starts(context.token))
    assert world.starts(context.token) == 1


def test_a_job_that_ended_well(world: World) -> None:
    jobs = world.jobs()
    assert isinstance(ending(jobs, jobs.launch(world.pipeline("succeed"), a_context())), Succeeded)


def test_a_job_that_ended_badly_says_why(world: World, kind: Kind) -> None:
    jobs = world.jobs()
    answer = ending(jobs, jobs.launch(world.pipeline("fail"), a_context()))
    assert isinstance(answer, Failed)
    assert answer.category is (Category.PERMANENT if kind.promises.says_why else None)
    assert not answer.stopped
    assert answer.message
    assert answer.detail["state"]


def test_a_job_that_took_too_long(world: World, kind: Kind) -> None:
    jobs = world.jobs()
    answer = ending(jobs, jobs.launch(world.pipeline("time-out"), a_context()))
    assert isinstance(answer, Failed)
    assert answer.category is (Category.TIMEOUT if kind.promises.says_timeout else None)
    assert not answer.stopped


def test_a_job_stopped_on_purpose(world: World, kind: Kind) -> None:
    jobs = world.jobs()
    launched = jobs.launch(world.pipeline("hang"), a_context())
    assert isinstance(jobs.poll(launched.metadata), Running)
    assert world.jobs().cancel(launched.metadata) is kind.promises.is_asked
    if kind.promises.is_asked:
        answer = ending(jobs, launched)
        assert isinstance(answer, Failed)
        assert answer.stopped is kind.promises.says_stopped


def test_an_invisible_job_has_not_failed(world: World, kind: Kind) -> None:
    jobs = world.jobs()
    launched = jobs.launch(world.pipeline("succeed"), a_context())
    ending(jobs, launched)
    world.hide(a_context().token)
    answer = jobs.poll(launched.metadata)
    if not kind.promises.is_asked:
        assert launched.finished and isinstance(answer, Succeeded)
        return
    assert isinstance(answer, Running) and answer.unseen and answer.message


def test_cancelling_after_the_end_changes_nothing(world: World) -> None:
    jobs = world.jobs()
    launched = jobs.launch(world.pipeline("succeed"), a_context())
    ending(jobs, launched)
    jobs.cancel(launched.metadata)
    assert isinstance(jobs.poll(launched.metadata), Succeeded)


@pytest.mark.parametrize("broken", [{}, {"token": "../../etc"}, {"token": 5, "runId": []}])
def test_cancelling_what_makes_no_sense_is_harmless(
    world: World, kind: Kind, broken: dict[str, Any]
) -> None:
    assert not world.jobs().cancel({"type": kind.type, **broken})
    answer = world.jobs().poll({"type": kind.type, **broken})
    assert isinstance(answer, Running) and answer.unseen
