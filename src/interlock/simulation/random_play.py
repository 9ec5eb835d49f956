"""Random play: look for broken invariants in random worlds, and shrink what is found."""

import random
from collections.abc import Iterator

import msgspec
import yaml

from interlock.domain.event import Event, EventType
from interlock.errors import ConfigError
from interlock.simulation.faults import Crash, Faults
from interlock.simulation.random_edits import Document
from interlock.simulation.random_scenarios import random_scenario
from interlock.simulation.scenario import Call, Scenario, parse_scenario
from interlock.simulation.shrinking import shrunk
from interlock.simulation.world import Outcome, World
from interlock.usecases.save_run import LOST_RACE

#: How often each world is played with random faults, and how many faults at most.
_STORMS = 2
_MOST_CRASHES = 5
_MOST_BURSTS = 3
_LONGEST_BURST = 8

#: The errors that faults cause; any other error that reaches an event is our defect.
_PLANNED = ("as planned", "as the scenario says", "no cluster", LOST_RACE)
_OF_OURS = frozenset({EventType.INFRA_FAILURE, EventType.WATCHDOG_DEGRADED})


class BrokenWorld(msgspec.Struct):
    """A world that broke something: the seed, what broke, and the smallest file that shows it."""

    seed: int
    problems: list[str]
    text: str


class Storm(Faults):
    """Dies after some of its writes, and fails at some of its calls, a few of a kind in a row."""

    def __init__(self, chance: random.Random, calm: Faults) -> None:
        """`calm` has counted the writes and the calls of a play without a storm."""
        super().__init__()
        self.crashes = frozenset(
            chance.randint(1, max(1, calm.writes)) for _ in range(chance.randint(1, _MOST_CRASHES))
        )
        self.failing = {
            (call, number)
            for call, count in sorted(calm.calls_of.items())
            for _ in range(chance.randint(0, _MOST_BURSTS))
            for number in _burst(chance, count)
        }

    def __str__(self) -> str:
        calls = ", ".join(f"{call} {number}" for call, number in sorted(self.failing))
        return f"crashed after {sorted(self.crashes)}; failed: {calls or 'nothing'}"

    def written(self) -> None:
        super().written()
        if self.writes in self.crashes:
            raise Crash

    def meet(self, call: Call) -> None:
        super().meet(call)
        if (call, self.calls_of[call]) in self.failing:
            self.fail(f"{call} fails, as planned")


def _burst(chance: random.Random, count: int) -> range:
    first = chance.randint(1, count)
    return range(first, first + chance.randint(1, _LONGEST_BURST))


def play_random(seed: int) -> BrokenWorld | None:
    """Play the world of a seed; None when every invariant held."""
    document = random_scenario(seed)
    problems = problems_of(document, seed)
    if not problems:
        return None
    kinds = {problem.split(":")[0] for problem in problems}
    small = shrunk(document, lambda less: bool(kinds & _kinds(less, seed)))
    return BrokenWorld(seed, problems_of(small, seed), as_text(small))


def problems_of(document: Document, seed: int) -> list[str]:
    """What breaks when the world is played plain, and in storms that the seed picks."""
    scenario = _read(document)
    if scenario is None:
        return []
    calm = Faults()
    problems = list(_problems(World(scenario, calm).play()))
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    for _ in range(_STORMS):
        storm = Storm(chance, calm)
        outcome = World(scenario, storm).play()
        problems += [f"{problem} ({storm})" for problem in _problems(outcome)]
    return problems


def as_text(document: Document) -> str:
    """The document as a scenario file."""
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=120)


def _kinds(document: Document, seed: int) -> set[str]:
    return {problem.split(":")[0] for problem in problems_of(document, seed)}


def _read(document: Document) -> Scenario | None:
    """None for a combination that the reader of files rightly refuses."""
    try:
        return parse_scenario(as_text(document))
    except ConfigError:
        return None


def _problems(outcome: Outcome) -> Iterator[str]:
    yield from outcome.broken
    for event in outcome.events:
        if event.type in _OF_OURS and not _is_planned(event):
            yield f"I0: {event.event_id}: {event.message}"


def _is_planned(event: Event) -> bool:
    said = str(event.detail)
    return any(words in said for words in _PLANNED)
