"""Job output: what a job printed, as far as it is kept, and where its platform has the rest."""

import re
from enum import StrEnum
from typing import Any

import msgspec

#: Sequences that colour a terminal's text or move its cursor.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
#: Controls and direction marks, lines and tabs apart.
_FOREIGN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


class OutputStream(StrEnum):
    """What is read: one stream, or both in the order in which they came."""

    STDOUT = "stdout"
    STDERR = "stderr"
    BOTH = "both"


class OutputPart(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a stream is wanted: from a byte on, or its last lines, or its last bytes."""

    stream: OutputStream = OutputStream.BOTH
    offset: int | None = None
    tail: int | None = None
    limit: int


class OutputRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The job of one attempt, and the wanted part of its output."""

    job_type: str
    token: str
    run_id: str | None
    #: What its launch returned, as far as that is known.
    job: dict[str, Any]
    part: OutputPart


class JobOutput(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What is kept of a job's output. Offsets count the bytes that the stream ever had."""

    text: str = ""
    start: int = 0
    end: int = 0
    #: How much the stream ever had, and from where on it is kept.
    size: int = 0
    kept_from: int = 0
    sizes: dict[str, int] = {}
    ended: bool = False
    exit_code: int | None = None
    signal: int | None = None
    #: Where the platform shows the job, and what else its reader should know.
    link: str | None = None
    note: str = ""


def plain_lines(text: str) -> str:
    """Output that can't move a cursor, colour or turn text around. A returned carriage begins a line."""
    lines = _SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _FOREIGN.sub("", lines)
