"""Kill loop: the real server under load, killed with SIGKILL at random moments, again and again.

    python -m crash.kill_loop COUNT [--seed N] [--keep FOLDER]      (in tests/)

Clients put readings all the while and note what was accepted; a listener follows the events across the
restarts. At the end everything must have come to rest, and the accountant goes through the books.
"""

import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any

from wiring.served import Served, eventually, make_project

PIPELINES = ("alpha", "beta", "gamma")
CLIENTS = 3
_FIRST = date(2020, 1, 1)
_PAUSE = 0.02
#: What a client sees of a kill.
_BREAKS = (OSError, HTTPException, ValueError, KeyError)


@dataclass(frozen=True)
class Load:
    """What the server has to do, and how long it may live."""

    #: Of a client, after each reading.
    pause: float = _PAUSE
    #: Kills come at any moment from the start of the process on.
    longest_life: float = 2.2


class Clients:
    """Each puts one reading after another, of a date of its own, and notes those that were accepted."""

    def __init__(self, served: Served, pause: float) -> None:
        self._served, self._pause = served, pause
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._count = 0
        self._threads = [threading.Thread(target=self._put_all) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _put_all(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                self._count += 1
                n = self._count
            day = str(_FIRST + timedelta(days=n // len(PIPELINES)))
            fields = {"count": 10 + n}
            pipeline, key = PIPELINES[n % len(PIPELINES)], f"landed#{day}"
            with suppress(*_BREAKS):
                self._served.put(pipeline, key, **fields)
                self._note({"pipeline": pipeline, "key": key, "date": day, "fields": fields})
            self._stop.wait(self._pause)

    def _note(self, entry: dict[str, Any]) -> None:
        with self._lock, (self._served.project / "ledger").open("a") as ledger:
            ledger.write(json.dumps(entry) + "\n")


class Listener:
    """Follows the events; after a break it goes on behind the last one that it heard."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._last = "0"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def has_heard(self, seq: int) -> bool:
        return int(self._last) >= seq

    def stop(self) -> None:
        self._stop.set()

    def _listen(self) -> None:
        while not self._stop.is_set():
            with suppress(*_BREAKS):
                self._follow()
            self._stop.wait(_PAUSE)

    def _follow(self) -> None:
        with (
            self._served.open("GET", "/api/v1/events/stream", last_id=self._last) as stream,
            (self._served.project / "heard").open("a") as heard,
        ):
            seq = ""
            for raw in stream:
                line = raw.decode().rstrip("\n")
                if line.startswith("id: "):
                    seq = line.removeprefix("id: ")
                elif line.startswith("data: "):
                    name = json.loads(line.removeprefix("data: "))["eventId"]
                    heard.write(f"{seq} {name}\n")
                    heard.flush()
                    self._last = seq
                if self._stop.is_set():
                    return


def run(
    project: Path,
    kills: int,
    seed: int,
    say: Callable[[str], object] = len,
    load: Load = Load(),  # noqa: B008 - it is frozen
) -> int:
    """The exit code of the accountant."""
    chance = random.Random(seed)
    served = Served(make_project(project, *PIPELINES))
    served.start()
    clients, listener = Clients(served, load.pause), Listener(served)
    try:
        for n in range(1, kills + 1):
            time.sleep(chance.uniform(0.0, load.longest_life))
            served.stop(signal.SIGKILL)
            served.start(ready=False)
            if n % 50 == 0:
                say(f"{n} kills\n")
        served.wait_ready()
        time.sleep(0.5)
        clients.stop()
        eventually(lambda: _is_at_rest(served), "at rest", 600 + 4 * kills)
        last = _last_event(served)
        eventually(lambda: listener.has_heard(last), "heard", 30)
        listener.stop()
        assert served.stop() == 0, "it did not stop cleanly"
    finally:
        clients.stop()
        listener.stop()
        served.close()
    accountant = Path(__file__).with_name("accountant.py")
    return subprocess.run([sys.executable, str(accountant), str(project)], check=False).returncode


def _is_at_rest(served: Served) -> bool:
    with suppress(*_BREAKS):
        text = served.text("/metrics")
        waiting = [
            line for line in text.splitlines() if line.startswith("interlock_changes_waiting")
        ]
        return waiting == ["interlock_changes_waiting 0.0"] and "runs_active{" not in text
    return False


def _last_event(served: Served) -> int:
    """Asked of the file itself, which may be read while it is served."""
    path = served.project / ".interlock" / "interlock.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return int(db.execute("SELECT max(seq) FROM events").fetchone()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    sys.stdout.write(f"{given.count} kills, seed {given.seed}\n")
    if given.keep is not None:
        return run(given.keep, given.count, given.seed, _say)
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), given.count, given.seed, _say)


def _say(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
