"""Story: three weeks of a data platform, until a Tuesday afternoon on which several things are wrong.

The simulator plays it, so what the pictures show is what the controller decides.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from interlock.adapters.sqlite.backup import back_up
from interlock.simulation.scenario import load_scenario
from interlock.simulation.world import World

FIRST = datetime(2026, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 3, 14, 12, tzinfo=UTC)

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


def _hourly(name: str, owner: str, source: str, rules: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "pipeline": {"id": name, "owner": owner, "tags": {"layer": "silver", "source": source}},
        "schedule": {
            "trigger": {"key": "hourly-status", "check": "exists"},
            "evaluation": {"window": "3h", "interval": "5m"},
        },
        "sla": {"deadline": ":45", "expectedDuration": "12m"},
        "validation": {"rules": rules},
        "job": {"type": "command", "config": {"command": ["merge", "${LABEL}"]}, "maxRetries": 2},
        **more,
    }


def _daily(name: str, owner: str, schedule: dict[str, Any], deadline: str) -> dict[str, Any]:
    return {
        "pipeline": {"id": name, "owner": owner, "tags": {"layer": "gold"}},
        "schedule": schedule,
        "sla": {"deadline": deadline, "expectedDuration": "40m"},
        "validation": {"rules": [{"key": "ready", "check": "exists"}]},
        "job": {"type": "command", "config": {"command": ["report", "${DATE}"]}, "maxRetries": 1},
    }


def _after(name: str, owner: str, upstream: str, **trigger: Any) -> dict[str, Any]:
    key = f"pipeline:{upstream}"
    rules = (
        [{"key": "regions", "check": "exists"}] if trigger else [{"key": key, "check": "exists"}]
    )
    return {
        "pipeline": {"id": name, "owner": owner, "tags": {"layer": "gold"}},
        "schedule": {"trigger": {"pipeline": upstream, **trigger}},
        "sla": {"deadline": "02:00"} if trigger else {"maxDuration": "30m"},
        "validation": {"rules": rules},
        "job": {"type": "command", "config": {"command": ["report", "${LABEL}"]}},
    }


_QUAKES = [
    {"key": "hourly-status", "check": "equals", "field": "loads", "value": 3},
    {"key": "hourly-status", "check": "gte", "field": "count", "value": 1},
]
_COINS = [
    {"key": "hourly-status", "check": "gte", "field": "count", "value": 250},
    {"key": "hourly-status", "check": "lte", "field": "nullPrices", "value": 0},
]
_DRIFT = {"driftField": "count", "driftThreshold": 20, "rules": [_QUAKES[1]]}

PIPELINES: list[dict[str, Any]] = [
    _hourly("crypto-silver", "markets", "coinlore", _COINS),
    _after("crypto-gold", "markets", "crypto-silver"),
    _hourly("earthquake-silver", "seismology", "usgs", _QUAKES, postRun=_DRIFT),
    _after("earthquake-gold", "seismology", "earthquake-silver", hours="all"),
    _daily(
        "orders-silver", "orders-team", {"cron": "0 5 * * *", "timezone": "Europe/Berlin"}, "07:30"
    ),
    _after("orders-gold", "finance", "orders-silver"),
    _after("orders-forecast", "science", "orders-silver"),
    _daily("fx-rates", "treasury", {"cron": "30 6 * * *", "exclude": {"weekends": True}}, "08:00"),
    _daily(
        "ledger-export", "finance", {"cron": "0 13 * * *", "timezone": "Europe/Berlin"}, "15:00"
    ),
]

_JOBS: dict[str, list[dict[str, Any]]] = {
    "crypto-silver": [{"after": f"{4 + n % 7}m"} for n in range(5000)],
    "crypto-gold": [{"after": "2m"}],
    "earthquake-silver": [{"after": f"{6 + n % 5}m"} for n in range(5000)],
    "earthquake-gold": [{"after": "25m"}],
    "orders-silver": [
        *({"after": f"{20 + (n * 13) % 25}m"} for n in range(22)),
        {
            "after": "9m",
            "result": "fail",
            "category": "TRANSIENT",
            "error": "connection reset by warehouse",
        },
        {
            "after": "11m",
            "result": "fail",
            "category": "PERMANENT",
            "error": "column order_total is missing",
        },
    ],
    "orders-gold": [{"after": f"{8 + n % 9}m"} for n in range(60)],
    "orders-forecast": [{"after": "18m"}],
    "fx-rates": [{"after": f"{3 + n % 6}m"} for n in range(60)],
    "ledger-export": [{"after": f"{30 + (n * 7) % 30}m"} for n in range(60)],
}


def play(target: Path, folder: Path) -> None:
    """Write the state of that afternoon to a file."""
    document = {
        "name": "three weeks",
        "start": _spelt(FIRST - _HOUR),
        "until": _spelt(NOW),
        "watchdog": "10m",
        "jobs": _JOBS,
        "pipelines": [],
        "timeline": sorted(_timeline(), key=lambda entry: str(entry["at"])),
        "expect": [],
    }
    for pipeline in PIPELINES:
        path = folder / f"{pipeline['pipeline']['id']}.yaml"
        path.write_text(yaml.safe_dump(pipeline, sort_keys=False), encoding="utf-8")
        document["pipelines"].append(path.name)
    scenario = folder / "scenario.yaml"
    scenario.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def keep(world: World) -> None:
        if world.now >= NOW:
            target.unlink(missing_ok=True)
            back_up(world.store.database, target)

    World(load_scenario(scenario), on_quiet=keep).play()


def _timeline() -> Iterator[dict[str, Any]]:
    yield _reading(FIRST, "earthquake-gold", "regions", count=754)
    hour = FIRST
    chance = random.Random(7)  # noqa: S311 - the same weeks every time
    while hour < NOW:
        yield from _usgs(hour, chance)
        yield from _coinlore(hour, chance)
        hour += _HOUR
    day = FIRST
    while day < NOW:
        for name, minutes in _READY.items():
            late = 95 if chance.random() < 0.06 else 0
            if (name, f"{day:%m-%d}") not in _ABSENT:
                at = day + (minutes + late) * _MINUTE
                yield _reading(
                    at, name, f"ready#{day:%Y-%m-%d}", rows=chance.randrange(40_000, 60_000)
                )
        day += timedelta(days=1)
    yield {"at": _spelt(NOW - 95 * _MINUTE), "pause": "orders-forecast"}


#: When a day's rows are ready, in minutes after midnight.
_READY = {"orders-silver": 210, "fx-rates": 370, "ledger-export": 700}
_ABSENT = {("ledger-export", "03-03"), ("fx-rates", "02-18")}


def _usgs(hour: datetime, chance: random.Random) -> Iterator[dict[str, Any]]:
    count = 90 + int(40 * chance.random())
    key = f"hourly-status#{hour:%Y-%m-%dT%H}"
    at = hour + 66 * _MINUTE
    if hour >= NOW - 2 * _HOUR - 15 * _MINUTE:
        yield _reading(at, "earthquake-silver", key, loads=2, count=61)
        return
    short = chance.random()
    if short < 0.012:
        yield _reading(at, "earthquake-silver", key, loads=2, count=count // 2)
        at += (90 if short < 0.006 else 20) * _MINUTE
    yield _reading(at, "earthquake-silver", key, loads=3, count=count)
    if chance.random() < 0.008:
        yield _reading(at + 80 * _MINUTE, "earthquake-silver", key, loads=3, count=count + 31)


def _coinlore(hour: datetime, chance: random.Random) -> Iterator[dict[str, Any]]:
    key = f"hourly-status#{hour:%Y-%m-%dT%H}"
    at = hour + 63 * _MINUTE
    wrong = chance.random() < 0.01
    if wrong or hour == NOW.replace(hour=11, minute=0):
        yield _reading(at, "crypto-silver", key, count=301, nullPrices=7)
        at += 110 * _MINUTE
    if at < NOW and hour != NOW.replace(hour=11, minute=0):
        yield _reading(at, "crypto-silver", key, count=298 + chance.randrange(8), nullPrices=0)


def _reading(at: datetime, pipeline: str, key: str, **fields: Any) -> dict[str, Any]:
    return {"at": _spelt(at), "sensor": {"pipeline": pipeline, "key": key, "data": fields}}


def _spelt(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
