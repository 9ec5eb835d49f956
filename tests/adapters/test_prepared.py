"""Structs may be read by many threads at once, from the first time on."""

import subprocess
import sys

import pytest

from interlock.adapters.prepared import is_prepared, prepare_types, structs
from interlock.domain.findings import Admit
from interlock.domain.run import Run

#: Each kind is read for the first time by eight threads at once, which change at every chance.
READERS = """
import sys, threading
import msgspec
from interlock.adapters.prepared import prepare_types

def kinds():
    for n in range(40):
        inner = msgspec.defstruct(f"Inner{n}", [("a", int), ("b", str)], module="interlock.made")
        yield msgspec.defstruct(f"Outer{n}", [("x", inner), ("y", inner)], module="interlock.made")

def read(kind, barrier):
    barrier.wait()
    given = {"x": {"a": 1, "b": "c"}, "y": {"a": 2, "b": "d"}}
    assert msgspec.convert(given, kind).y.b == "d"

made = list(kinds())
if "prepared" in sys.argv:
    prepare_types()
sys.setswitchinterval(1e-6)
for kind in made:
    barrier = threading.Barrier(8)
    readers = [threading.Thread(target=read, args=(kind, barrier)) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
print("all were read")
"""


def test_prepared_structs_are_read_by_many_threads_at_once() -> None:
    """Without it, this process is ended by a segmentation fault."""
    command = [sys.executable, "-c", READERS, "prepared"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "all were read")


@pytest.mark.parametrize("times", [1, 2])
def test_every_struct_that_is_imported_is_prepared(times: int) -> None:
    for _ in range(times):
        prepare_types()
    assert {Run, Admit} <= set(
        structs()
    )  # the second can't be read: msgspec has no way to tell what it may hold
    assert all(is_prepared(kind) for kind in structs())
