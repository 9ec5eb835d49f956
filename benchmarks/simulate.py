"""Simulate: a month of ten hourly pipelines, from the first reading to the last completion."""

from datetime import UTC, datetime, timedelta

from benchmarks.figures import tell, timed
from interlock.domain.run import Status
from interlock.domain.timestamp import spell
from interlock.simulation.random_play import as_text
from interlock.simulation.scenario import parse_scenario
from interlock.simulation.world import World

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 31
PIPELINES = 10


def main() -> None:
    scenario = parse_scenario(as_text(_document()))
    world = World(scenario)
    seconds = timed(lambda: _play(world))
    line = f"{seconds:.1f} s for {PIPELINES * DAYS * 24:,} runs"
    tell("simulate", "<= 10 s", line, seconds=seconds, runs=PIPELINES * DAYS * 24)


def _play(world: World) -> None:
    outcome = world.play()
    done = sum(run.status is Status.COMPLETED for run in outcome.runs)
    assert done >= PIPELINES * DAYS * 24 - PIPELINES, f"only {done} runs completed"
    assert not outcome.broken, outcome.broken[:3]


def _document() -> dict[str, object]:
    names = [f"hourly-{n}" for n in range(PIPELINES)]
    return {
        "name": "a month of hourly pipelines",
        "start": spell(START - timedelta(minutes=5)),
        "until": spell(START + timedelta(days=DAYS, minutes=30)),
        "pipelines": [_pipeline(name, minute) for minute, name in enumerate(names)],
        "jobs": {name: [{"after": "5m", "result": "success"}] for name in names},
        "timeline": [
            {
                "at": spell(START - timedelta(minutes=4)),
                "sensor": {"pipeline": name, "key": "ready", "data": {"count": 5000}},
            }
            for name in names
        ],
    }


def _pipeline(name: str, minute: int) -> dict[str, object]:
    return {
        "pipeline": {"id": name},
        "schedule": {"cron": f"{minute} * * * *"},
        "validation": {"rules": [{"key": "ready", "check": "gte", "field": "count", "value": 1}]},
        "job": {"type": "command", "config": {"command": ["etl"]}},
    }


if __name__ == "__main__":
    main()
