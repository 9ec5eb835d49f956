"""Bodies: JSON as callers send it, read exactly and within bounds."""

import asyncio
import json
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from interlock.domain import canonical
from interlock.web.http_problem import HttpProblem

DEEPEST = 100
READ_SECONDS = 15.0

#: A larger body is read beside the event loop, which answers others meanwhile.
_AT_ONCE = 16 * 1024

#: So much more of a body that is too large is read and dropped, so that its sender hears why.
_DROPPED = 4


async def read_json(request: Request, largest: int) -> Any:
    """The decoded body; None when there is none. A number with a point is a Decimal."""
    body = await _read(request, largest)
    if not body:
        return None
    _check_type(request)
    if len(body) <= _AT_ONCE:
        return _decoded(body)
    return await run_in_threadpool(_decoded, body)


def _decoded(body: bytes) -> Any:
    try:
        value = canonical.decode(body)
    except RecursionError:
        raise _too_deep() from None
    except (msgspec.DecodeError, ValueError) as error:
        raise HttpProblem(400, f"the body is not JSON: {error}") from None
    if body.count(b"[") + body.count(b"{") > DEEPEST:
        _check_depth(value)
    if body.count(b":") > 1:
        _NAMES.decode(body.decode())
    return value


async def read_bytes(request: Request, largest: int) -> bytes:
    """As it was sent: a signature is over exactly these."""
    return await _read(request, largest)


async def read_text(request: Request, largest: int) -> str:
    """A form as a browser sends it, not yet taken apart."""
    return (await _read(request, largest)).decode("utf-8", "replace")


async def _read(request: Request, largest: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > largest * _DROPPED:
        raise _too_large(largest)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(READ_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= largest:
                    chunks.append(chunk)
                elif size > largest * _DROPPED:
                    break
    except TimeoutError:
        raise HttpProblem(408, f"the body took longer than {READ_SECONDS:.0f} seconds") from None
    except ClientDisconnect:
        raise HttpProblem(400, "the connection ended before the body did") from None
    if size > largest:
        raise _too_large(largest)
    return b"".join(chunks)


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpProblem(
            415, "the body must be application/json", headers={"Accept": "application/json"}
        )
    if request.headers.get("content-encoding", "identity") != "identity":
        raise HttpProblem(415, "the body must not be compressed")


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST + 1:
            raise _too_deep()
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]


def _named_once(pairs: list[tuple[str, Any]]) -> None:
    """Of two fields of one name, one would be lost without a word."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise HttpProblem(422, f"{name[:100]!r} stands more than once in one object")
        seen.add(name)


#: Only for its names: what they stand for has been read, exactly, by then.
_NAMES = json.JSONDecoder(object_pairs_hook=_named_once, parse_float=len, parse_int=len)


def _too_large(largest: int) -> HttpProblem:
    return HttpProblem(413, f"the body has more than {largest // 1024} KiB")


def _too_deep() -> HttpProblem:
    return HttpProblem(422, f"the body has more than {DEEPEST} levels")
