"""API context: everything that answers need, put together once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from interlock.adapters.alerts.slack_signature import SlackSignature
from interlock.domain.lineage import LineageSource
from interlock.domain.ping import PingSource
from interlock.operations.commands import Commands
from interlock.operations.queries import Queries
from interlock.ports.reads import History
from interlock.ports.stores import ReadingIntake
from interlock.runtime.decisions import Decisions
from interlock.runtime.ttl_cache import TtlCache
from interlock.runtime.written_files import WrittenFiles
from interlock.web.access import Access, Caller
from interlock.web.metrics import Metrics
from interlock.web.read_only_refusals import refusal
from interlock.wiring.backend import Backend


class Readiness(Protocol):
    """How the process is doing, for a monitor."""

    def reasons(self, now: datetime) -> list[str]:
        """Why it is not ready; empty when it is."""
        ...

    def notices(self) -> list[str]:
        """What every reader of a page should know, although the controller does its work."""
        ...


@dataclass
class ApiContext:
    """One server's."""

    backend: Backend
    health: Readiness
    access: Access
    metrics: Metrics
    #: Stores readings for requests; a server that only reads has none.
    intake: ReadingIntake | None = None
    #: What the router decides; without a controller in this process nothing does.
    decisions: Decisions | None = None
    pings: tuple[PingSource, ...] = ()
    lineage: tuple[LineageSource, ...] = ()
    #: Tells whether a click comes from Slack; None without a signing secret.
    slack: SlackSignature | None = None
    #: The files of the pipelines as written, where they are at hand.
    written: WrittenFiles = field(default_factory=WrittenFiles)
    history: History = field(init=False)
    cache: TtlCache = field(init=False)
    #: Set when the server stops: streams end by themselves then.
    closing: bool = False

    def __post_init__(self) -> None:
        self.history = self.backend.history
        self.cache = TtlCache(self.backend.info.kept_seconds)

    @property
    def queries(self) -> Queries:
        return self.backend.queries

    @property
    def only_reads(self) -> bool:
        """Whether this server shows a backend that others keep."""
        return self.backend.info.read_only

    def commands(self, caller: Caller) -> Commands:
        """On behalf of a caller. Raises HttpProblem where this server only reads."""
        if self.only_reads:
            raise refusal(self.backend.info)
        return self.backend.commands(caller.name)
