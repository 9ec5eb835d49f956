"""Kept output: what a command printed, read from the folder of its job while it may still be growing."""

from pathlib import Path

from interlock.adapters.jobs.command.job_folder import JobFolder
from interlock.adapters.jobs.command.supervisor import BOTH, STDERR, STDOUT
from interlock.domain.job_output import JobOutput, OutputPart, OutputStream

_NAMES = {OutputStream.STDOUT: STDOUT, OutputStream.STDERR: STDERR, OutputStream.BOTH: BOTH}

_GONE = "its output is no longer kept"
_UNMASKED = "it was started by an older version: its output is shown once it has ended"


def kept_output(folder: JobFolder, part: OutputPart) -> JobOutput:
    """Looks at the files only: a lock would keep others from the job."""
    ended = folder.ending()
    spec = folder.spec()
    if spec is None and ended is None:
        return JobOutput(note=_GONE)
    if ended is None and spec is not None and not spec.is_masked:
        return JobOutput(note=_UNMASKED)
    name = _NAMES[part.stream]
    kept = KeptStream(folder.path, name)
    if name == BOTH and not kept.files:
        kept = KeptStream(
            folder.path, STDERR if not KeptStream(folder.path, STDOUT).size else STDOUT
        )
    first, found = kept.part(part, whole=ended is not None)
    return JobOutput(
        text=found.decode(errors="replace"),
        start=first,
        end=first + len(found),
        size=kept.size,
        kept_from=kept.begins,
        sizes={each: KeptStream(folder.path, each).size for each in (STDOUT, STDERR)},
        ended=ended is not None,
        exit_code=None if ended is None else ended.code,
        signal=None if ended is None else ended.signal,
    )


class KeptStream:
    """The files of one stream, each named after its first byte. One may be removed at any moment."""

    def __init__(self, folder: Path, name: str) -> None:
        found = [folder / name, *folder.glob(f"{name}.*")]
        starts = {_start(path): path for path in found if _start(path) is not None}
        self.files = [
            (start, path, size)
            for start, path in sorted((s, p) for s, p in starts.items() if s is not None)
            if (size := _size(path)) is not None
        ]

    @property
    def begins(self) -> int:
        return self.files[0][0] if self.files else 0

    @property
    def size(self) -> int:
        return self.files[-1][0] + self.files[-1][2] if self.files else 0

    def part(self, wanted: OutputPart, *, whole: bool) -> tuple[int, bytes]:
        """Where the part begins, and the part. A character is never cut in two."""
        if wanted.offset is not None:
            start = min(max(wanted.offset, self.begins), self.size)
        else:
            start = max(self.begins, self.size - wanted.limit)
        end = min(self.size, start + wanted.limit)
        found = self._read(start, end)
        if len(found) < end - start:  # a file went away meanwhile
            start = end - len(found)
        if not whole or end < self.size:
            found = found[: len(found) - _begun(found)]
        if wanted.offset is None and start > self.begins:
            rest = _continued(found)
            start, found = start + rest, found[rest:]
        if wanted.tail is not None:
            skipped = len(found) - len(_last_lines(found, wanted.tail))
            start, found = start + skipped, found[skipped:]
        return start, found

    def _read(self, start: int, end: int) -> bytes:
        parts = []
        for first, path, size in self.files:
            if first + size <= start or first >= end:
                continue
            try:
                with path.open("rb") as file:
                    file.seek(max(0, start - first))
                    parts.append(file.read(min(size, end - first) - max(0, start - first)))
            except OSError:
                parts.clear()
        return b"".join(parts)


def _start(path: Path) -> int | None:
    number = path.name.partition(".")[2] or "0"
    return int(number) if number.isdecimal() else None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _last_lines(output: bytes, count: int) -> bytes:
    """A line that has not ended yet is one."""
    at = len(output) - output.endswith(b"\n")
    for _ in range(count):
        at = output.rfind(b"\n", 0, at)
        if at < 0:
            return output
    return output[at + 1 :]


def _begun(output: bytes) -> int:
    """How many bytes at the end begin a character of UTF-8 whose rest has not come."""
    for length in range(1, min(4, len(output) + 1)):
        byte = output[-length]
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if length < wanted else 0
        if byte < 0x80:
            return 0
    return 0


def _continued(output: bytes) -> int:
    """How many bytes at the beginning belong to a character that was cut."""
    return next(
        (n for n, byte in enumerate(output[:3]) if byte & 0xC0 != 0x80), min(3, len(output))
    )
