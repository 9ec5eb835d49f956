"""Skipped dates: a downstream is told why it waits, and attainment and backfills leave them out."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from interlock.domain.run import RunKey
from interlock.operations.requests import BackfillQuery, OnDate, RangeQuery
from interlock.queries.why import explain
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import skip_run
from usecases.home import Home
from web.house import House, opened

DAY = "2026-03-03"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


def blocked(home: Home, name: str) -> tuple[str, ...]:
    (why,) = explain(name, home.ports, DAY)
    return why.blocked_by


@pytest.mark.parametrize("hours", [False, True])
def test_a_downstream_says_that_the_date_it_waits_for_was_skipped(hours: bool) -> None:
    home = Home()
    home.adopt("schedule: {cron: '0 * * * *'}" if hours else "")
    trigger = "{pipeline: silver-orders, hours: all}" if hours else "{pipeline: silver-orders}"
    home.adopt(f"pipeline: {{id: gold}}\nschedule: {{trigger: {trigger}}}")
    assert not any("skipped" in line for line in blocked(home, "gold"))
    schedule, date = ("cron", f"{DAY}T05") if hours else ("stream", DAY)
    skip_run(RunOrder(RunKey("silver-orders", schedule, date), "ada", "a holiday"), home.ports)
    assert f"upstream silver-orders {date} is skipped by ada: a holiday" in blocked(home, "gold")
    assert blocked(home, "silver-orders") or hours


def test_a_skipped_date_is_neither_attained_nor_backfilled(house: House) -> None:
    house.declare("sla: {deadline: '10:00'}")
    house.runtime.settle()
    now = house.home.ports.clock()
    date = f"{now:%F}"
    order = RunOrder(RunKey("silver-orders", "stream", date), "ada", "a holiday")
    skip_run(order, house.home.ports)
    queries = house.home.queries
    (found,) = queries.sla(RangeQuery(since=now - timedelta(days=3), until=now)).items
    assert (found.met, found.breached, found.undecided) == (0, 0, 0)
    assert queries.backfill("silver-orders", BackfillQuery(since=date, until=date)).items == []
    (why,) = queries.why("silver-orders", OnDate(date=date)).items
    assert why.unblock == (f"interlock unskip silver-orders {date} --reason WHY",)
