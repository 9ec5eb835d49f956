"""Backend: an installation as people and programs see it, wherever it runs."""

from typing import Protocol

import msgspec

from interlock.errors import InterlockError
from interlock.operations.commands import Commands
from interlock.operations.queries import Queries
from interlock.ports.alerts import Deliveries
from interlock.ports.reads import EventFeed, History
from interlock.usecases.ports import Ports


class BackendInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a backend is, and how commands reach it."""

    #: How a command for it begins.
    command: str = "interlock"
    #: What tells it from others; nothing for the one that this server keeps itself.
    name: str = ""
    #: Whether a server only shows it.
    read_only: bool = False
    #: How often it is polled for news, and how long one answer serves all who ask the same.
    look_seconds: float = 0.0
    kept_seconds: float = 0.0


HERE = BackendInfo()


class Backend(Protocol):
    """What a server answers from."""

    @property
    def ports(self) -> Ports: ...

    @property
    def queries(self) -> Queries: ...

    def commands(self, actor: str) -> Commands:
        """On behalf of that caller."""
        ...

    @property
    def history(self) -> History: ...

    @property
    def deliveries(self) -> Deliveries: ...

    @property
    def feed(self) -> EventFeed: ...

    @property
    def info(self) -> BackendInfo: ...

    def mask(self, text: str) -> str:
        """The text without any secret that this backend knows of."""
        ...

    def explained(self, error: InterlockError) -> InterlockError:
        """The same error, with its remedy where that is known."""
        ...
