"""Lock: one process serves a file."""

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.adapters.sqlite.lock import is_served, serving
from interlock.errors import UnavailableError

HOLD = (
    "import sys, pathlib\n"
    "from interlock.adapters.sqlite.lock import serving\n"
    "with serving(pathlib.Path(sys.argv[1])):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.read()\n"
)


def test_a_file_is_served_by_one_at_a_time(path: Path) -> None:
    assert not is_served(path)
    with serving(path):
        assert is_served(path)
        with pytest.raises(UnavailableError, match="in use by another server"), serving(path):
            pass
    assert not is_served(path)
    with serving(path):
        pass


def test_the_lock_names_its_holder_and_goes_with_it(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(UnavailableError, match=rf"\({process.pid}\)"), serving(path):
            pass
        process.kill()
    with serving(path):
        pass
    assert path.with_name("interlock.db.lock").exists()
