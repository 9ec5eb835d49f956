"""Sight: a home as people and programs see it, whichever home it is."""

from typing import Protocol

import msgspec

from interlock.errors import InterlockError
from interlock.ports.alerts import Deliveries
from interlock.ports.reads import EventFeed, History
from interlock.usecases.ports import Ports
from interlock.wiring.operations import Operations


class BackendInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a home is, and how it is spoken to."""

    #: How a command for it begins.
    command: str = "interlock"
    #: What tells it from others; nothing for the one that this server keeps itself.
    name: str = ""
    #: How often it is looked at for news, and how long an answer serves everybody who asks the same.
    look_seconds: float = 0.0
    kept_seconds: float = 0.0


HERE = BackendInfo()


class Backend(Protocol):
    """What is read of a home. The local one can also be acted on, through its own class."""

    @property
    def ports(self) -> Ports: ...

    @property
    def operations(self) -> Operations: ...

    @property
    def history(self) -> History: ...

    @property
    def deliveries(self) -> Deliveries: ...

    @property
    def feed(self) -> EventFeed: ...

    @property
    def place(self) -> BackendInfo: ...

    def mask(self, text: str) -> str:
        """The text without any secret that this home knows of."""
        ...

    def explained(self, error: InterlockError) -> InterlockError:
        """The same error, with what mends it where that is known."""
        ...
