"""Exchange: one request of a sink and its answer. The wiring decides where requests may go."""

from collections.abc import Callable, Mapping

import msgspec

SECONDS = 10.0


class Outgoing(msgspec.Struct, frozen=True):
    """A POST of JSON."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    seconds: float = SECONDS


class Reply(msgspec.Struct, frozen=True):
    """What came back; names of headers are small."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


#: Raises TransientError when there is no answer, ConfigError when the request may not go there.
Send = Callable[[Outgoing], Reply]
