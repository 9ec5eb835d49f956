"""Workflows: starting a name twice is starting it once."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from contracts.home import Home
from contracts.samples import KEY
from interlock.domain.run import EngineState
from interlock.domain.waiting_for import WaitingFor

AtOnce = Callable[[Sequence[Callable[[], None]]], list[None]]

NAME = "silver-orders-stream-2026-03-03"
GIVEN = {"pipelineId": KEY.pipeline_id, "attempt": 0, "config": {"share": Decimal("0.5")}}


def test_an_execution_is_absent_then_running_then_ended(home: Home) -> None:
    assert home.workflows.describe(NAME) is EngineState.ABSENT
    home.workflows.start(NAME, GIVEN)
    assert home.workflows.describe(NAME) is EngineState.RUNNING
    home.end(NAME)
    assert home.workflows.describe(NAME) is EngineState.ENDED


def test_starting_a_name_twice_is_starting_it_once_also_after_it_ended(home: Home) -> None:
    home.workflows.start(NAME, GIVEN)
    home.workflows.start(NAME, GIVEN)
    home.end(NAME)
    home.workflows.start(NAME, GIVEN)
    assert home.workflows.describe(NAME) is EngineState.ENDED


def test_what_an_execution_was_given_is_known_also_after_its_end(home: Home) -> None:
    assert home.workflows.given(NAME) is None
    home.workflows.start(NAME, GIVEN)
    assert home.workflows.given(NAME) == GIVEN
    home.end(NAME)
    assert home.workflows.given(NAME) == GIVEN


def test_the_executions_under_way_are_listed_however_many(home: Home) -> None:
    assert home.workflows.running() == set()
    names = {f"{NAME}T{hour:02}" for hour in range(8)}
    for name in names:
        home.workflows.start(name, GIVEN)
    assert home.workflows.running() == names
    home.end(f"{NAME}T03")
    assert home.workflows.running() == names - {f"{NAME}T03"}


def test_a_name_started_by_many_at_once_is_one_execution(home: Home, at_once: AtOnce) -> None:
    at_once([lambda: home.workflows.start(NAME, GIVEN)] * 20)
    home.end(NAME)
    assert home.workflows.describe(NAME) is EngineState.ENDED


def test_waking_is_only_a_hint(home: Home) -> None:
    home.workflows.wake(KEY.pipeline_id, WaitingFor.RULES)
    home.workflows.start(NAME, GIVEN)
    home.workflows.wake(KEY.pipeline_id, WaitingFor.JOB)
    assert home.workflows.describe(NAME) is EngineState.RUNNING
