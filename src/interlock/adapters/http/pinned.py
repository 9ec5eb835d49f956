"""Pinned connections: to a checked address, under the name it was checked for, until a deadline.

The Host header, SNI and the certificate check still use the name; only the lookup is ours.
"""

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any

import urllib3.connection

from interlock.adapters.http.addresses import Address

CONNECT_SECONDS = 5.0


class ExchangeDeadline:
    """One deadline for a whole exchange, so that a slow drip ends too."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Raises TimeoutError when no time is left."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the exchange has passed")
        return left


class _Hurried(socket.socket):
    """A socket whose every wait ends at the deadline."""

    deadline: ExchangeDeadline

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().recv_into(*args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(self.deadline.left())
        super().sendall(*args, **kwargs)


class _HurriedTls(_Hurried, ssl.SSLSocket):
    """The same over TLS."""


Connect = Callable[[Address, int, float], socket.socket]


def connect(address: Address, port: int, timeout: float) -> socket.socket:
    """A plain connection to an address, never to a name."""
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    plain = _Hurried(family, socket.SOCK_STREAM)
    try:
        plain.settimeout(timeout)
        plain.connect((str(address), port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        plain.close()
        raise
    return plain


class Pin:
    """The addresses that a connection may use, in the resolver's order."""

    def __init__(
        self, addresses: Sequence[Address], port: int, deadline: ExchangeDeadline, connect: Connect
    ) -> None:
        self._addresses = addresses
        self._port = port
        self._connect = connect
        self.deadline = deadline

    def open(self) -> socket.socket:
        """Connects to the first that answers. Raises the OSError of the last one if none does."""
        failure: OSError = OSError("no address")
        for address in self._addresses:
            timeout = min(self.deadline.left(), CONNECT_SECONDS)
            try:
                return self._at(address, timeout)
            except OSError as error:
                failure = error
        raise failure

    def _at(self, address: Address, timeout: float) -> socket.socket:
        opened = self._connect(address, self._port, timeout)
        try:
            peer = ip_address(opened.getpeername()[0])
            if peer != address:
                raise OSError(f"connected to {peer}, not to {address}")
            if isinstance(opened, _Hurried):
                opened.deadline = self.deadline
            opened.settimeout(self.deadline.left())
        except OSError:
            opened.close()
            raise
        return opened


class PinnedHttp(urllib3.connection.HTTPConnection):
    """Plain."""

    pin: Pin

    def _new_conn(self) -> socket.socket:
        return self.pin.open()


class PinnedHttps(urllib3.connection.HTTPSConnection):
    """A TLS connection, always verified."""

    pin: Pin

    def _new_conn(self) -> socket.socket:
        return self.pin.open()

    def connect(self) -> None:
        super().connect()
        if isinstance(self.sock, _HurriedTls):
            self.sock.deadline = self.pin.deadline


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """The system's certificate authorities, and the operator's private one if set."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    context.sslsocket_class = _HurriedTls
    return context
