"""Accountant: goes through the books after the crashes. Knows nothing of Interlock but its tables and files.

    python tests/crash/accountant.py PROJECT

Reads the state file, the ledger of what clients were told, and the lines that jobs wrote; prints every
discrepancy and exits 1 if there is one. Imports nothing of the program that it checks.
"""

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

#: What a run that went well tells, once in each attempt.
STEPS = ("TRIGGER_STARTED", "VALIDATION_PASSED", "JOB_TRIGGERED", "JOB_COMPLETED")


def main(project: Path) -> int:
    problems = audit(project)
    for problem in problems[:50]:
        sys.stdout.write(f"{problem}\n")
    counts = f"{len(_ledger(project))} accepted readings, {len(_launches(project))} jobs"
    sys.stdout.write(f"{counts}: {len(problems)} problems\n")
    return 1 if problems else 0


def audit(project: Path) -> list[str]:
    with sqlite3.connect(f"file:{project / '.interlock' / 'interlock.db'}?mode=ro", uri=True) as db:
        state = [text for (text,) in db.execute("PRAGMA integrity_check")]
        problems = [] if state == ["ok"] else [f"the state file is not sound: {state}"]
        problems += _readings(db, project)
        problems += _runs(db, project)
        problems += _events(db, project)
    return problems


def _readings(db: sqlite3.Connection, project: Path) -> list[str]:
    """Every reading that was accepted is kept, as it was."""
    stored = {
        (pipeline, key): json.loads(reading)["fields"]
        for pipeline, key, reading in db.execute("SELECT pipeline, key, reading FROM sensors")
    }
    return [
        f"{each['pipeline']} {each['key']}: accepted {each['fields']}, kept {found}"
        for each in _ledger(project)
        if (found := stored.get((each["pipeline"], each["key"]))) != each["fields"]
    ]


def _runs(db: sqlite3.Connection, project: Path) -> list[str]:
    """Every accepted reading has its run, each run is done, each attempt had its job exactly once."""
    runs = {
        (pipeline, date): (status, attempt)
        for pipeline, date, status, attempt in db.execute(
            "SELECT pipeline, date, status, attempt FROM runs"
        )
    }
    problems = [
        f"{each['pipeline']} {each['date']}: accepted, and there is no run"
        for each in _ledger(project)
        if (each["pipeline"], each["date"]) not in runs
    ]
    launches = Counter(_launches(project))
    for (pipeline, date), (status, last) in runs.items():
        if status != "COMPLETED":
            problems.append(f"{pipeline} {date}: {status}")
        for attempt in range(last + 1):
            count = launches.pop((pipeline, date, attempt), 0)
            if count != 1:
                problems.append(f"{pipeline} {date} attempt {attempt}: {count} jobs")
    return problems + [f"{key}: {count} jobs of no run" for key, count in launches.items()]


def _events(db: sqlite3.Connection, project: Path) -> list[str]:
    """Every step of every run is published exactly once, and a follower of the log got each once."""
    rows = db.execute("SELECT seq, id, pipeline, date, type, body FROM events").fetchall()
    problems = []
    told = Counter(
        (pipeline, date, kind, json.loads(body).get("attempt"))
        for _, _, pipeline, date, kind, body in rows
        if kind in STEPS
    )
    for pipeline, date, last in db.execute("SELECT pipeline, date, attempt FROM runs"):
        for attempt in range(last + 1):
            for kind in STEPS:
                count = told.pop((pipeline, date, kind, attempt), 0)
                if count != 1:
                    problems.append(
                        f"{pipeline} {date} attempt {attempt}: {kind} told {count} times"
                    )
    problems += [f"{key}: told of no run" for key in told]
    (untold,) = db.execute("SELECT count(*) FROM outbox").fetchone()
    if untold:
        problems.append(f"{untold} events still to be told")
    heard = Counter(_heard(project))
    for seq, name, *_ in rows:
        if heard.pop((str(seq), name), 0) != 1:
            problems.append(f"event {seq} {name} was not heard exactly once")
    return problems + [f"{key} was heard and is not in the log" for key in heard]


def _ledger(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(project / "ledger")]


def _launches(project: Path) -> list[tuple[str, str, int]]:
    words = (line.split() for line in _lines(project / "launched"))
    return [(pipeline, date, int(attempt)) for pipeline, date, attempt in words]


def _heard(project: Path) -> list[tuple[str, str]]:
    return [(seq, name) for seq, name in (line.split(" ", 1) for line in _lines(project / "heard"))]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
