"""Play: run a scenario, plain or with every fault in turn, and report whether it passed."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain.event import envelope
from interlock.domain.run import Run
from interlock.simulation.branches import Branching, BranchVerdict, Path, Plan, pairs_of
from interlock.simulation.expectations import failed_expectations
from interlock.simulation.scenario import Scenario
from interlock.simulation.scripted_jobs import SimulatedJob
from interlock.simulation.world import Outcome, World
from interlock.usecases.ports import Ports

#: What one fault may cost in time: the longest retry of a task or a parked change, and two passes.
SLACK = timedelta(minutes=10)
#: How many pairs of faults are drawn, besides those within one step.
PAIRS = 200

Told = Callable[[int, int], None]


class Played(msgspec.Struct):
    """A scenario that was played to its end."""

    scenario: Scenario
    outcome: Outcome
    failed: list[str]
    branches: int = 0
    pairs: int = 0

    @property
    def ok(self) -> bool:
        return not self.failed


class FaultOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a scenario is played with faults."""

    #: Above one: a sample of the faults.
    every: int = 1
    #: Two: pairs of faults as well, the second during the recovery from the first.
    depth: int = 1
    pairs: int = PAIRS
    seed: int = 0
    #: Puts other ports in place.
    around: Callable[[Ports], Ports] = lambda ports: ports
    #: Called with the number of branches played, and their total.
    told: Told = lambda done, total: None

    def telling(self, told: Told) -> "FaultOptions":
        return msgspec.structs.replace(self, told=told)


def play(scenario: Scenario) -> Played:
    """Play it once, as written."""
    outcome = World(scenario).play()
    return Played(scenario, outcome, _problems(scenario, outcome))


def play_with_faults(scenario: Scenario, how: FaultOptions | None = None) -> Played:
    """Play it with a crash after each durable write in turn, and each outside call failing once; with pairs
    of such faults too, on request. A scenario that fails without any fault is played once: each fault would
    only repeat the failure.
    """
    how = how or FaultOptions()
    trunk = _Trunk(scenario, how)
    if trunk.failed:
        return Played(scenario, trunk.outcome, trunk.failed)
    first = trunk.branched(Plan.each(how.every), SLACK, trunk.points // how.every)
    played = Played(scenario, trunk.outcome, first.gather(), first.branches)
    if how.depth > 1:
        chosen = _drawn(first.verdicts, how)
        second = trunk.branched(Plan.pairs(chosen), 2 * SLACK, len(chosen))
        played.failed += second.gather()
        played.pairs = sum(verdict.branches for verdict in second.verdicts)
    return played


class _Trunk:
    """A scenario played as written, the reference for its branches."""

    def __init__(self, scenario: Scenario, how: FaultOptions) -> None:
        self._scenario, self._how = scenario, how
        self._digests: dict[datetime, str | None] = {}
        counted = Branching(Plan.none())
        self.outcome = World(scenario, counted, self._note, how.around).play()
        self.points = counted.points
        self.failed = _problems(scenario, self.outcome)

    def branched(self, plan: Plan, slack: timedelta, total: int) -> Branching:
        """Play it once more, with the branches of a plan."""
        done = 0

        def one_more() -> None:
            nonlocal done
            done += 1
            self._how.told(done, total)

        faults = Branching(plan, one_more)

        def compare(world: World) -> None:
            if faults.is_child and self._is_joined(world):
                end(_joined(world.outcome(), self.outcome))

        def end(outcome: Outcome) -> None:
            problems = _problems(self._scenario, outcome, slack) if faults.is_judged else ()
            faults.report(problems)

        if self._scenario.is_slow and not any(map(faults.replays, plan.paths(self.points))):
            return faults
        outcome = World(self._scenario, faults, compare, self._how.around).play()
        if faults.is_child or self._scenario.is_slow:
            end(outcome)
        return faults

    def _note(self, world: World) -> None:
        self._digests[world.now] = world.digest()

    def _is_joined(self, world: World) -> bool:
        here = world.digest()
        return here is not None and here == self._digests.get(world.now)


def _drawn(verdicts: list[BranchVerdict], how: FaultOptions) -> list[Path]:
    """All pairs of one step, and some of the others."""
    near: list[Path] = []
    far: list[Path] = []
    for path, is_near in pairs_of(verdicts):
        (near if is_near else far).append(path)
    chance = random.Random(how.seed)  # noqa: S311 - not for secrets
    return near + chance.sample(far, min(how.pairs, len(far)))


class EventEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it goes over the wire."""

    source: str
    detail_type: str = msgspec.field(name="detail-type")
    detail: dict[str, Any]


class PlayedScenario(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario, whether it held, and everything that happened in it."""

    name: str
    ok: bool
    failed: list[str]
    events: list[EventEnvelope] = []
    runs: list[Run] = []
    launches: list[SimulatedJob] = []


def played_scenario(played: Played) -> PlayedScenario:
    """What `--json` prints of a scenario."""
    outcome = played.outcome
    return PlayedScenario(
        name=played.scenario.name,
        ok=played.ok,
        failed=[str(problem) for problem in played.failed],
        events=[msgspec.convert(envelope(event), EventEnvelope) for event in outcome.events],
        runs=outcome.runs,
        launches=outcome.launches,
    )


def _problems(scenario: Scenario, outcome: Outcome, slack: timedelta = timedelta(0)) -> list[str]:
    return failed_expectations(scenario.expect, outcome, slack) + outcome.broken


def _joined(branch: Outcome, trunk: Outcome) -> Outcome:
    """A branch that has rejoined the trunk continues as the trunk did."""
    told = {event.event_id for event in branch.events}
    launched = {launch.token for launch in branch.launches}
    alerted = {event.event_id for event, _ in branch.alerts}
    threads = {(e.pipeline_id, e.schedule_id, e.date): thread for e, thread in branch.alerts}
    later = [(e, t) for e, t in trunk.alerts if e.event_id not in alerted]
    return msgspec.structs.replace(
        branch,
        events=branch.events + [e for e in trunk.events if e.event_id not in told],
        runs=trunk.runs,
        launches=branch.launches + [x for x in trunk.launches if x.token not in launched],
        alerts=branch.alerts
        + [(e, threads.get((e.pipeline_id, e.schedule_id, e.date), t)) for e, t in later],
    )
