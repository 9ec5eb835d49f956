"""Address: where the server of a state folder is found, and the secret that its owner shows there.

It lies beside the state file, for nobody but its owner: who can read it could change the state itself.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

NAME = "serve.json"


class Address(msgspec.Struct, frozen=True):
    """Of a server that runs."""

    url: str
    token: str
    pid: int

    def __repr__(self) -> str:
        return f"Address({self.url!r}, pid={self.pid})"


@contextmanager
def left_at(state: Path, address: Address) -> Iterator[None]:
    """Leave the address while the server runs."""
    path = state / NAME
    new = state / f"{NAME}.{os.getpid()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(address))
    new.replace(path)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def find_address(state: Path) -> Address | None:
    """What the last server left; it may be gone meanwhile."""
    try:
        return msgspec.json.decode((state / NAME).read_bytes(), type=Address)
    except (OSError, msgspec.DecodeError):
        return None
