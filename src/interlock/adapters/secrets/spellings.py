"""Spellings: every form in which a secret could appear in a log line, a response or a job's output."""

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote

#: A shorter line of a secret could be any word.
SHORTEST_LINE = 6
#: Fewer base64 characters could be part of any text.
SHORTEST_BASE64 = 8


def spellings(value: str) -> tuple[str, ...]:
    """The value itself, its lines, and both as JSON, in a URL and in base64; the longest first."""
    found = {each for text in (value, *_lines(value)) for each in _encodings(text)}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def _lines(value: str) -> list[str]:
    """Tools print a key line by line, each line after a timestamp or prefix."""
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(line) >= SHORTEST_LINE]


def _encodings(text: str) -> Iterator[str]:
    if text:
        yield from (text, json.dumps(text)[1:-1], quote(text, safe=""), *_base64(text))


def _base64(text: str) -> Iterator[str]:
    """The part of its base64 that is the same at any offset in a longer text, such as `user:secret`."""
    raw = text.encode(errors="surrogateescape")
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        first = (0, 2, 3)[before]
        last = (before + len(raw)) * 8 // 6
        certain = encoded[first:last]
        if len(certain) >= SHORTEST_BASE64:
            yield certain
            yield certain.replace("+", "-").replace("/", "_")
