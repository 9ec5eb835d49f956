"""Random play: look for broken invariants in random worlds, and make what is found small."""

import random
from collections.abc import Iterator

import msgspec
import yaml

from interlock.domain.event import Event, EventType
from interlock.errors import ConfigError
from interlock.simulation.faults import Crash, Faults
from interlock.simulation.random_scenarios import Document, random_scenario
from interlock.simulation.scenario import Scenario, parse_scenario
from interlock.simulation.shrinking import shrunk
from interlock.simulation.world import Outcome, World

_CRASHES = 2

#: The errors that faults make; any other that reaches an event is a defect of ours.
_PLANNED = ("as planned", "as the scenario says", "no cluster", "somebody got there first")
_OF_OURS = frozenset({EventType.INFRA_FAILURE, EventType.WATCHDOG_DEGRADED})


class Found(msgspec.Struct):
    """A world that broke something: the seed, what broke, and the smallest file that shows it."""

    seed: int
    problems: list[str]
    text: str


class CrashAt(Faults):
    """Dies after some of its writes."""

    def __init__(self, writes: frozenset[int]) -> None:
        super().__init__()
        self._crash_after = writes

    def written(self) -> None:
        super().written()
        if self.writes in self._crash_after:
            raise Crash


def play_random(seed: int) -> Found | None:
    """Play the world of a seed; None when everything held."""
    document = random_scenario(seed)
    problems = problems_of(document, seed)
    if not problems:
        return None
    kinds = {problem.split(":")[0] for problem in problems}
    small = shrunk(document, lambda less: bool(kinds & _kinds(less, seed)))
    return Found(seed, problems_of(small, seed), as_text(small))


def problems_of(document: Document, seed: int) -> list[str]:
    """What breaks when the world is played plain, and with crashes at writes that the seed picks."""
    scenario = _read(document)
    if scenario is None:
        return []
    plain = World(scenario).play()
    problems = list(_problems(plain))
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    for _ in range(_CRASHES):
        writes = frozenset(chance.randint(1, max(1, plain.writes)) for _ in range(2))
        crashed = World(scenario, CrashAt(writes)).play()
        problems += [
            f"{problem} (crashed after {sorted(writes)})" for problem in _problems(crashed)
        ]
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
