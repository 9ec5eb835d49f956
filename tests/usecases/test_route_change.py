"""Routing a change: by the kind of record, and nothing more; and saving what was decided from it."""

from typing import Any

import pytest

from interlock.domain.change import Change, ChangeKind
from interlock.domain.run import Run, Status
from interlock.errors import TransientError
from interlock.usecases.route_change import route_change
from interlock.usecases.save_run import RunWrite, save_run
from usecases.home import KEY, NOW, Home


def changes(home: Home) -> list[Change]:
    """What the feed has to tell, in order."""
    return home.store.changes.next("test", 100)


def route_all(home: Home) -> None:
    for change in changes(home):
        route_change(change, home.ports)
        home.store.changes.done("test", change)


def test_each_record_takes_its_own_way(home: Home) -> None:
    home.want("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    route_all(home)
    assert home.store.pipelines.find("silver-orders") is not None
    home.reading(date="2026-03-03")
    route_all(home)
    assert home.run().status is Status.PENDING
    home.mode("evaluate")
    home.mode("trigger")
    home.job_says("fail", 0)
    route_all(home)
    assert list(home.armed()) == ["retry.silver-orders.stream.2026-03-03.0"]
    home.request()
    route_all(home)
    assert home.told()[-1] == "RERUN_REJECTED"  # a run is in progress


def test_a_record_that_is_gone_opens_nothing(home: Home) -> None:
    home.adopt()
    home.reading(date="2026-03-03")
    home.store.sensors.remove("silver-orders", "orders", NOW)
    home.request()
    home.store.reruns.withdraw(KEY, NOW)
    gone = [change for change in changes(home) if change.removed]
    assert {change.kind for change in gone} == {ChangeKind.SENSOR, ChangeKind.RERUN}
    for change in gone:
        route_change(change, home.ports)
    assert home.store.runs.find([KEY]) == {}


def test_a_record_may_come_again(home: Home) -> None:
    home.adopt()
    home.reading(date="2026-03-03")
    route_all(home)
    before = home.state()
    for change in changes(home):
        route_change(change, home.ports)
    assert home.state() == before


def test_a_change_that_tells_nothing_changes_nothing(home: Home) -> None:
    empty = Change(
        id="1", kind=ChangeKind.SENSOR, pipeline_id="silver-orders", key="orders", at=NOW
    )
    route_change(empty, home.ports)
    assert home.events() == []


class Busy:
    """Runs that another writer writes first, this many times."""

    def __init__(self, home: Home, times: int) -> None:
        self._runs, self.left = home.store.runs, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def save(self, run: Run, *given: Any, **also: Any) -> bool:
        self.left -= 1
        if self.left >= 0:
            ours = self._runs.get(run.key)
            assert self._runs.save(ours.changed(NOW))
        return self._runs.save(run, *given, **also)


@pytest.mark.parametrize(("times", "wins"), [(0, True), (7, True), (8, False)])
def test_a_lost_race_is_decided_again_but_not_forever(home: Home, times: int, wins: bool) -> None:
    home.adopt()
    home.admit()
    decided: list[int] = []

    def decide(run: Run) -> RunWrite:
        decided.append(run.version)
        return RunWrite(run.to(Status.FAILED, NOW))

    ports = home.with_ports(runs=Busy(home, times))
    if wins:
        assert save_run(KEY, decide, ports).status is Status.FAILED
    else:
        with pytest.raises(
            TransientError, match="another writer got there first, 8 times in a row"
        ):
            save_run(KEY, decide, ports)
    assert decided == sorted(set(decided))  # each time from what is stored by then
