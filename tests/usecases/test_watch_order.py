"""Watch order: every pipeline has its turn in time, and one that was left out comes first."""

from datetime import timedelta

import pytest

from contracts.samples import NOW, a_config, a_pipeline
from interlock.domain.config import Config
from interlock.domain.watchdog_state import WatchdogState
from interlock.usecases.watch_order import in_order, in_turn

MINUTE = timedelta(minutes=1)
EVERY = 15 * MINUTE
LONG_AGO = NOW - timedelta(days=30)
CONFIGS = [a_config(a_pipeline(f"p{n:02}"), adopted_at=LONG_AGO) for n in range(60)]


def names(configs: list[Config]) -> list[str]:
    return [config.pipeline.id for config in configs]


def turn(state: WatchdogState, minutes: float = 5, every: timedelta = EVERY) -> set[str]:
    return in_turn(CONFIGS, state, NOW + minutes * MINUTE, every)


def test_in_three_passes_every_pipeline_has_one_turn() -> None:
    turns = [
        in_turn(
            CONFIGS, WatchdogState(since=NOW + n * 5 * MINUTE), NOW + (n + 1) * 5 * MINUTE, EVERY
        )
        for n in range(3)
    ]
    assert sorted(name for each in turns for name in each) == names(CONFIGS)
    assert all(len(each) < 40 for each in turns)


def test_a_pass_that_is_made_again_gives_the_same_turns() -> None:
    assert turn(WatchdogState(since=NOW)) == turn(WatchdogState(since=NOW))


@pytest.mark.parametrize(
    ("state", "minutes", "every"),
    [
        (WatchdogState(), 5, EVERY),  # no pass was ever made
        (WatchdogState(since=NOW), 15, EVERY),  # a gap
        (WatchdogState(since=NOW), 1, timedelta(0)),  # where it costs nothing
    ],
)
def test_sometimes_it_is_every_pipelines_turn(
    state: WatchdogState, minutes: float, every: timedelta
) -> None:
    assert turn(state, minutes, every) == set(names(CONFIGS))


def test_who_is_suspected_or_lags_or_has_a_new_file_does_not_wait() -> None:
    quiet = WatchdogState(since=NOW)
    waiting = sorted(set(names(CONFIGS)) - turn(quiet))
    suspected, lagging, changed = waiting[:3]
    state = WatchdogState(
        since=NOW,
        suspects={f"{suspected}/stream/orders/v": NOW},
        lagging={lagging: NOW - EVERY},
    )
    assert turn(state) - turn(quiet) == {suspected, lagging}
    new = a_config(a_pipeline(changed), adopted_at=NOW + MINUTE)
    assert in_turn([new], quiet, NOW + 5 * MINUTE, EVERY) == {changed}


def test_who_lags_longest_comes_first_and_then_all_from_where_the_last_pass_left_off() -> None:
    state = WatchdogState(
        since=NOW, lagging={"p30": NOW - MINUTE, "p05": NOW - 9 * MINUTE}, left_at="p40"
    )
    order = names(in_order(CONFIGS, state, NOW))
    assert order[:4] == ["p05", "p30", "p40", "p41"]
    assert order[-1] == "p39" and sorted(order) == names(CONFIGS)
