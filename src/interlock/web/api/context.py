"""Desk: everything that the endpoints need, put together once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from interlock.adapters.sqlite.audit import AuditEntry
from interlock.ports.reads import History
from interlock.web.access import Access, Caller
from interlock.web.api.reading_batcher import Intake
from interlock.web.metrics import Metrics
from interlock.web.read_only import refusal
from interlock.wiring.kept import Kept
from interlock.wiring.local_backend import Home
from interlock.wiring.sight import Sight
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
class Desk:
    """One server's."""

    home: Sight
    health: Readiness
    access: Access
    metrics: Metrics
    history: History = field(init=False)
    views: Views = field(init=False)
    kept: Kept = field(init=False)
    #: Set when the server stops: streams end by themselves then.
    closing: bool = False
    _intake: Intake | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        home = self.home
        self.history = home.history
        self.views = Views(home.ports, self.history, home.operations)
        self.kept = Kept(home.place.kept_seconds)
        if isinstance(home, Home):
            self._intake = Intake(home.store.sensors.submit_all)

    @property
    def only_reads(self) -> bool:
        """Whether this server looks at a home that others keep."""
        return not isinstance(self.home, Home)

    @property
    def own(self) -> Home:
        """The home that this server keeps. Raises Refusal where it only reads."""
        if not isinstance(self.home, Home):
            raise refusal(self.home.place)
        return self.home

    @property
    def intake(self) -> Intake:
        if self._intake is None:
            raise refusal(self.home.place)
        return self._intake

    def note(self, caller: Caller, action: str, target: str, reason: str) -> None:
        """Into the audit log, before it is done: what was asked for is known whatever comes of it."""
        self.own.store.audit.note(
            AuditEntry(
                at=self.home.ports.clock(),
                actor=caller.name,
                action=action,
                target=target,
                reason=reason,
            )
        )
