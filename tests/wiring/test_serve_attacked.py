"""The real process among strangers: they leave nothing in its memory, its log or its folder."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiring.served import PATIENCE, Served, eventually, launched, make_project

#: More than a server may keep of ten thousand requests, and less than a kilobyte of each.
MOST_KILOBYTES = 8 * 1024
_PIPELINED = 50
_HOST = b"Host: 127.0.0.1\r\n"

GARBAGE = (
    b"GET /%d HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /api/v1/runs?x=%d HTTP/1.1\r\n" + _HOST + b"Authorization: Bearer wrong-%d\r\n\r\n",
    b"GET /ping/token-%d HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /login?code=code-%d HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /static/none-%d HTTP/1.1\r\n" + _HOST + b"Cookie: interlock_session=%d\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: evil-%d.example\r\n\r\n",
    b"PUT /api/v1/pipelines/p-%d/sensors/x HTTP/1.1\r\n" + _HOST + b"Content-Length: 2\r\n\r\n{}",
    b"POST /login HTTP/1.1\r\n" + _HOST + b"Origin: http://127.0.0.1\r\nContent-Length: 8\r\n\r\n"
    b"secret=x",
)
BROKEN = (b"\x16\x03\x01 %d", b"GET / HTTP/9.9 %d\r\n\r\n", b"BREW /%d HTTP/1.1\r\n\r\n")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    make_project(tmp_path, "alpha")
    (tmp_path / ".interlock").mkdir(mode=0o755)
    served = Served(tmp_path)
    yield served
    served.close()


def test_ten_thousand_requests_of_garbage_leave_no_trace(served: Served) -> None:
    served.start()
    for n in range(40):  # whatever is made once is made
        _throw(served, n * _PIPELINED)
    before, log = _kilobytes(served), served.output
    for n in range(200):
        _throw(served, 10_000 + n * _PIPELINED)

    assert _kilobytes(served) - before < MOST_KILOBYTES
    assert served.output == log
    served.put("alpha", "landed", count=100)
    eventually(lambda: len(launched(served.project)) == 1, "launched")
    eventually(lambda: set(served.runs().values()) == {"COMPLETED"}, "completed")


def test_no_other_user_can_read_the_folder(served: Served) -> None:
    """Even where the folder was created readable for all users."""
    served.start()
    served.put("alpha", "landed", count=100)
    eventually(lambda: set(served.runs().values()) == {"COMPLETED"}, "completed")

    state = served.project / ".interlock"
    open_to_others = [
        path.relative_to(state)
        for path in state.rglob("*")
        if not _is_within_a_closed_folder(path, state) and _mode(path) & 0o077
    ]
    assert open_to_others == []
    assert (state / "interlock.db").exists() and (state / "jobs").exists()


def _is_within_a_closed_folder(path: Path, state: Path) -> bool:
    above = path.parents[: len(path.relative_to(state).parts) - 1]
    return any(not _mode(folder) & 0o077 for folder in above)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _throw(served: Served, first: int) -> None:
    """This many requests on one connection, and one on another that is not HTTP."""
    text = b""
    for n in range(first, first + _PIPELINED - 1):
        form = GARBAGE[n % len(GARBAGE)]
        text += form % ((n,) * form.count(b"%d"))
    text += b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" + _HOST + b"\r\n"
    answers = _said(served, text)
    assert answers.count(b"HTTP/1.1 ") == _PIPELINED, answers[-500:]
    assert b" 400 " in _said(served, BROKEN[first % len(BROKEN)] % first)


def _said(served: Served, text: bytes) -> bytes:
    chunks = []
    with socket.create_connection(served.address(), timeout=PATIENCE) as line:
        line.sendall(text)
        while chunk := line.recv(65536):
            chunks.append(chunk)
    return b"".join(chunks)


def _kilobytes(served: Served) -> int:
    status = Path(f"/proc/{served.process.pid}/status")
    if not status.exists():
        pytest.skip("only Linux says how much memory a process has")
    (line,) = [each for each in status.read_text().splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1])
