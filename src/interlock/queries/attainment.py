"""Attainment: how well deadlines are met, by pipeline and day."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.deadline import SlaVerdict
from interlock.domain.history import Tally
from interlock.domain.run import Status
from interlock.ports.reads import History
from interlock.queries.timeline import days_between


class DayAttainment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How the dates of one day did against their deadlines."""

    day: str
    met: int = 0
    breached: int = 0
    undecided: int = 0
    #: Seconds left at completion, on average; negative when late.
    slack_seconds: float | None = None


class Attainment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How well a pipeline meets its deadlines."""

    pipeline_id: str
    met: int
    breached: int
    undecided: int
    #: The share that was met; None without a decided date.
    attained: float | None
    days: list[DayAttainment]


def attainments(
    configs: Sequence[Config], since: datetime, until: datetime, history: History
) -> list[Attainment]:
    """For the pipelines that have a deadline."""
    bound = [each for each in configs if each.pipeline.sla and each.pipeline.sla.has_deadline]
    if not bound:
        return []
    found = defaultdict[str, list[Tally]](list)
    first, last = days_between(bound, since, until)
    for tally in history.tallies([config.pipeline.id for config in bound], first, last):
        if tally.status is Status.SKIPPED:
            continue  # a date that need not run has no deadline
        found[tally.newest.pipeline_id].append(tally)
    return [_attainment(config.pipeline.id, found[config.pipeline.id]) for config in bound]


def part_met(met: int, breached: int) -> float | None:
    decided = met + breached
    return round(met / decided, 4) if decided else None


def _attainment(pipeline_id: str, tallies: Iterable[Tally]) -> Attainment:
    by_day = defaultdict[str, list[Tally]](list)
    for tally in tallies:
        by_day[tally.day].append(tally)
    days = [_kept(day, by_day[day]) for day in sorted(by_day)]
    met, breached = sum(each.met for each in days), sum(each.breached for each in days)
    return Attainment(
        pipeline_id=pipeline_id,
        met=met,
        breached=breached,
        undecided=sum(each.undecided for each in days),
        attained=part_met(met, breached),
        days=days,
    )


def _kept(day: str, tallies: Sequence[Tally]) -> DayAttainment:
    counts = defaultdict[SlaVerdict | None, int](int)
    for tally in tallies:
        counts[tally.sla_verdict] += tally.count
    done = [tally for tally in tallies if tally.slack is not None]
    left, runs = sum(tally.slack or 0 for tally in done), sum(tally.count for tally in done)
    return DayAttainment(
        day=day,
        met=counts[SlaVerdict.MET],
        breached=counts[SlaVerdict.BREACHED],
        undecided=counts[None],
        slack_seconds=round(left / runs, 1) if runs else None,
    )
