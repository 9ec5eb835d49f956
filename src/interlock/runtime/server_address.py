"""Server address: the URL of the server of a state folder, and the secret of its owner.

The file lies next to the state file and only its owner can read it: that user could change the state anyway.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from interlock.errors import UnavailableError

NAME = "serve.json"


class Address(msgspec.Struct, frozen=True):
    """The address of a running server."""

    url: str
    token: str
    pid: int

    def __repr__(self) -> str:
        return f"Address({self.url!r}, pid={self.pid})"


@contextmanager
def left_at(state: Path, address: Address) -> Iterator[None]:
    """Publish the address while the server runs. Raises UnavailableError when the disk does not take it."""
    path = state / NAME
    _write(path, msgspec.json.encode(address))
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def find_address(state: Path) -> Address | None:
    """The address that the last server left; that server may be gone."""
    try:
        return msgspec.json.decode((state / NAME).read_bytes(), type=Address)
    except (OSError, msgspec.DecodeError):
        return None


def _write(path: Path, text: bytes) -> None:
    """Whole or not at all."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise UnavailableError(
            f"can't write {path}: {error.strerror}; free some space on its disk, then start again"
        ) from error
