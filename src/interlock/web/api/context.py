"""Desk: everything that the endpoints need, put together once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from interlock.adapters.sqlite.audit import AuditEntry
from interlock.ports.reads import History
from interlock.runtime.ttl_cache import TtlCache
from interlock.web.access import Access, Caller
from interlock.web.api.reading_batcher import ReadingBatcher
from interlock.web.metrics import Metrics
from interlock.web.read_only_refusals import refusal
from interlock.wiring.backend import Backend
from interlock.wiring.local_backend import LocalBackend
from interlock.wiring.views import Views


class Readiness(Protocol):
    """Asked by whoever watches the process."""

    def reasons(self, now: datetime) -> list[str]:
        """Why it is not ready; nothing when it is."""
        ...

    def notices(self) -> list[str]:
        """What everybody who looks should know, although the controller does its work."""
        ...


@dataclass
class ApiContext:
    """One server's."""

    backend: Backend
    health: Readiness
    access: Access
    metrics: Metrics
    history: History = field(init=False)
    views: Views = field(init=False)
    kept: TtlCache = field(init=False)
    #: Set when the server stops: streams end by themselves then.
    closing: bool = False
    _batcher: ReadingBatcher | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        backend = self.backend
        self.history = backend.history
        self.views = Views(backend.ports, self.history, backend.operations)
        self.kept = TtlCache(backend.place.kept_seconds)
        if isinstance(backend, LocalBackend):
            self._batcher = ReadingBatcher(backend.store.sensors.submit_all)

    @property
    def only_reads(self) -> bool:
        """Whether this server looks at a home that others keep."""
        return not isinstance(self.backend, LocalBackend)

    @property
    def own(self) -> LocalBackend:
        """The home that this server keeps. Raises Refusal where it only reads."""
        if not isinstance(self.backend, LocalBackend):
            raise refusal(self.backend.place)
        return self.backend

    @property
    def batcher(self) -> ReadingBatcher:
        if self._batcher is None:
            raise refusal(self.backend.place)
        return self._batcher

    def note(self, caller: Caller, action: str, target: str, reason: str) -> None:
        """Into the audit log, before it is done: what was asked for is known whatever comes of it."""
        self.own.store.audit.note(
            AuditEntry(
                at=self.backend.ports.clock(),
                actor=caller.name,
                action=action,
                target=target,
                reason=reason,
            )
        )
