"""Half a minute of every trouble at once leaves the books in order, and wrong books are found out."""

import dataclasses
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from attack.books import Books, Event, State, lost, problems, read_launches, read_state, under_way
from attack.file_edits import CUT
from attack.job_platform import JobPlatform
from attack.ledger import Launch, Ledger, Outcome, Put, Span
from attack.play import ATTACKERS, Plan, Play
from attack.producers import Dates, Producer, minute_deadline
from attack.project import Pipeline, attacked
from attack.readiness import Readiness
from attack.victim import Victim
from attack.worker import Worker
from budget import budget

SENT = 1_000.0
ORDERS = Pipeline("orders", max_duration=6)
GOOD = Put("attacked", "orders", "2020-01-02", True, SENT, SENT + 1, Outcome.ACKNOWLEDGED, "200")
BAD = dataclasses.replace(GOOD, date="2020-01-03", good=False)
JOB = Launch("token", "orders", "2020-01-02", 0, SENT + 1, SENT + 2)
DONE = ("orders", "2020-01-02")


def books(
    puts: tuple[Put, ...] = (GOOD,),
    launches: tuple[Launch, ...] = (JOB,),
    status: str = "COMPLETED",
    events: tuple[Event, ...] = (),
) -> Books:
    readings = frozenset((put.pipeline, put.date) for put in puts)
    return Books(
        (ORDERS,), puts, launches, State("ok", {DONE: {"stream": status}}, readings, events)
    )


def test_every_trouble_at_once_leaves_the_books_in_order(tmp_path: Path) -> None:
    said: list[str] = []
    plan = Plan(seconds=budget(60, 15), seed=7, kinds=frozenset(ATTACKERS), pause=0.8, settle=240)

    found = Play(plan, tmp_path, said.append).run()

    assert found == [], "".join(said)


def test_books_in_order_have_no_problems() -> None:
    assert problems(books()) == lost(books()) == under_way(books()) == []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (books(launches=(JOB, JOB)), "the token token was launched 2 times"),
        (
            books(launches=(JOB, dataclasses.replace(JOB, token="b"))),
            "attempt 0 was launched 2 times",
        ),
        (
            books(launches=(JOB, dataclasses.replace(JOB, token="b", attempt=1))),
            "launched again (b) although token had ended well",
        ),
        (books(puts=()), "nothing was ever reported"),
        (books(puts=(dataclasses.replace(GOOD, good=False),)), "the rules refuse"),
        (books(puts=(dataclasses.replace(GOOD, outcome=Outcome.REFUSED),)), "was refused"),
        (
            books(events=(Event("RELATIVE_SLA_BREACH", *DONE, SENT + 7),)),
            "its job ended 4.0s before the deadline",
        ),
        (dataclasses.replace(books(), state=State("malformed")), "the state file: malformed"),
        (dataclasses.replace(books(), state=State()), "the reading is not there"),
    ],
)
def test_wrong_books_are_found_out(wrong: Books, told: str) -> None:
    assert any(told in problem for problem in problems(wrong))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (books(launches=()), "no job has ended"),
        (books(launches=(dataclasses.replace(JOB, ended_at=None),)), "no job has ended"),
        (books(status="RUNNING"), "the run is stream RUNNING"),
    ],
)
def test_a_date_that_is_not_done_is_lost(wrong: Books, told: str) -> None:
    assert any(told in problem for problem in lost(wrong))


def test_a_retry_that_is_due_within_minutes_is_good_enough_where_there_was_no_time_for_it() -> None:
    state = State("ok", {DONE: {"stream": "FAILED"}}, retries=frozenset({DONE}))
    short = dataclasses.replace(books(launches=()), state=state, to_the_end=False)

    assert lost(short) == []
    assert lost(dataclasses.replace(short, to_the_end=True)) != []


def test_what_is_as_it_should_be_is_no_problem() -> None:
    """A refused reading that ran nothing, an unknown one that ran, a breach of a job that was late."""
    refused = dataclasses.replace(GOOD, outcome=Outcome.REFUSED)
    unknown = dataclasses.replace(GOOD, outcome=Outcome.UNKNOWN)
    late = dataclasses.replace(JOB, ended_at=SENT + 9)
    breach = Event("RELATIVE_SLA_BREACH", *DONE, SENT + 7)

    assert problems(books(puts=(refused,), launches=())) == []
    assert problems(books(puts=(unknown,))) == []
    assert lost(books(puts=(unknown,), launches=())) == []
    assert problems(books(puts=(GOOD, BAD))) == []
    assert problems(books(launches=(late,), events=(breach,))) == []


def test_a_retry_after_a_job_that_never_ended_is_no_second_launch() -> None:
    broken = dataclasses.replace(JOB, ended_at=None)
    again = dataclasses.replace(JOB, token="b", attempt=1, began_at=SENT + 3)

    assert problems(books(launches=(broken, again))) == []


def test_a_half_written_file_that_rested_too_long_excuses_only_its_own_time() -> None:
    wrong = books(puts=(dataclasses.replace(GOOD, good=False),))

    inside = dataclasses.replace(wrong, excused={"orders": [Span(SENT - 1, SENT + 1)]})
    outside = dataclasses.replace(wrong, excused={"orders": [Span(SENT + 1, SENT + 2)]})

    assert problems(inside) == []
    assert problems(outside) != []


@pytest.mark.parametrize(
    ("told_at", "trouble", "named_at", "remote", "excused"),
    [
        (SENT + 80, Span(SENT + 5, SENT + 70), SENT + 1, True, True),
        (SENT + 30, Span(SENT + 5, SENT + 20), SENT + 1, True, False),  # it asked within a minute
        (SENT + 80, Span(SENT + 1, SENT + 5), SENT + 1, True, False),  # nothing kept it from asking
        (SENT + 80, Span(SENT + 1, SENT + 5), SENT + 70, True, True),  # it had no id to ask with
        (SENT + 30, Span(SENT + 1, SENT + 5), SENT + 20, True, False),
        (SENT + 80, Span(SENT + 5, SENT + 70), SENT + 1, False, False),  # a command dates its end
    ],
)
def test_only_a_server_that_was_kept_from_asking_may_call_a_job_late_that_was_not(
    told_at: float, trouble: Span, named_at: float, remote: bool, excused: bool
) -> None:
    breach = Event("RELATIVE_SLA_BREACH", *DONE, SENT + 81)
    judged = dataclasses.replace(
        books(events=(breach,)),
        pipelines=(dataclasses.replace(ORDERS, remote=remote),),
        told_done={JOB.token: [told_at]},
        named={JOB.token: [named_at]},
        troubles=[trouble],
    )

    assert (problems(judged) == []) is excused


def test_the_deadline_of_a_minute_is_the_next_instant_of_that_minute() -> None:
    assert minute_deadline("2020-01-01T10:15", 20) - minute_deadline("2020-01-01T10:15", 16) == 240
    assert minute_deadline("2020-01-01T10:15", 15) - minute_deadline("2020-01-01T10:15", 16) == 3540


def test_no_date_is_used_twice() -> None:
    pipelines = attacked()
    dates = Dates(pipelines)
    for pipeline in pipelines:
        drawn = [dates.next(pipeline) for _ in range(200)]
        labels = [label for label in drawn if label is not None]
        assert len(labels) == len(set(labels))


def test_the_lines_of_commands_become_launches(tmp_path: Path) -> None:
    book = tmp_path / "launched"
    book.write_text(
        "begin a orders 2020-01-02 0 5.5\nbegin b orders 2020-01-03 1 6\nend a x y 0 7\n"
    )

    assert read_launches(book) == [
        Launch("a", "orders", "2020-01-02", 0, 5.5, 7.0),
        Launch("b", "orders", "2020-01-03", 1, 6.0, None),
    ]


def test_the_state_is_read_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "interlock.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE runs (pipeline, schedule, date, status)")
        db.execute("CREATE TABLE sensors (pipeline, key)")
        db.execute("CREATE TABLE events (type, pipeline, date, at)")
        db.execute("CREATE TABLE timers (kind, payload, state, due_at)")
        payload = '{"pipelineId": "orders", "date": "2020-01-02"}'
        db.execute("INSERT INTO timers VALUES ('retry', ?, 'armed', 5)", (payload,))
        db.execute("INSERT INTO runs VALUES ('orders', 'stream', '2020-01-02', 'RUNNING')")
        db.execute("INSERT INTO sensors VALUES ('orders', 'landed#2020-01-02')")
        db.execute("INSERT INTO events VALUES ('SLA_BREACH', 'orders', '2020-01-02', 5500000)")
    db.close()

    state = read_state(path)

    assert state.sound == "ok"
    assert state.runs == {DONE: {"stream": "RUNNING"}}
    assert state.readings == {DONE}
    assert state.retries == {DONE}
    assert state.events == [Event("SLA_BREACH", *DONE, 5.5)]


def test_the_platform_notes_a_launch_once_for_each_request() -> None:
    platform = JobPlatform(1, Ledger(len))
    try:
        assert platform.launch("t", "remote/stream/2020-01-02/0") == (200, {"id": "t"})
        assert platform.launch("t", "remote/stream/2020-01-02/0") == (200, {"id": "t"})
        assert platform.status("other")[0] == 404
    finally:
        platform.close()

    assert [launch.token for launch in platform.launches] == ["t", "t"]
    assert platform.unhelpful == {}


class Claiming(Victim):
    """Says the same whenever it is asked."""

    ready = True

    def readiness(self) -> tuple[bool, str]:
        return self.ready, "as ever"


@pytest.mark.parametrize(
    ("failing_for", "troubled_for", "told"),
    [
        (20.0, 20.0, True),
        (20.0, 60.0, True),
        (20.0, 2.0, False),  # a second trouble, which it may take its time to notice
        (2.0, 2.0, False),
    ],
)
def test_ready_while_writes_fail_is_a_problem(
    tmp_path: Path, failing_for: float, troubled_for: float, told: bool
) -> None:
    victim = Claiming("attacked", tmp_path, (), Ledger(len))
    victim.troubled_since = time.monotonic() - troubled_for
    producer = Producer(victim, Dates(()), 1, 1.0)
    watcher = Readiness(victim, [producer], patience=60)

    producer.failing_since = producer.last_failure = time.monotonic() - failing_for
    watcher.look()
    producer.last_failure = time.monotonic() + 1
    watcher.look()

    assert bool(victim.ledger.problems) is told


@pytest.mark.parametrize(("calm_for", "told"), [(20.0, True), (2.0, False)])
def test_not_ready_long_after_a_trouble_is_a_problem(
    tmp_path: Path, calm_for: float, told: bool
) -> None:
    victim = Claiming("attacked", tmp_path, (), Ledger(len))
    victim.ready = False
    watcher = Readiness(victim, [], patience=-1.0 if told else 60.0)
    victim.calm_since = time.monotonic() - calm_for

    watcher.look()
    watcher.look()

    assert len(victim.ledger.problems) == (1 if told else 0)


def test_a_server_that_ends_by_itself_is_a_problem(tmp_path: Path) -> None:
    """One whose project can't be served ends at once."""
    victim = Victim("attacked", tmp_path, (), Ledger(len))
    (tmp_path / "interlock.toml").write_text("unknown = 1\n")
    victim.start()
    try:
        assert victim.wait(60) != 0
        assert victim.has_ended_by_itself()
    finally:
        victim.close()

    assert "ended by itself" in victim.ledger.problems[0]


@pytest.mark.parametrize("short", [True, False])
def test_a_crash_of_the_interpreter_is_excused_only_where_memory_was_short(
    tmp_path: Path, short: bool
) -> None:
    victim = Victim("attacked", tmp_path, (), Ledger(len))
    victim.start()
    victim.short_of_memory = short
    victim.signal(signal.SIGSEGV)
    victim.wait(60)

    assert victim.has_ended_by_itself()
    assert bool(victim.ledger.problems) is not short


def test_an_attacker_that_breaks_off_is_a_problem() -> None:
    worker = Worker("idle", Ledger(len))
    worker.start()
    worker.join()

    assert "the attacker idle broke off" in worker.ledger.problems[0]


def test_the_cut_of_a_half_written_file_lies_before_its_last_rule(tmp_path: Path) -> None:
    """Else it would be no attack: what is cut off must be a valid file that lets more pass."""
    for pipeline in attacked():
        first, cut, last = pipeline.text(tmp_path, "http://127.0.0.1:1").partition(CUT)
        assert first.count("- {key: landed") == 1 and cut and not last.strip()
