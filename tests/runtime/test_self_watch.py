"""The server watches itself: it says what it can't do, recovers by itself, and ends only with a reason."""

import json
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

import pytest

from wiring.served import Served, eventually, launched, make_project


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(make_project(tmp_path, "alpha"))
    yield server
    server.close()


def test_a_state_file_that_was_deleted_refuses_readings_and_launches_nothing(
    served: Served,
) -> None:
    served.start()
    state = served.project / ".interlock" / "interlock.db"
    state.rename(state.with_name("aside.db"))

    assert "deleted or moved while the server is using it" in served.refusal(*READING)
    assert "deleted or moved while the server is using it" in _unready(served)
    assert launched(served.project) == []

    state.with_name("aside.db").rename(state)
    served.wait_ready()
    served.put("alpha", "landed#2026-03-04", count=12)
    eventually(lambda: launched(served.project) == ["alpha 2026-03-04 0"], "launched")
    assert served.stop() == 0


def test_a_state_file_that_was_replaced_is_noticed_without_a_write(served: Served) -> None:
    served.start()
    state = served.project / ".interlock" / "interlock.db"
    copy = state.with_name("copy.db")
    shutil.copy(state, copy)
    copy.replace(state)

    assert "replaced by another file" in _unready(served)
    assert served.process.poll() is None


def test_without_its_lock_a_server_keeps_nothing_because_another_could_start(
    served: Served,
) -> None:
    served.start()
    (served.project / ".interlock" / "interlock.db.lock").unlink()

    assert "interlock.db.lock was deleted" in served.refusal(*READING)


def test_a_server_out_of_memory_goes_on_when_there_is_some(served: Served) -> None:
    served.start()
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[0])
    _limit(served, resource.RLIMIT_AS, pages * resource.getpagesize())
    for n in range(12):
        _try_to_put(served, f"filler-{n}", text="x" * 900_000)
    _limit(served, resource.RLIMIT_AS, None)

    served.wait_ready()
    served.put("alpha", "landed#2026-03-03", count=12)
    eventually(lambda: launched(served.project) == ["alpha 2026-03-03 0"], "launched")
    assert served.stop() == 0


def test_a_server_without_file_descriptors_goes_on_when_there_are_some(served: Served) -> None:
    served.start()
    used = len(list(Path(f"/proc/{served.process.pid}/fd").iterdir()))
    _limit(served, resource.RLIMIT_NOFILE, used + 1)
    dates = [f"2026-03-0{n}" for n in range(1, 4)]
    for date in dates:
        _try_to_put(served, f"landed#{date}", count=12)
    _limit(served, resource.RLIMIT_NOFILE, None)

    served.wait_ready()
    for date in dates:
        served.put("alpha", f"landed#{date}", count=12)
    wanted = [f"alpha {date} 0" for date in dates]
    eventually(lambda: sorted(launched(served.project)) == wanted, "launched once each")
    assert served.stop() == 0


def test_a_clock_that_jumped_before_the_start_is_reported(served: Served) -> None:
    """The store was last at work 400 days ago: it may be the clock that is wrong."""
    served.start()
    assert served.stop() == 0
    _was_last_seen(served, "2020-03-03T12:00:00Z")

    served.start()

    eventually(lambda: "clock_jumped" in served.output, "told")
    assert "expired data is kept" in served.output
    assert served.stop() == 0


READING = ("PUT", "/api/v1/pipelines/alpha/sensors/landed", {"count": 12})


def _try_to_put(served: Served, key: str, **fields: object) -> None:
    """Whatever becomes of it."""
    with suppress(OSError, HTTPException):
        connection = HTTPConnection(*served.address(), timeout=1)
        try:
            path = f"/api/v1/pipelines/alpha/sensors/{quote(key, safe='')}"
            connection.request("PUT", path, json.dumps(fields), served.headers())
            connection.getresponse().read()
        finally:
            connection.close()


def _unready(served: Served) -> str:
    return served.refusal("GET", "/readyz")


def _limit(served: Served, kind: int, value: int | None) -> None:
    _, hard = resource.prlimit(served.process.pid, kind)
    resource.prlimit(served.process.pid, kind, (hard if value is None else value, hard))


def _was_last_seen(served: Served, at: str) -> None:
    with closing(sqlite3.connect(served.project / ".interlock" / "interlock.db")) as store, store:
        text = json.dumps({"seenAt": at})
        store.execute("UPDATE meta SET value = ? WHERE key = 'clock'", (text,))
