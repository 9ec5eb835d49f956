"""Play: run a scenario, plain or with every fault in turn, and say whether it held."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import msgspec

from interlock.simulation.expectations import failed_expectations
from interlock.simulation.faults import Faults
from interlock.simulation.scenario import Scenario
from interlock.simulation.world import Outcome, World

#: What one failed call may cost: the longest retry delay of a task, and a pass of the watchdog.
SLACK = timedelta(minutes=10)


class Played(msgspec.Struct):
    """A scenario that was played to its end."""

    scenario: Scenario
    outcome: Outcome
    failed: list[str]

    @property
    def ok(self) -> bool:
        return not self.failed


def play(scenario: Scenario) -> Played:
    """Play it once, as it is written."""
    outcome = World(scenario).play()
    failed = failed_expectations(scenario.expect, outcome) + outcome.broken
    return Played(scenario, outcome, failed)


def play_with_faults(
    scenario: Scenario, on_progress: Callable[[int, int], None] = lambda done, of: None
) -> Played:
    """Play it with a crash after each durable write in turn, and each outside call failing once."""
    plain = play(scenario)
    failed = list(plain.failed)
    variants = list(_variants(plain.outcome))
    for position, (name, faults) in enumerate(variants):
        on_progress(position, len(variants))
        outcome = World(scenario, faults).play()
        problems = failed_expectations(scenario.expect, outcome, SLACK) + outcome.broken
        failed += [f"{name}: {problem}" for problem in problems]
    return Played(scenario, plain.outcome, failed)


def _variants(outcome: Outcome) -> Iterator[tuple[str, Faults]]:
    for write in range(1, outcome.writes + 1):
        yield f"crash after write {write}", Faults(crash_after=write)
    for call in range(1, outcome.calls + 1):
        yield f"call {call} fails", Faults(fail_call=call)


def as_json(played: Played) -> dict[str, Any]:
    """What `--json` prints of a scenario."""
    from interlock.domain import canonical
    from interlock.domain.event import envelope

    return {
        "name": played.scenario.name,
        "ok": played.ok,
        "failed": played.failed,
        "events": [envelope(event) for event in played.outcome.events],
        "runs": [canonical.as_json(run) for run in played.outcome.runs],
        "launches": [canonical.as_json(launch) for launch in played.outcome.launches],
    }
