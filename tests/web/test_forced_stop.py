"""A server that was asked to stop ends, even when a thread of it never will."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

_SERVER = """
import signal, sys, threading
from interlock.web.listener import bound, listen

async def app(scope, receive, send): ...

stuck = threading.Lock()
stuck.acquire()
place = sys.argv[1]

def started():
    print("up", flush=True)
    if place == "loop":
        stuck.acquire()

where = bound("127.0.0.1", 0)
listen(app, where, started, lambda: None, stop_within=0.5)
if place == "afterwards":
    stuck.acquire()
if place == "exit":
    threading.Thread(target=stuck.acquire).start()
print("stopped", flush=True)
"""


@pytest.mark.parametrize(
    "place",
    [
        "loop",  # the event loop waits for a thread that never reports
        "afterwards",  # a lock that the end of the controller needs is held for good
        "exit",  # the interpreter waits for a thread before it exits
    ],
)
def test_a_server_whose_thread_hangs_still_ends_when_it_is_asked_to(
    place: str, tmp_path: Path
) -> None:
    code, errors = _stopped(place, tmp_path)
    assert code == 0
    assert "did not stop in time" in errors
    assert "most recent call first" in errors  # where it hung


def test_a_server_that_stops_in_order_says_nothing(tmp_path: Path) -> None:
    assert _stopped("nowhere", tmp_path) == (0, "")


def _stopped(place: str, folder: Path) -> tuple[int, str]:
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, place],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    with server:
        assert server.stdout is not None and server.stdout.readline() == "up\n"
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    return server.returncode, errors
