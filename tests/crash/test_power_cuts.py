"""A power cut at any moment loses nothing that was acknowledged, and launches nothing twice."""

import json
import os
import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from crash.power_cut import Call, File, Worst, build_recorder, calls_of, disk_at
from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.adapters.jobs.command.job_folder import boot_id
from interlock.domain.waiting_for import WaitingFor
from interlock.wiring.local_backend import LocalBackend
from interlock.wiring.local_controller import controller_of
from interlock.wiring.settings import read_settings
from wiring.served import Served, eventually, make_project

PIPELINES = ("alpha", "beta")
READINGS = 40
CUTS = 24
BEGINNINGS = 5
SEED = 11
MISSING = "there is no C compiler: `apt-get install gcc libc6-dev` brings it"
DONE = ("COMPLETED", "FAILED", "FAILED_FINAL")


#: How long the trace was when a reading was acknowledged; its pipeline, date and count.
Noted = tuple[int, str, str, int]


@dataclass(frozen=True)
class Recording:
    """What the server did, and what the world outside has seen of it, by the place in the trace."""

    project: Path
    trace: bytes
    acknowledged: list[Noted]
    launched: list[tuple[int, str]]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(MISSING)
    project = tmp_path_factory.mktemp("recorded")
    trace = project / "trace"
    trace.touch()
    _make(project, trace)
    library = build_recorder(compiler, project)
    served = Served(
        project,
        LD_PRELOAD=str(library),
        RECORDED_FOLDER=f"{project / '.interlock'}/",
        RECORDED_TRACE=str(trace),
    )
    try:
        acknowledged = _work(served.start(), trace)
        assert served.stop() == 0
    finally:
        served.close()
    lines = (line.rsplit(" ", 1) for line in _lines(project))
    launched = [(int(place), line) for line, place in lines]
    return Recording(project, trace.read_bytes(), acknowledged, launched)


def test_power_cuts_lose_nothing_and_launch_nothing_twice(
    recording: Recording, tmp_path: Path
) -> None:
    """Half of them at any moment, and half just when a job has begun."""
    for number in range(CUTS):
        chance = random.Random(SEED + number)
        place = chance.randint(recording.acknowledged[0][0], len(recording.trace))
        if number % 2:
            place, _ = chance.choice(recording.launched)
        _cut(recording, tmp_path / str(number), place, chance)


def test_a_job_that_has_just_begun_does_not_begin_again(
    recording: Recording, tmp_path: Path
) -> None:
    """On the worst disk, at the first moment at which the job may be at work. A little later the store is
    synced for other reasons, which would hide a claim that was not.
    """
    begun = _begun(recording)
    assert len(begun) == READINGS
    for number, (place, line) in enumerate(begun[:: READINGS // BEGINNINGS]):
        _cut(recording, tmp_path / str(number), place, Worst(), line)


def _begun(recording: Recording) -> list[tuple[int, str]]:
    """Where in the trace each job may begin: its pid is written, and its gate opens."""
    jobs: dict[str, str] = {}
    begun = []
    for call in calls_of(recording.trace):
        folder, _, name = call.path.rpartition("/")
        if call.kind == "W" and name.startswith("spec.json."):
            values = json.loads(call.data)["values"]
            jobs[folder] = f"{values['PIPELINE']} {values['LABEL']} {values['ATTEMPT']}"
        elif call.kind == "W" and name == "pid":
            begun.append((call.end, jobs[folder]))
    return begun


def _cut(
    recording: Recording, project: Path, place: int, chance: random.Random, begun: str | None = None
) -> None:
    """`begun` has just begun, and may not have said so yet."""
    kept = [each for each in recording.acknowledged if each[0] <= place]
    before = [line for at, line in recording.launched if at <= place]
    before += [] if begun is None or begun in before else [begun]
    (recording.project / "launched").write_text("".join(f"{line} 0\n" for line in before))
    claimed = _come_back(recording, project, place, chance)

    launches = _come_to_rest(project, kept, recording.project)

    assert [line for line, count in launches.items() if count > 1] == []
    with closing(sqlite3.connect(project / ".interlock" / "interlock.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        counts, runs = _counts(db), _runs(db)
    for _, pipeline, date, count in kept:
        assert counts[pipeline, f"landed#{date}"] == count
        status, attempt = runs[pipeline, date]
        if status == "COMPLETED":
            assert launches[f"{pipeline} {date} {attempt}"] == 1
        else:  # its job went with the machine, and whether it had begun can't be known
            assert (pipeline, date) in claimed


def _come_back(
    recording: Recording, project: Path, place: int, chance: random.Random
) -> set[tuple[str, str]]:
    """The machine as it starts again: with what is on its disk, and another boot id. The jobs there."""
    state = project / ".interlock"
    shutil.copytree(recording.project / "pipelines", project / "pipelines")
    disk_at(recording.trace, place).lost_at(chance, recording.project / ".interlock", state)
    old, claimed = boot_id().encode(), set()
    for spec in state.glob("jobs/*/spec.json"):
        text = spec.read_bytes()
        spec.write_bytes(text.replace(old, b"0" * len(old)))
        with suppress(ValueError):  # it was being written
            values = json.loads(text)["values"]
            claimed.add((values["PIPELINE"], values["LABEL"]))
    return claimed


def _counts(db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    return {
        (pipeline, key): json.loads(reading)["fields"]["count"]
        for pipeline, key, reading in db.execute("SELECT pipeline, key, reading FROM sensors")
    }


def test_the_trial_would_notice_a_write_that_was_not_synced() -> None:
    """Half of the sectors are gone."""
    file = File([Call(1, "W", "/a", 0, b"x" * 512 * 64)])
    lost = file.content(random.Random(1))
    file.synced = 1
    assert file.content(random.Random(1)) == b"x" * 512 * 64 != lost
    assert 0 < lost.count(b"x") < 512 * 64


def _make(project: Path, trace: Path) -> None:
    """Each job writes down how far the trace was when it began."""
    make_project(project, *PIPELINES)
    for name in PIPELINES:
        file = project / "pipelines" / f"{name}.yaml"
        text = file.read_text()
        file.write_text(
            text.replace("$INTERLOCK_ATTEMPT", f"$INTERLOCK_ATTEMPT $(stat -c %s {trace})")
        )


def _work(served: Served, trace: Path) -> list[Noted]:
    """Readings one after another; each is noted when it was acknowledged."""
    noted = []
    for n in range(READINGS):
        pipeline, date = PIPELINES[n % 2], f"2026-{n // 56 + 1:02}-{n // 2 % 28 + 1:02}"
        served.put(pipeline, f"landed#{date}", count=10 + n)
        noted.append((trace.stat().st_size, pipeline, date, 10 + n))
    eventually(lambda: list(served.runs().values()).count("COMPLETED") == READINGS, "done")
    return noted


def _come_to_rest(project: Path, kept: list[Noted], written: Path) -> Counter[str]:
    """What was launched by then, before the cut and after it."""
    settings = read_settings(project, {})
    with controller_of(settings, lambda home: ConsoleAlerts(settings.state, _quiet)) as (
        home,
        _,
        _,
    ):
        eventually(lambda: _is_at_rest(home, kept), "at rest")
    return Counter(line.rsplit(" ", 1)[0] for line in _lines(written))


def _is_at_rest(home: LocalBackend, kept: list[Noted]) -> bool:
    for name in PIPELINES:  # what waits for a job that is gone need not wait for its next poll
        home.ports.workflows.wake(name, WaitingFor.JOB)
    runs = home.database.read(_runs)
    done = {place for place, (status, _) in runs.items() if status in DONE}
    return len(done) == len(runs) and all((pipeline, date) in done for _, pipeline, date, _ in kept)


def _runs(db: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, int]]:
    """Status and attempt by pipeline and date."""
    rows = db.execute("SELECT pipeline, date, status, attempt FROM runs")
    return {(pipeline, date): (status, attempt) for pipeline, date, status, attempt in rows}


def _lines(project: Path) -> list[str]:
    path = project / "launched"
    return path.read_text().splitlines() if path.exists() else []


def _quiet(severity: str, line: str) -> None:
    pass
