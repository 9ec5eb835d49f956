"""All ports: a store that fails at any call leaves the old state or the new one, and can go on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.families import BREAKABLE, Family
from contracts.home import Home
from contracts.samples import (
    KEY,
    NOW,
    ManualClock,
    a_backfill,
    a_config,
    a_delivery,
    a_grant,
    a_key,
    a_pipeline,
    a_reading,
    a_record,
    a_request,
    a_run,
    a_thread,
    a_timer,
    an_event,
    downstream_of,
    reopened,
    taken_away,
    wanted,
)
from interlock.domain.backfill import BegunDate
from interlock.domain.baseline import Baseline
from interlock.domain.run import Status
from interlock.domain.sla import SlaWatch
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import TransientError, UnavailableError

RUN = a_run()
FAILED = RUN.to(Status.FAILED, NOW)
DOWNSTREAM = a_config(downstream_of("bronze", KEY.pipeline_id))

CALLS: dict[str, Callable[[Home], Any]] = {
    "open a run": lambda home: home.runs.open(
        a_run(a_key(date="2026-03-04")), [an_event(1), an_event(2)]
    ),
    "save a run": lambda home: home.runs.save(
        reopened(FAILED),
        [an_event(3)],
        baseline=Baseline(0, {}),
        rerun=a_grant(),
        request=a_request("drift"),
    ),
    "put a reading": lambda home: home.sensors.put(a_reading(count=2)),
    "remove a reading": lambda home: home.sensors.remove(KEY.pipeline_id, "orders-landed", NOW),
    "want a config": lambda home: home.pipelines.want(taken_away(KEY.pipeline_id)),
    "save a config": lambda home: home.pipelines.save(DOWNSTREAM, [an_event(4)]),
    "refuse a config": lambda home: home.pipelines.refuse(wanted(a_pipeline())),
    "append a job record": lambda home: home.job_log.append(a_record("success")),
    "request a rerun": lambda home: home.reruns.request(a_request("again", NOW.replace(hour=11))),
    "judge a rerun": lambda home: home.reruns.judged(a_request()),
    "reject a rerun": lambda home: home.reruns.judged(a_request(), "excluded"),
    "start a backfill": lambda home: home.backfills.save(
        a_backfill("20260304-100000-ffffff"), [an_event(8)]
    ),
    "advance a backfill": lambda home: home.backfills.save(
        a_backfill().changed(begun={"2026-03-01": BegunDate(NOW)}), [an_event(9), an_event(10)]
    ),
    "withdraw a rerun": lambda home: home.reruns.withdraw(KEY, NOW),
    "publish events": lambda home: home.events.publish([an_event(0), an_event(5)]),
    "clear the outbox": lambda home: home.outbox.clear([an_event(0)]),
    "claim an event": lambda home: home.claims.claim(an_event(6)),
    "save a watch": lambda home: home.claims.save_watch(
        SlaWatch(key=a_key(date="2026-03-05")), [an_event(7)]
    ),
    "move a timer": lambda home: home.timers.arm([a_timer(hours=2)]),
    "arm a timer": lambda home: home.timers.arm([a_timer("new")]),
    "cancel a timer": lambda home: home.timers.cancel([a_timer().name]),
    "start an execution": lambda home: home.workflows.start("new", {"pipelineId": "p"}),
    "claim a delivery": lambda home: home.deliveries.save(a_delivery().claimed(NOW)),
    "hold an alert": lambda home: home.deliveries.save(a_delivery().held(NOW)),
    "claim a thread": lambda home: home.threads.save(a_thread().rooted("1", "face")),
    "turn a sink off": lambda home: home.switches.turn_off("ops", "as declared"),
    "save the watchdog's row": lambda home: home.watch.save(WatchdogState(version=1)),
}


def prepare(home: Home) -> None:
    home.runs.open(RUN, [an_event(0)])
    home.runs.save(FAILED)
    home.sensors.put(a_reading(count=1))
    home.pipelines.want(wanted(a_pipeline()))
    home.job_log.append(a_record("triggered"))
    home.reruns.request(a_request())
    home.backfills.save(a_backfill())
    home.timers.arm([a_timer()])
    home.deliveries.save(a_delivery())
    home.threads.save(a_thread())


def state(home: Home) -> Any:
    """Everything that the ports show, except the ids of changes."""
    owners = [str(KEY), str(a_key(date="2026-03-04")), f"{KEY.pipeline_id}/config"]
    owners += [an_event(number).event_id for number in (8, 9, 10)]
    owners += [an_event(6).event_id, f"{a_key(date='2026-03-05')}/sla"]
    return (
        home.runs.find([KEY, a_key(date="2026-03-04")]),
        home.runs.baseline(KEY),
        home.sensors.of_pipeline(KEY.pipeline_id),
        home.pipelines.wanted(KEY.pipeline_id),
        home.pipelines.find(KEY.pipeline_id),
        home.pipelines.unadopted(),
        home.pipelines.downstream_of("bronze"),
        home.job_log.of_run(KEY),
        home.reruns.unjudged(),
        home.reruns.granted(KEY),
        home.reruns.answers([KEY]),
        home.backfills.newest(10),
        home.backfills.unsettled(),
        home.events.newest(),
        [home.outbox.pending(owner) for owner in owners],
        home.claims.is_claimed([an_event(6).event_id]),
        home.claims.watch(a_key(date="2026-03-05")),
        home.deliveries.of_events([an_event(1)]),
        home.deliveries.held(a_delivery().target, NOW),
        home.threads.find(a_thread().key),
        home.switches.is_off("ops", "as declared"),
        home.armed(),
        home.workflows.describe("new"),
        home.watch.load(),
        [msgspec.structs.replace(change, id="") for change in home.changes()],
    )


@pytest.fixture(params=BREAKABLE)
def family(request: pytest.FixtureRequest) -> Family:
    chosen: Family = request.param
    return chosen


@pytest.mark.parametrize("name", CALLS)
def test_a_store_that_fails_leaves_the_old_state_or_the_new_one(
    name: str, family: Family, tmp_path: Path, clock: ManualClock
) -> None:
    call = CALLS[name]
    old, new = _before_and_after(call, family, tmp_path / "sound", clock)
    assert old != new
    for broken_at in count(1):
        with _prepared(family, tmp_path / str(broken_at), clock) as home:
            try:
                call(home.failing(broken_at))
            except (TransientError, UnavailableError):
                assert state(home) in (old, new)
                call(home)  # the next try finishes the work
                assert state(home) == new
            else:
                assert state(home) == new
                break
    assert broken_at > 2  # at least its statement, and the answer


def test_timers_that_could_not_all_be_armed_are_armed_by_the_next_try(
    family: Family, tmp_path: Path, clock: ManualClock
) -> None:
    timers = [a_timer(hours=2), a_timer("new"), a_timer("newer")]
    for broken_at in count(1):
        with _prepared(family, tmp_path / str(broken_at), clock) as home:
            try:
                home.failing(broken_at).timers.arm(timers)
                break
            except (TransientError, UnavailableError):
                home.timers.arm(timers)
            finally:
                assert home.armed() == {timer.name: timer.due_at for timer in timers}


def _before_and_after(
    call: Callable[[Home], Any], family: Family, folder: Path, clock: ManualClock
) -> tuple[Any, Any]:
    with _prepared(family, folder, clock) as home:
        old = state(home)
        call(home)
        return old, state(home)


@contextmanager
def _prepared(family: Family, folder: Path, clock: ManualClock) -> Iterator[Home]:
    folder.mkdir()
    with family.open(folder, clock) as home:
        prepare(home)
        yield home
