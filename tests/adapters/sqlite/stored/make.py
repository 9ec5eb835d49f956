"""Write a dump of the newest version, once, when a migration has been added: `python make.py`.

The dumps of older versions are never written again: they are what users have on their disks.
"""

import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from contracts.samples import NOW, a_config, a_reading, a_run, a_timer  # noqa: E402 - needs the path
from interlock.adapters.sqlite.database import Database  # noqa: E402
from interlock.adapters.sqlite.store import Store  # noqa: E402
from interlock.adapters.sqlite.tables import SCRIPTS  # noqa: E402


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "interlock.db"
        with Database(path) as database:
            fill(Store(database, lambda: NOW))
        connection = sqlite3.connect(path)
        lines = [*connection.iterdump(), f"PRAGMA user_version = {len(SCRIPTS)};"]
        connection.close()
    (HERE / f"v{len(SCRIPTS)}.sql").write_text("\n".join(lines) + "\n", "utf-8")


def fill(store: Store) -> None:
    assert store.runs.open(a_run())
    store.sensors.put(a_reading())
    assert store.pipelines.save(a_config())
    store.timers.arm([a_timer()])


if __name__ == "__main__":
    main()
