"""Power cut: the real server is recorded at work, and what would be on its disk at a moment is rebuilt.

Of a file that was synced survives all that was written before; of what was written since, any sectors,
chosen by chance. Names (files made, renamed, removed) are kept in order, as a journal does: at least those
before the last sync of anything, and by chance some of those after it.
"""

import random
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
RECORDER = Path(__file__).with_name("recorder.c")
_HEAD = struct.Struct("<cIQI")
#: SQLite rebuilds its index, and it is never written by a call that could be recorded.
_NOT_ON_DISK = "-shm"


def build_recorder(compiler: str, folder: Path) -> Path:
    library = folder / "recorder.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-D_LARGEFILE64_SOURCE", "-o", str(library)]
    subprocess.run([*command, str(RECORDER), "-ldl"], check=True)
    return library


class Worst(random.Random):
    """No chance: nothing survives that was not synced."""

    def random(self) -> float:
        return 1.0

    def randint(self, a: int, b: int) -> int:
        return a


@dataclass(frozen=True)
class Call:
    """One record, and where in the trace it ends."""

    end: int
    kind: str
    path: str
    offset: int
    data: bytes


def calls_of(trace: bytes) -> Iterator[Call]:
    at = 0
    while at < len(trace):
        kind, size, offset, length = _HEAD.unpack_from(trace, at)
        at += _HEAD.size
        path, data = trace[at : at + size].decode(), trace[at + size : at + size + length]
        at += size + length
        yield Call(at, kind.decode(), path, offset, data)


@dataclass
class File:
    """What was done to it; the first `synced` calls are on the disk for sure."""

    done: list[Call] = field(default_factory=list)
    synced: int = 0

    def content(self, chance: random.Random) -> bytes:
        found = bytearray()
        for number, call in enumerate(self.done):
            _apply(found, call, None if number < self.synced else chance)
        return bytes(found)


@dataclass
class Disk:
    """The files of the folder as far as they were recorded."""

    files: dict[str, File] = field(default_factory=dict)
    #: Each change of a name, with the files of all names after it; the first `lasting` are on the disk.
    names: list[dict[str, File | None]] = field(default_factory=lambda: [{}])
    lasting: int = 0

    def see(self, call: Call) -> None:
        if call.kind in "WTZ":
            self._file(call.path).done.append(call)
        elif call.kind == "S":
            found = self.files.get(call.path)
            if isinstance(found, File):
                found.synced = len(found.done)
            self.lasting = len(self.names) - 1
        else:
            self._rename(call)

    def lost_at(self, chance: random.Random, folder: Path, target: Path) -> None:
        """Write into another folder what is there after the cut."""
        names = self.names[chance.randint(self.lasting, len(self.names) - 1)]
        for path, file in sorted(names.items()):
            place = target / Path(path).relative_to(folder)
            if file is None:
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not path.endswith(_NOT_ON_DISK):
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                place.write_bytes(file.content(chance))

    def _file(self, path: str) -> File:
        if path not in self.files:
            self._name({**self.names[-1], path: File()})
        return self.files[path]

    def _rename(self, call: Call) -> None:
        names = dict(self.names[-1])
        if call.kind == "C":
            names[call.path] = File()
        elif call.kind == "D":
            names[call.path] = None
        elif call.kind == "U":
            names.pop(call.path, None)
        elif call.kind == "R" and call.path in names:
            names[call.data.decode()] = names.pop(call.path)
        self._name(names)

    def _name(self, names: dict[str, File | None]) -> None:
        self.names.append(names)
        self.files = {path: file for path, file in names.items() if file is not None}


def disk_at(trace: bytes, cut: int) -> Disk:
    disk = Disk()
    for call in calls_of(trace):
        if call.end > cut:
            break
        disk.see(call)
    return disk


def _apply(content: bytearray, call: Call, chance: random.Random | None) -> None:
    if call.kind == "W":
        _write(content, call, chance)
    elif chance is None or chance.random() < 0.5:
        size = call.offset if call.kind == "T" else 0
        del content[size:]
        content.extend(bytes(size - len(content)))


def _write(content: bytearray, call: Call, chance: random.Random | None) -> None:
    """By sectors of the file, of which any may be missing if it was not synced."""
    at, end = call.offset, call.offset + len(call.data)
    while at < end:
        until = min(end, (at // SECTOR + 1) * SECTOR)
        if chance is None or chance.random() < 0.5:
            if len(content) < until:
                content.extend(bytes(until - len(content)))
            content[at:until] = call.data[at - call.offset : until - call.offset]
        at = until
