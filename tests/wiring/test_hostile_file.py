"""A state file with hostile rows of every kind: the controller, every command and every page go on."""

import logging
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.place import CADENCE, ORDERS, Place
from contracts.hostile import KINDS, spoiler_of_file
from contracts.samples import a_backfill, a_delivery, a_handling, an_event
from interlock.adapters.alerts.lines import LineAlerts
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.threads import Thread, ThreadKey
from interlock.domain.baseline import Baseline
from interlock.domain.callers import AuditEntry
from interlock.domain.event import EventType
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.run import DeadlineKind, Evidence, RunKey, Status
from interlock.domain.sla import SlaWatch
from interlock.operations.tokens import make_token, new_secret
from interlock.runtime.alert_sender import AlertSender
from interlock.runtime.alerting import console_alone
from interlock.runtime.loop import Runtime
from interlock.simulation.scenario import JobScript
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.usecases.open_run import deadline_timer
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from web.house import House
from web.pages.visitor import Visitor

GOLD = """\
pipeline: {id: gold-orders}
schedule: {cron: '*/10 * * * *', evaluation: {window: 5m}}
validation: {rules: [{key: x, check: exists}]}
sla: {deadline: ':30', expectedDuration: 10m}
"""
_OF_ORDERS = "pipeline = 'silver-orders'"
#: More rounds than anything that comes to an end needs.
_ROUNDS = 300
PAGES = ("/", "/timeline", "/timeline?span=14d", "/pipelines", "/sla", "/dependencies", "/events",
         "/audit", "/pipelines/silver-orders", "/pipelines/gold-orders")  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


def fill(store: Store, key: RunKey, now: datetime) -> None:
    """A row of every kind that the ordinary course of things has not left there."""
    run = store.runs.get(key)
    claim = an_event(kind=EventType.VALIDATION_PASSED, key=key, at=now)
    assert store.claims.claim(claim)
    assert store.claims.save_watch(SlaWatch(key=replaced(key, "2020-01-01"), breach_at=now))
    seen = {"orders": Evidence("orders", "v", {"count": 1})}
    again = RerunRecord(
        key=key, attempt=run.attempt, source="job", reason="", triggered_at=now, request="r"
    )
    assert store.runs.save(run.changed(now), baseline=Baseline(0, seen), rerun=again)
    request = RerunRequest(key=replaced(key, "2020-01-02"), reason="manual", requested_at=now)
    store.reruns.request(request)
    store.timers.arm([deadline_timer(key, kind, now) for kind in DeadlineKind])
    assert store.deliveries.save(a_delivery(claim))
    thread = ThreadKey(key.pipeline_id, key.schedule_id, key.date, "console")
    assert store.threads.save(Thread(key=thread, sink="console", created_at=now, claim_until=now))
    about = {"pipeline_id": key.pipeline_id, "schedule_id": key.schedule_id}
    assert store.backfills.save(a_backfill(**about, requested_at=now, changed_at=now))
    assert store.handlings.save(a_handling())
    (change, *_) = store.changes.next("nobody", 1)
    store.changes.park("router", change, "on purpose", now)
    store.tokens.create(make_token("t", ("read",), (), new_secret(), now))
    store.audit.note(AuditEntry(at=now, actor="ada", action="rerun", target="x"))


def replaced(key: RunKey, date: str) -> RunKey:
    return RunKey(key.pipeline_id, key.schedule_id, date)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two pipelines at work, and a row of every kind."""
    place = Place(tmp_path_factory.mktemp("sound"))
    place.scripts["silver-orders"] = (JobScript(after="5h"),)
    place.declare(ORDERS)
    place.declare(GOLD)
    place.put(count=1940)
    place.wait(minutes=30)
    key = RunKey("silver-orders", "stream", place.today)
    with open_local_backend(place.settings, clock=lambda: place.now) as home:
        fill(home.store, key, place.now)
    return place


def copied(sound: Place, folder: Path) -> Place:
    shutil.copytree(sound.folder, folder, dirs_exist_ok=True)
    place = Place(folder)
    place.now, place.today = sound.now, sound.today
    return place


def spoil(path: Path, number: int, *kinds: str) -> list[str]:
    """The kinds that have such a form."""
    with Database(path) as database:
        spoiler = spoiler_of_file(database, _OF_ORDERS)
        return [kind for kind in kinds if spoiler(kind, number)]


def work(home: LocalBackend, clock: Any, span: timedelta) -> None:
    """The controller at work for a while; whatever is due comes to an end."""
    jobs = ScriptedJobs({}, clock)
    ports = replace(home.ports, jobs=jobs)
    runtime = Runtime(home.store, ports, CADENCE)
    lines: list[str] = []
    alerting = console_alone(home.store, ports.events, LineAlerts(lines.append))
    dispatcher = AlertSender(home.store, lambda: alerting)
    until = clock.now + span
    while clock.now < until:
        clock.now = min(until, clock.now + timedelta(minutes=1))
        ends(runtime.step)
        ends(lambda: dispatcher.step(clock.now))


def ends(step: Callable[[], bool]) -> None:
    for _ in range(_ROUNDS):
        if not step():
            return
    raise AssertionError("there is always more to do")


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


#: A moment of the other pipeline, and two passes of the watchdog that find it where its timer is lost.
_SPAN = timedelta(minutes=11) + 2 * CADENCE


def controlled(place: Place) -> list[Any]:
    """What was told by a controller that goes on with the file."""
    clock = Clock(place.now)
    with open_local_backend(place.settings, clock=clock) as home:
        before = home.store.events.last()
        work(home, clock, _SPAN)
        state = home.store.watch.load()
        assert state.last_ok_at is not None and clock.now - state.last_ok_at <= CADENCE
        assert state.failures == ()
        return [told.event for told in home.store.events.after(before, 10_000)]


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_of_hostile_row_stops_neither_the_controller_nor_the_watchdog(
    sound: Place, tmp_path: Path, kind: str
) -> None:
    for number in range(20):
        place = copied(sound, tmp_path / str(number))
        if not spoil(place.state, number, kind):
            assert number > 0
            return
        told = controlled(place)
        opened = [e for e in told if e.pipeline_id == "gold-orders"]
        assert opened or kind in ("config", "event"), "the other pipeline stands still"
        counted = [e.event_id for e in told if e.type is EventType.ROW_UNREADABLE]
        assert len(counted) == len(set(counted))
        late = {e.type for e in told if e.date == place.today and e.pipeline_id == "silver-orders"}
        if kind == "run":
            assert late == {EventType.ROW_UNREADABLE}


@pytest.mark.parametrize("number", range(6))
def test_with_every_row_hostile_the_controller_goes_on(
    sound: Place, tmp_path: Path, number: int
) -> None:
    place = copied(sound, tmp_path)
    assert len(spoil(place.state, number, *KINDS)) > 10
    controlled(place)


def commands(place: Place) -> Iterator[tuple[str, ...]]:
    pipeline, date = "silver-orders", place.today
    for looked in (
        ("status",), ("runs",), ("runs", pipeline), ("why", pipeline), ("why", pipeline, date),
        ("run", pipeline, date), ("events",), ("events", "--pipeline", pipeline),
        ("sensor", "list", pipeline), ("doctor",), ("token", "list"),
    ):  # fmt: skip
        yield looked
        if looked[0] != "token":
            yield (*looked, "--json")
    yield ("watchdog",)
    yield ("rerun", pipeline, date, "--wait", "0")
    yield ("pause", pipeline)
    yield ("resume", pipeline)
    yield ("sensor", "put", pipeline, "orders", "count=5")
    yield ("backup", str(place.folder / "copy.db"))
    yield ("prune", "--runs-before", "2020-01-01", "--yes")


def is_an_answer(place: Place, arguments: tuple[str, ...]) -> bool:
    """An exit code that a command chose, and no fault of its own; a row in the way is named."""
    result = place.run(*arguments)
    broke = result.exception is not None and not isinstance(result.exception, SystemExit)
    named = "can't be read" in str(result.exception)
    assert not broke or named, (arguments, result.output, result.exception)
    return True


@pytest.mark.parametrize("number", range(6))
def test_with_every_row_hostile_every_command_answers(
    sound: Place, tmp_path: Path, number: int
) -> None:
    place = copied(sound, tmp_path)
    spoil(place.state, number, *KINDS)
    for arguments in commands(place):
        assert is_an_answer(place, arguments)


@pytest.mark.parametrize("kind", ["run", "reading", "event", "watch", "job record", "armed"])
def test_a_hostile_row_of_a_date_fails_no_command(sound: Place, tmp_path: Path, kind: str) -> None:
    place = copied(sound, tmp_path)
    assert spoil(place.state, 0, kind)
    for arguments in commands(place):
        result = place.run(*arguments)
        allowed = (0, 1) if arguments[0] in ("doctor", "status", "watchdog") else (0,)
        refused = arguments[0] == "rerun"  # a date that runs is not run again
        assert result.exit_code in allowed or refused, (arguments, result.output, result.exception)


def test_the_doctor_names_the_row_and_what_to_do_about_it(sound: Place, tmp_path: Path) -> None:
    place = copied(sound, tmp_path)
    assert spoil(place.state, 0, "run")
    found = [each for each in place.json("doctor", code=1) if each["check"] == "rows"]
    (row,) = found
    assert row["level"] == "wrong"
    assert f"date = '{place.today}'" in row["what"] and "runs" in row["what"]
    assert "make sure that no job of the date is running" in row["remedy"]
    statement = row["remedy"].partition("sqlite3 ")[2]
    assert "DELETE FROM runs WHERE pipeline = 'silver-orders'" in statement
    assert str(place.state) in statement
    shown = place.shown("run", "silver-orders", place.today)
    assert "its stored row can't be read: " in shown and "opened" not in shown.splitlines()[1]


def test_what_the_doctor_advises_gives_the_date_back(sound: Place, tmp_path: Path) -> None:
    place = copied(sound, tmp_path)
    assert spoil(place.state, 0, "run")
    (row,) = (each for each in place.json("doctor", code=1) if each["check"] == "rows")
    command, path, statement = shlex.split(row["remedy"].partition(", then: ")[2])
    assert (command, path) == ("sqlite3", str(place.state))
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        assert file.execute(statement).rowcount == 1
    (row,) = (each for each in place.json("doctor", code=1) if each["check"] == "rows")
    assert row["level"] == "fine"


def test_the_doctor_is_content_with_rows_that_can_be_read(sound: Place) -> None:
    (row,) = (each for each in sound.json("doctor", code=1) if each["check"] == "rows")
    assert (row["level"], row["what"]) == ("fine", "every stored row can be read")


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    house.put({"date": "2026-03-03", "count": 5})
    house.runtime.settle()
    now = house.home.ports.clock()
    run = house.home.store.runs.get(RunKey("silver-orders", "stream", "2026-03-03"))
    fill(house.home.store, run.key, now)
    yield house
    house.close()


@pytest.mark.parametrize("number", range(6))
def test_with_every_row_hostile_every_page_stands(house: House, number: int) -> None:
    spoiler = spoiler_of_file(house.database, _OF_ORDERS)
    visitor = Visitor(house)
    for kind in KINDS:
        if kind not in ("config", "token"):
            spoiler(kind, number)
    for path in (*PAGES, "/runs/silver-orders/stream/2026-03-03"):
        visitor.see(path)
    for path in ("pipelines", "runs", "events", "pipelines/silver-orders/why"):
        answer = house.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, (path, answer.text)
    assert house.client.get("/metrics").status_code == 200


def test_a_date_whose_row_cannot_be_read_is_shown_as_that(house: House) -> None:
    assert spoiler_of_file(house.database, _OF_ORDERS)("run", 0)
    visitor = Visitor(house)
    page = visitor.see("/runs/silver-orders/stream/2026-03-03").text
    assert "The stored row of this date can't be read" in page
    assert "unreadable" in visitor.see("/pipelines/silver-orders").text
    answer = house.client.get("/api/v1/runs/silver-orders/stream/2026-03-03").json()
    assert answer["run"]["status"] == Status.UNREADABLE
    house.home.store.runs.find([RunKey("silver-orders", "stream", "2026-03-03")])
    house.runtime.settle()
    assert "unreadable row" in visitor.see("/").text
