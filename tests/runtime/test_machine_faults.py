"""The machine fails in its many ways: a clear message, nothing lost, and work continues when it is fixed."""

import resource
import socket
import sqlite3
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiring.served import Served, eventually, launched, make_project

GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS, to a port that does not speak it
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x00" * 200 + b"\r\n\r\n",
    b"PUT /api/v1/pipelines/alpha/sensors/landed HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Length: -5\r\n\r\n",
    b"POST /api/v1/sensors HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /%ff%fe/../../etc/passwd HTTP/1.1\r\nHost: elsewhere\r\n\r\n",
)
REQUESTS = 3000
#: What may be left after all of them: far below what a leak of a kilobyte each would leave.
KEPT_BYTES = 12 * 1024 * 1024


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(make_project(tmp_path, "alpha"))
    yield server
    server.close()


def start(project: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "interlock", "--project", str(project), "serve", *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_taken_port_is_noticed_before_anything_begins(tmp_path: Path) -> None:
    project = make_project(tmp_path, "alpha")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = start(project, "--port", str(port))

    assert done.returncode == 3
    assert f"can't listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
    with sqlite3.connect(project / ".interlock" / "interlock.db") as store:
        assert store.execute("SELECT count(*) FROM pipelines").fetchone() == (0,)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    project = make_project(tmp_path, "alpha")
    state = project / ".interlock"
    state.mkdir()
    (state / "interlock.db").write_bytes(b"this was a database once" * 1000)
    done = start(project, "--port", "0")

    assert done.returncode == 3
    assert "interlock.db" in done.stderr and "Traceback" not in done.stderr
    assert (state / "interlock.db").read_bytes().startswith(b"this was a database once")


def test_a_file_that_another_program_has_locked_is_said_to_be(tmp_path: Path) -> None:
    project = make_project(tmp_path, "alpha")
    state = project / ".interlock"
    state.mkdir()
    holder = sqlite3.connect(state / "interlock.db")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = start(project, "--port", "0")
    finally:
        holder.close()

    assert done.returncode == 3
    assert "locked" in done.stderr and "Traceback" not in done.stderr


def test_a_full_disk_refuses_readings_and_mends_by_itself(served: Served) -> None:
    """The limit on the size of files stands in for the disk."""
    served.start()
    served.put("alpha", "landed#2026-03-03", count=12)
    eventually(lambda: served.runs().get(("alpha", "2026-03-03")) == "COMPLETED", "COMPLETED")

    _fill_disk(served)
    with pytest.raises(urllib.error.HTTPError) as refused:
        served.put("alpha", "landed#2026-03-04", count=12, filler="x" * 200_000)
    assert refused.value.code == 503
    eventually(lambda: not _is_ready(served), "unready")

    _free_disk(served)
    eventually(lambda: _is_ready(served), "ready again", 60)
    served.put("alpha", "landed#2026-03-04", count=12)
    eventually(lambda: served.runs().get(("alpha", "2026-03-04")) == "COMPLETED", "COMPLETED")
    assert launched(served.project) == ["alpha 2026-03-03 0", "alpha 2026-03-04 0"]
    assert served.stop() == 0
    assert "Traceback" not in served.output


def test_garbage_leaves_memory_as_it_was(served: Served) -> None:
    served.start()
    address = served.address()
    _send_garbage(address, REQUESTS // 10)
    before = _memory(served)

    _send_garbage(address, REQUESTS)

    assert _memory(served) - before < KEPT_BYTES
    assert served.put("alpha", "landed#2026-03-03", count=12)
    assert "Traceback" not in served.output


def _send_garbage(address: tuple[str, int], count: int) -> None:
    for n in range(count):
        with socket.create_connection(address, timeout=30) as connection:
            connection.sendall(GARBAGE[n % len(GARBAGE)])
            assert connection.recv(100).startswith(b"HTTP/1.1 4")


def _memory(served: Served) -> int:
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _is_ready(served: Served) -> bool:
    try:
        served.ask("GET", "/readyz")
    except urllib.error.HTTPError:
        return False
    return True


def _fill_disk(served: Served) -> None:
    largest = max(file.stat().st_size for file in (served.project / ".interlock").glob("*.db*"))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (largest, hard))


def _free_disk(served: Served) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
