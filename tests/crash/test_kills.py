"""Fifty kills under load lose nothing, repeat nothing, and tell everything once."""

import json
import sqlite3
from pathlib import Path

import pytest

from budget import budget
from crash import accountant
from crash.kill_loop import Load, run

#: Half of the lives are still long enough to serve, and every reading costs a process.
BRIEF = Load(pause=0.1, longest_life=1.4)


def test_kills_under_load_leave_the_books_in_order(tmp_path: Path) -> None:
    assert run(tmp_path, kills=budget(50, 20), seed=5, load=BRIEF) == 0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("DELETE FROM sensors WHERE key = 'landed#2020-01-02'", "kept None"),
        ("UPDATE runs SET status = 'RUNNING'", "RUNNING"),
        ("DELETE FROM runs", "there is no run"),
        ("DELETE FROM events WHERE type = 'JOB_COMPLETED'", "JOB_COMPLETED told 0 times"),
        ("UPDATE events SET id = 'another' WHERE seq = 1", "not heard exactly once"),
    ],
)
def test_the_accountant_finds_what_is_wrong(tmp_path: Path, wrong: str, told: str) -> None:
    _books(tmp_path)
    assert accountant.audit(tmp_path) == []

    with sqlite3.connect(tmp_path / ".interlock" / "interlock.db") as db:
        db.execute(wrong)

    assert any(told in problem for problem in accountant.audit(tmp_path))


def test_the_accountant_finds_a_job_that_ran_twice(tmp_path: Path) -> None:
    _books(tmp_path)
    with (tmp_path / "launched").open("a") as launched:
        launched.write("alpha 2020-01-02 0\n")

    assert accountant.audit(tmp_path) == ["alpha 2020-01-02 attempt 0: 2 jobs"]


def _books(project: Path) -> None:
    """One run that went well, in tables with the columns that the accountant reads."""
    (project / ".interlock").mkdir()
    entry = {"pipeline": "alpha", "key": "landed#2020-01-02", "date": "2020-01-02"}
    fields = {"count": 10}
    (project / "ledger").write_text(json.dumps({**entry, "fields": fields}) + "\n")
    (project / "launched").write_text("alpha 2020-01-02 0\n")
    heard = []
    with sqlite3.connect(project / ".interlock" / "interlock.db") as db:
        db.execute("CREATE TABLE sensors (pipeline, key, reading)")
        db.execute("CREATE TABLE runs (pipeline, date, status, attempt)")
        db.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, id, pipeline, date, type, body)")
        db.execute("CREATE TABLE outbox (seq)")
        db.execute(
            "INSERT INTO sensors VALUES (?, ?, ?)",
            (entry["pipeline"], entry["key"], json.dumps({"fields": fields})),
        )
        db.execute("INSERT INTO runs VALUES ('alpha', '2020-01-02', 'COMPLETED', 0)")
        for n, kind in enumerate(accountant.STEPS, 1):
            db.execute(
                "INSERT INTO events VALUES (?, ?, 'alpha', '2020-01-02', ?, ?)",
                (n, f"e{n}", kind, json.dumps({"attempt": 0})),
            )
            heard.append(f"{n} e{n}")
    (project / "heard").write_text("\n".join(heard) + "\n")
