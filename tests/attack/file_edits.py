"""File edits: what editors, copies and checkouts do to pipeline files, ending each time as it began."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from attack.ledger import Span
from attack.producers import NOT_FINAL, Producer
from attack.project import SCHEDULE, Pipeline
from attack.victim import Victim
from attack.worker import Worker

#: A writer that rests longer than this may be believed to be done.
_REST = 0.3
_CANARIES = 4
_TOO_LONG = 0.45
#: The last rule: what stands before it is a valid file, with fewer rules.
CUT = '    - {key: landed, check: equals, field: final, value: "yes"}'

_SECOND = """\
schedules:
  - id: stream
    trigger: {key: landed, check: exists}
    evaluation: {window: 15s, interval: 5s}
  - id: second
    trigger: {key: never-reported, check: exists}
    evaluation: {window: 15s, interval: 5s}"""


class FileEdits(Worker):
    """One edit after another. Of two workers, one edits schedules, in files that are kept for that."""

    def __init__(
        self,
        kind: str,
        victim: Victim,
        canary: Producer,
        platform: str,
        seed: int,
        seconds: float,
    ) -> None:
        super().__init__(f"{kind}-{victim.name}", victim.ledger)
        self._victim, self._platform = victim, platform
        self._canary = canary
        self._chance = random.Random(seed)
        self._longest = min(8.0, seconds / 5)
        every: dict[str, tuple[Callable[[Pipeline], None], ...]] = {
            "files": (self._touch, self._comment, self._delete, self._write_slowly),
            "edits": (self._rename, self._add),
        }
        self._edits = every[kind]
        self._files = [each for each in victim.pipelines if each.edited == (kind == "edits")]

    def work(self) -> None:
        while not self.stopping.wait(self._chance.uniform(0.2, 3.0)):
            self._chance.choice(self._edits)(self._chance.choice(self._files))

    def _path(self, pipeline: Pipeline) -> Path:
        return self._victim.project / "pipelines" / f"{pipeline.name}.yaml"

    def _text(self, pipeline: Pipeline) -> str:
        return pipeline.text(self._victim.project, self._platform)

    def _touch(self, pipeline: Pipeline) -> None:
        self.ledger.did("files: touch")
        os.utime(self._path(pipeline))

    def _comment(self, pipeline: Pipeline) -> None:
        self.ledger.did("files: comment")
        text = f"# {self._chance.random()}\n{self._text(pipeline)}"
        _replace(self._path(pipeline), text)

    def _delete(self, pipeline: Pipeline) -> None:
        seconds = self._chance.uniform(0.5, 2.5)
        self.ledger.did("files: delete", f"{pipeline.name}, back after {seconds:.1f}s")
        self._path(pipeline).unlink()
        time.sleep(seconds)
        _replace(self._path(pipeline), self._text(pipeline))

    def _write_slowly(self, pipeline: Pipeline) -> None:
        """The first part is a valid file without its last rule."""
        first, cut, last = self._text(pipeline).partition(CUT)
        pieces = [first, *_pieces(cut + last, self._chance.randrange(1, 4))]
        since, longest = time.time(), 0.0
        with self._path(pipeline).open("w") as file:
            wrote_at = time.monotonic()
            for piece in pieces:
                file.write(piece)
                file.flush()
                longest = max(longest, time.monotonic() - wrote_at)
                wrote_at = time.monotonic()
                time.sleep(self._chance.uniform(0.05, _REST))
        for _ in range(_CANARIES):
            self._canary.put(pipeline, NOT_FINAL)
            time.sleep(_REST)
        self.ledger.did("files: half written", f"{pipeline.name}, rests {longest:.2f}s")
        if longest > _TOO_LONG:
            # We were not let run ourselves: nothing tells such a file from one that is done.
            self.ledger.excuse(pipeline.name, Span(since - 5, time.time() + 10))

    def _rename(self, pipeline: Pipeline) -> None:
        self._change("edits: rename a schedule", pipeline, SCHEDULE.replace("stream", "renamed"))

    def _add(self, pipeline: Pipeline) -> None:
        self._change("edits: add a schedule", pipeline, _SECOND)

    def _change(self, what: str, pipeline: Pipeline, schedule: str) -> None:
        seconds = self._chance.uniform(1.0, self._longest)
        self.ledger.did(what, f"{pipeline.name}, back after {seconds:.1f}s")
        _replace(self._path(pipeline), self._text(pipeline).replace(SCHEDULE, schedule))
        self.stopping.wait(seconds)
        _replace(self._path(pipeline), self._text(pipeline))


def _replace(path: Path, text: str) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def _pieces(text: str, count: int) -> list[str]:
    step = len(text) // count + 1
    return [text[start : start + step] for start in range(0, len(text), step)]
