"""Play: run a scenario, plain or with every fault in turn, and say whether it held."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import canonical
from interlock.domain.event import envelope
from interlock.ports import Ports
from interlock.simulation.branches import Branching
from interlock.simulation.expectations import failed_expectations
from interlock.simulation.scenario import Scenario
from interlock.simulation.world import Outcome, World

#: What one fault may cost in time: the longest retry of a task or a parked change, and two passes.
SLACK = timedelta(minutes=10)


class Played(msgspec.Struct):
    """A scenario that was played to its end."""

    scenario: Scenario
    outcome: Outcome
    failed: list[str]
    branches: int = 0

    @property
    def ok(self) -> bool:
        return not self.failed


def play(scenario: Scenario) -> Played:
    """Play it once, as it is written."""
    outcome = World(scenario).play()
    return Played(scenario, outcome, _problems(scenario, outcome))


def play_with_faults(
    scenario: Scenario, every: int = 1, around: Callable[[Ports], Ports] = lambda ports: ports
) -> Played:
    """Play it with a crash after each durable write in turn, and each outside call failing once.

    `every` above one takes a sample of the faults; `around` puts other ports in place.
    """
    digests: dict[datetime, str | None] = {}

    def note(world: World) -> None:
        digests[world.now] = world.digest()

    plain = World(scenario, on_quiet=note, around=around).play()
    failed = _problems(scenario, plain)
    faults = Branching(every)

    def compare(world: World) -> None:
        if not faults.is_child:
            return
        here = world.digest()
        if here is not None and here == digests.get(world.now):
            faults.report(_problems(scenario, _joined(world.outcome(), plain), SLACK))

    outcome = World(scenario, faults, compare, around).play()
    if faults.is_child:
        faults.report(_problems(scenario, outcome, SLACK))
    return Played(scenario, plain, failed + faults.gather(), faults.branches)


def as_json(played: Played) -> dict[str, Any]:
    """What `--json` prints of a scenario."""
    return {
        "name": played.scenario.name,
        "ok": played.ok,
        "failed": played.failed,
        "events": [envelope(event) for event in played.outcome.events],
        "runs": [canonical.as_json(run) for run in played.outcome.runs],
        "launches": [canonical.as_json(launch) for launch in played.outcome.launches],
    }


def _problems(scenario: Scenario, outcome: Outcome, slack: timedelta = timedelta(0)) -> list[str]:
    return failed_expectations(scenario.expect, outcome, slack) + outcome.broken


def _joined(branch: Outcome, trunk: Outcome) -> Outcome:
    """A branch that has come back to the trunk goes on as the trunk did."""
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
