"""Desk: everything that the endpoints need, put together once."""

from dataclasses import dataclass, field

from interlock.adapters.local.audit import AuditEntry
from interlock.ports import History
from interlock.web.access import Access, Caller
from interlock.web.intake import Intake
from interlock.web.metrics import Metrics
from interlock.wiring.health import Health
from interlock.wiring.home import Home
from interlock.wiring.views import Views


@dataclass
class Desk:
    """One server's."""

    home: Home
    health: Health
    access: Access
    metrics: Metrics
    intake: Intake = field(init=False)
    history: History = field(init=False)
    views: Views = field(init=False)
    #: Set when the server stops: streams end by themselves then.
    closing: bool = False

    def __post_init__(self) -> None:
        home = self.home
        self.intake = Intake(home.store.sensors.put_all)
        self.history = home.store.history
        self.views = Views(home.ports, self.history, home.operations)

    def note(self, caller: Caller, action: str, target: str, reason: str) -> None:
        """Into the audit log, before it is done: what was asked for is known whatever comes of it."""
        self.home.store.audit.note(
            AuditEntry(
                at=self.home.ports.clock(),
                actor=caller.name,
                action=action,
                target=target,
                reason=reason,
            )
        )
