"""Any sequence of calls gets the answers that a model of plain dicts gives."""

from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from budget import budget
from contracts.families import FAMILIES, Family
from contracts.home import Home, tell
from contracts.samples import (
    KEY,
    LEASE,
    ManualClock,
    a_grant,
    a_key,
    a_run,
    an_event,
)
from interlock.domain.baseline import Baseline
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.run import TRANSITIONS, OpenedBy, Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.domain.timer import Timer

KEYS = [KEY, a_key(dry=True), a_key(date="2026-03-04")]
SENSORS = ["orders", "orders#2026-03-03", "orders#20260303"]
TIMERS = ["breach.a", "retry.b"]

keys = st.sampled_from(KEYS)
sensor_keys = st.sampled_from(SENSORS)
timer_names = st.sampled_from(TIMERS)


class Model:
    """What the ports should say, in the plainest words."""

    def __init__(self) -> None:
        self.runs: dict[RunKey, Run] = {}
        self.baselines: dict[RunKey, tuple[Baseline, datetime]] = {}
        self.granted: dict[RunKey, dict[int, RerunRecord]] = {}
        self.requests: dict[RunKey, tuple[RerunRequest, bool]] = {}
        self.readings: dict[str, Reading] = {}
        self.timers: dict[str, datetime] = {}
        self.claims: dict[str, datetime] = {}
        self.outbox: dict[str, dict[str, Event]] = {}
        self.told: dict[str, Event] = {}

    def live(self, now: datetime) -> dict[RunKey, Run]:
        return {key: run for key, run in self.runs.items() if not _expired(run, now)}

    def put_out(self, owner: str, events: list[Event]) -> None:
        waiting = {event_id for box in self.outbox.values() for event_id in box}
        for event in events:
            if event.event_id not in waiting:
                self.outbox.setdefault(owner, {})[event.event_id] = event


def _expired(run: Run, now: datetime) -> bool:
    over_at = max(run.changed_at, run.lease_until)
    return run.key.dry and not run.is_open and now >= over_at + timedelta(days=91)


def _owner(key: RunKey) -> str:
    return f"{key}/dry" if key.dry else str(key)


class Ports(RuleBasedStateMachine):
    """Every rule makes one call and compares its answer; every step compares what is stored."""

    family: Family

    @initialize()
    def open_home(self) -> None:
        self.stack = ExitStack()
        folder = Path(self.stack.enter_context(TemporaryDirectory()))
        self.clock = ManualClock()
        self.home: Home = self.stack.enter_context(self.family.open(folder, self.clock))
        self.model = Model()
        self.told = 0

    def teardown(self) -> None:
        self.stack.close()

    # --- time and events ---

    @rule(hours=st.sampled_from([1, 24, 24 * 36, 24 * 92]))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours=hours, milliseconds=1)

    def event(self, key: RunKey = KEY) -> Event:
        self.told += 1
        return an_event(self.told, key, at=self.clock.now)

    @rule(key=keys)
    def publish_an_outbox(self, key: RunKey) -> None:
        events = list(self.model.outbox.get(_owner(key), {}).values())
        tell(self.home, events)
        self.model.told |= {event.event_id: event for event in events}
        self.model.outbox[_owner(key)] = {}

    # --- runs ---

    @rule(key=keys)
    def open_a_run(self, key: RunKey) -> None:
        run, event = a_run(key, self.clock.now), self.event(key)
        absent = key not in self.model.live(self.clock.now)
        assert self.home.runs.open(run, [event]) is absent
        if absent:
            self.model.runs[key] = run
            self.model.put_out(_owner(key), [event])

    @rule(key=keys, to=st.sampled_from(Status), skew=st.sampled_from([-1, 0, 1]))
    def save_any_version_of_a_run(self, key: RunKey, to: Status, skew: int) -> None:
        before = self.model.runs.get(key)
        if before is None:
            assert not self.home.runs.save(a_run(key, self.clock.now).changed(self.clock.now))
            return
        run, legal = self._next(before, to)
        run = msgspec.structs.replace(run, version=run.version + skew)
        self._save(run, legal and skew == 0, {})

    @rule(key=keys, choice=st.sampled_from([0, 0, 0, 1, 2]), asks=st.booleans())
    def move_a_run_on(self, key: RunKey, choice: int, asks: bool) -> None:
        before = self.model.runs.get(key)
        if before is not None:
            ways = sorted(TRANSITIONS[before.status], key=lambda way: (way in _FAILURES, way))
            run, legal = self._next(before, ways[choice % len(ways)])
            self._save(run, legal, self._company(run, asks))

    def _save(self, run: Run, legal: bool, given: dict[str, Any]) -> None:
        assert self.home.runs.save(run, [], **given) is legal
        if legal:
            self.model.runs[run.key] = run
            self._note(run.key, given)

    def _next(self, before: Run, to: Status) -> tuple[Run, bool]:
        now = self.clock.now
        if to is Status.PENDING and to in TRANSITIONS[before.status]:
            return before.reopened(now, OpenedBy.RETRY, "job", LEASE), True
        return before.changed(now, status=to), to in {before.status, *TRANSITIONS[before.status]}

    def _company(self, run: Run, asks: bool) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if run.status is Status.COMPLETED:
            given["baseline"] = Baseline(run.attempt, {})
        if run.status is Status.PENDING:
            given["rerun"] = a_grant(run.attempt, run.key)
        if asks:
            given["request"] = self._request(run.key)
        return given

    def _note(self, key: RunKey, given: dict[str, Any]) -> None:
        if "baseline" in given:
            self.model.baselines[key] = given["baseline"], self.clock.now + timedelta(days=35)
        if "rerun" in given:
            self.model.granted.setdefault(key, {})[given["rerun"].attempt] = given["rerun"]
        if "request" in given:
            self._note_request(given["request"])

    # --- reruns ---

    def _request(self, key: RunKey) -> RerunRequest:
        return RerunRequest(key=key, reason="operator", requested_at=self.clock.now)

    def _note_request(self, request: RerunRequest) -> None:
        stored = self.model.requests.get(request.key)
        if stored is None or stored[0].id != request.id:
            self.model.requests[request.key] = request, False

    @rule(key=keys)
    def request_a_rerun(self, key: RunKey) -> None:
        self.home.reruns.request(self._request(key))
        self._note_request(self._request(key))

    @rule(key=keys, older=st.booleans())
    def judge_a_request(self, key: RunKey, older: bool) -> None:
        request, _ = self.model.requests.get(key, (self._request(key), False))
        if older:
            earlier = request.requested_at - timedelta(microseconds=1)
            self.home.reruns.judged(msgspec.structs.replace(request, requested_at=earlier))
            return
        self.home.reruns.judged(request)
        if key in self.model.requests:
            self.model.requests[key] = request, True

    @rule(key=keys)
    def withdraw_a_request(self, key: RunKey) -> None:
        self.home.reruns.withdraw(key, self.clock.now)
        self.model.requests.pop(key, None)

    # --- readings, timers, marks ---

    @rule(key=sensor_keys, count=st.integers(0, 3))
    def put_a_reading(self, key: str, count: int) -> None:
        reading = Reading(KEY.pipeline_id, key, {"count": count}, self.clock.now)
        self.home.sensors.put(reading)
        self.model.readings[key] = reading

    @rule(key=sensor_keys)
    def remove_a_reading(self, key: str) -> None:
        self.home.sensors.remove(KEY.pipeline_id, key, self.clock.now)
        self.model.readings.pop(key, None)

    @rule(name=timer_names, hours=st.integers(-1, 2))
    def arm_a_timer(self, name: str, hours: int) -> None:
        due_at = self.clock.now + timedelta(hours=hours)
        self.home.timers.arm([Timer(name, "breach", due_at, {})])
        self.model.timers[name] = due_at

    @rule(name=timer_names)
    def cancel_a_timer(self, name: str) -> None:
        self.home.timers.cancel([name])
        self.model.timers.pop(name, None)

    @rule(part=st.integers(0, 2))
    def claim_an_event(self, part: int) -> None:
        event = an_event(f"claim-{part}")
        now = self.clock.now
        absent = self.model.claims.get(event.event_id, now) <= now
        assert self.home.claims.claim(event) is absent
        if absent:
            self.model.claims[event.event_id] = now + timedelta(days=35)
            self.model.put_out(event.event_id, [event])

    # --- what must be equal after every step ---

    def is_open(self) -> bool:
        return hasattr(self, "home")

    @precondition(is_open)
    @invariant()
    def the_runs_are_those_of_the_model(self) -> None:
        live = self.model.live(self.clock.now)
        assert self.home.runs.find(KEYS) == live
        active = [run for run in live.values() if run.status not in _FINAL]
        assert sorted(run.key for run in self.home.runs.active()) == sorted(
            run.key for run in active
        )
        assert self.home.runs.open_executions() == {
            run.execution_name: run.key for run in active if run.is_open
        }
        for key in KEYS:
            kept = self.model.baselines.get(key)
            present = kept is not None and kept[1] > self.clock.now
            assert self.home.runs.baseline(key) == (kept[0] if kept and present else None)
            granted = [record for _, record in sorted(self.model.granted.get(key, {}).items())]
            assert self.home.reruns.granted(key) == granted

    @precondition(is_open)
    @invariant()
    def everything_else_is_that_of_the_model(self) -> None:
        model = self.model
        assert self.home.sensors.find(KEY.pipeline_id, SENSORS) == model.readings
        assert self.home.armed() == model.timers
        waiting = [request for request, judged in model.requests.values() if not judged]
        found = self.home.reruns.unjudged()
        assert sorted(found, key=_by_key) == sorted(waiting, key=_by_key)
        claims = {claim for claim, until in model.claims.items() if until > self.clock.now}
        assert self.home.claims.is_claimed(model.claims) == claims
        for owner, box in model.outbox.items():
            assert self.home.outbox.pending(owner) == list(box.values())
        told = {event.event_id: event for event in self.home.events.newest(limit=10_000)}
        assert told == model.told


_FINAL = (Status.COMPLETED, Status.FAILED_FINAL, Status.SKIPPED)
_FAILURES = (Status.FAILED, Status.FAILED_FINAL)


def _by_key(request: RerunRequest) -> RunKey:
    return request.key


@pytest.mark.parametrize("family", FAMILIES)
def test_any_sequence_of_calls_is_answered_as_the_model_answers_it(family: Family) -> None:
    class Chosen(Ports):
        pass

    Chosen.family = family
    run_state_machine_as_test(
        Chosen,
        settings=settings(
            max_examples=budget(family.sequences, max(1, family.sequences // 3)),
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
