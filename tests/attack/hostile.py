"""Hostile: requests on raw sockets that no client would send, or not to the end."""

import random
import socket
import struct
import time
from collections.abc import Callable

from attack.victim import TOKEN, Victim
from attack.worker import Worker

_SENSOR = "/api/v1/pipelines/orders/sensors/noise"
_LARGEST_ANSWER = 1 << 16
#: Right after a trouble, an answer of 500 may be the trouble's.
_CALM = 5.0


class Hostile(Worker):
    """One caller after another; none may be believed, and none may break the server."""

    def __init__(self, victim: Victim, seed: int) -> None:
        super().__init__(f"hostile-{victim.name}", victim.ledger)
        self._victim = victim
        self._chance = random.Random(seed)
        self._kinds: tuple[Callable[[socket.socket], bool], ...] = (
            self._garbage,
            self._slow_head,
            self._repeated_names,
            self._deep,
            self._aborted_login,
            self._long_cookie,
            self._wrong_token,
            self._lying_length,
        )

    def work(self) -> None:
        while not self.stopping.wait(self._chance.uniform(0.1, 0.8)):
            kind = self._chance.choice(self._kinds)
            name = kind.__name__.strip("_").replace("_", " ")
            calm = self._is_calm()
            try:
                with socket.create_connection(("127.0.0.1", self._victim.port), 3) as caller:
                    believable = kind(caller)
                    answer = _answer(caller)
            except OSError:
                self.ledger.did(f"hostile: {name}, broken off")
                continue
            self.ledger.did(f"hostile: {name}")
            self._judge(name, answer, believable, calm and self._is_calm())

    def _is_calm(self) -> bool:
        calm_for = time.monotonic() - self._victim.calm_since
        return not self._victim.troubled and calm_for > _CALM

    def _judge(self, name: str, answer: bytes, believable: bool, calm: bool) -> None:
        status = answer[9:12].decode(errors="replace")
        if status.startswith("2") and not believable:
            self.ledger.problem(f"{name} was answered {status}")
        if status.startswith("5") and calm:
            told = answer[:300].decode(errors="replace")
            self.ledger.problem(f"{name} was answered {status}: {told!r}")

    def _garbage(self, caller: socket.socket) -> bool:
        caller.sendall(self._chance.randbytes(self._chance.randrange(1, 5000)))
        caller.shutdown(socket.SHUT_WR)
        return False

    def _slow_head(self, caller: socket.socket) -> bool:
        for byte in b"GET /api/v1/runs HTTP/1.1\r\nHost: x"[: self._chance.randrange(3, 30)]:
            caller.sendall(bytes([byte]))
            time.sleep(0.05)
        return False

    def _repeated_names(self, caller: socket.socket) -> bool:
        count = self._chance.randrange(100, 40_000)
        caller.sendall(_request("PUT", _SENSOR, b"{" + b'"a":1,' * count + b'"a":2}'))
        return True

    def _deep(self, caller: socket.socket) -> bool:
        levels = self._chance.choice((50, 101, 5000, 100_000))
        caller.sendall(_request("PUT", _SENSOR, b'{"a":' + b"[" * levels + b"]" * levels + b"}"))
        return levels < 100

    def _aborted_login(self, caller: socket.socket) -> bool:
        head = _request("POST", "/login", b"secret=" + b"x" * 500, "")
        caller.sendall(head[: self._chance.randrange(20, len(head))])
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.close()
        raise OSError

    def _long_cookie(self, caller: socket.socket) -> bool:
        cookie = "interlock=" + "x" * self._chance.choice((60_000, 70_000))
        caller.sendall(_request("GET", "/api/v1/runs", b"", f"Cookie: {cookie}\r\n"))
        return False

    def _wrong_token(self, caller: socket.socket) -> bool:
        wrong = self._chance.choice(("", "x", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "é" * 20))
        fields = b'{"count": 50, "final": "yes"}'
        path = "/api/v1/pipelines/orders/sensors/landed%232019-01-01"
        caller.sendall(_request("PUT", path, fields, f"Authorization: Bearer {wrong}\r\n"))
        return False

    def _lying_length(self, caller: socket.socket) -> bool:
        caller.sendall(_request("PUT", _SENSOR, b"{}").replace(b"Length: 2", b"Length: 200"))
        caller.shutdown(socket.SHUT_WR)
        return False


def _request(method: str, path: str, body: bytes, more: str | None = None) -> bytes:
    """With our token unless something else is said."""
    more = f"Authorization: Bearer {TOKEN}\r\n" if more is None else more
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}Connection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _answer(caller: socket.socket) -> bytes:
    caller.settimeout(2.0)
    found = b""
    while len(found) < _LARGEST_ANSWER and (more := caller.recv(4096)):
        found += more
    return found
