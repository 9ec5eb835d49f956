"""Expectations: what a scenario says must have happened, compared with what did."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from interlock.domain import canonical, duration, timestamp
from interlock.domain.event import ALIASES, Event
from interlock.domain.run import Run
from interlock.simulation.scenario import Expectation, instant
from interlock.simulation.world import Outcome


def failed_expectations(
    expected: Iterable[Expectation], outcome: Outcome, slack: timedelta = timedelta(0)
) -> list[str]:
    """One line per expectation that does not hold. `slack` is what a fault may cost in time."""
    lines = []
    for each in expected:
        if slack and each.undisturbed:
            continue
        problem = _problem(each, outcome, slack)
        if problem is not None:
            lines.append(f"{_spelt(each)}: {problem}")
    return lines


def _problem(expected: Expectation, outcome: Outcome, slack: timedelta) -> str | None:
    if expected.event is not None:
        return _event(expected, outcome.events, slack)
    if expected.no is not None:
        # a fault may delay an expected event, but does not extend the time for a forbidden one
        found = _matching(expected, expected.no, outcome.events, timedelta(0))
        return f"found {len(found)}, first at {_at(found[0].timestamp)}" if found else None
    if expected.run is not None:
        return _run(expected, outcome.runs)
    if expected.launches is not None:
        return _launches(expected, outcome)
    if expected.order is not None:
        return _order(expected, outcome.events)
    return _threads(expected, outcome)


def _event(expected: Expectation, events: Sequence[Event], slack: timedelta) -> str | None:
    assert expected.event is not None
    found = _matching(expected, expected.event, events, slack)
    if expected.count is None and found:
        return None
    if expected.count is not None and len(found) == expected.count:
        return None
    wanted = "at least 1" if expected.count is None else str(expected.count)
    near = [e for e in events if e.type == _type(expected.event)]
    places = ", ".join(
        f"{e.pipeline_id or '-'} {e.date or '-'} at {_at(e.timestamp)}" for e in near[:4]
    )
    return f"wanted {wanted}, found {len(found)}" + (f" (there are: {places})" if near else "")


def _matching(
    expected: Expectation, name: str, events: Sequence[Event], slack: timedelta
) -> list[Event]:
    return [e for e in events if e.type == _type(name) and _fits(expected, e, slack)]


def _fits(expected: Expectation, event: Event, slack: timedelta) -> bool:
    if expected.pipeline not in (None, event.pipeline_id):
        return False
    if expected.schedule not in (None, event.schedule_id) or expected.date not in (
        None,
        event.date,
    ):
        return False
    if expected.at is not None:
        within = duration.parse(expected.within) if expected.within else timedelta(0)
        away = event.timestamp - instant(expected.at)
        if not -within <= away <= within + slack:
            return False
    return all(_same(event.detail.get(k), v) for k, v in (expected.detail or {}).items())


def _same(actual: Any, expected: Any) -> bool:
    return canonical.encode(actual) == canonical.encode(expected)


def _run(expected: Expectation, runs: Sequence[Run]) -> str | None:
    assert expected.run is not None
    wanted = expected.run
    found = [
        run
        for run in runs
        if (run.key.pipeline_id, run.key.date) == (wanted.pipeline, wanted.date)
        and wanted.schedule in (None, run.key.schedule_id)
    ]
    if not found:
        return "there is no such run"
    run = found[0]
    checks = (
        ("status", expected.status, run.status),
        ("attempt", expected.attempt, run.attempt),
        ("slaVerdict", expected.sla_verdict, run.sla_verdict),
    )
    wrong = [f"{name} is {is_}" for name, want, is_ in checks if want is not None and want != is_]
    return ", ".join(wrong) or None


def _launches(expected: Expectation, outcome: Outcome) -> str | None:
    found = [
        launch
        for launch in outcome.launches
        if launch.pipeline == expected.launches
        and expected.date in (None, launch.date)
        and expected.schedule in (None, launch.schedule)
    ]
    wanted = expected.count
    if (wanted is None and found) or len(found) == wanted:
        return None
    return f"wanted {'at least 1' if wanted is None else wanted}, found {len(found)}"


def _order(expected: Expectation, events: Sequence[Event]) -> str | None:
    """A subsequence of what happened. Within one instant, any order is accepted."""
    assert expected.order is not None
    told = [
        e
        for e in events
        if expected.pipeline in (None, e.pipeline_id) and expected.date in (None, e.date)
    ]
    left = list(expected.order)
    for _, moment in groupby(sorted(told, key=_when), key=_when):
        there = Counter(event.type.value for event in moment)
        while left and there[_type(left[0])]:
            there[_type(left.pop(0))] -= 1
    return f"{left[0]} does not follow" if left else None


def _when(event: Event) -> datetime:
    return event.timestamp


def _threads(expected: Expectation, outcome: Outcome) -> str | None:
    dates: dict[tuple[str | None, str | None], set[str]] = {}
    for event, thread in outcome.alerts:
        if event.pipeline_id == expected.alerts and expected.date in (None, event.date):
            dates.setdefault((event.schedule_id, event.date), set()).add(thread)
    threads = set().union(*dates.values()) if dates else set()
    if expected.threads is not None and len(threads) != expected.threads:
        return f"wanted {expected.threads} threads, found {len(threads)}"
    if expected.count is not None:
        count = sum(event.pipeline_id == expected.alerts for event, _ in outcome.alerts)
        if count != expected.count:
            return f"wanted {expected.count} alerts, found {count}"
    return None


def _type(name: str) -> str:
    return ALIASES.get(name, name)


def _at(moment: datetime) -> str:
    return timestamp.spell(moment)


def _spelt(expected: Expectation) -> str:
    given = canonical.as_json(expected)
    return canonical.encode({k: v for k, v in given.items() if v is not None})
