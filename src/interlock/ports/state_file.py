"""State file: maintenance of a backend that has its own file. AWS maintains its tables itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.callers import AuditEntry, AuditFilter, RequestOutcome, Token
from interlock.domain.change import Parked
from interlock.domain.config import RefusedConfig
from interlock.ports.stores import MissingFiles


class RefusedFiles(Protocol):
    """The files that were refused when the project was last read."""

    def keep(self, notes: Sequence[RefusedConfig]) -> None:
        """Replace the whole list."""
        ...

    def kept(self) -> list[RefusedConfig]: ...


class Retention(Protocol):
    """How long rows stay."""

    def sweep(self, now: datetime) -> dict[str, int]:
        """Remove what has expired, and return the number of rows by table."""
        ...

    def prunable(self, before: str) -> int:
        """How many finished runs there are of dates before that day."""
        ...

    def prune(self, before: str, now: datetime) -> int:
        """Remove them, and return how many."""
        ...


class ParkedChanges(Protocol):
    """Changes that could not be handled."""

    def parked(self) -> list[Parked]: ...

    def retry_parked(self, now: datetime) -> int:
        """Retry them at once, and return how many."""
        ...


class Tokens(Protocol):
    """The tokens that identify callers."""

    def all(self) -> list[Token]: ...

    def create(self, token: Token) -> bool:
        """False if the name is taken."""
        ...

    def revoke(self, name: str) -> bool:
        """False if no token has that name."""
        ...


class Audit(Protocol):
    """Who asked for what, and what came of it. Entries are only added, and each is settled once."""

    def note(self, entry: AuditEntry) -> int:
        """Add an entry, without its outcome, and return its place in the log."""
        ...

    def settle(self, seq: int, outcome: RequestOutcome, problem: str = "") -> bool:
        """Note the outcome. False if the entry has one."""
        ...

    def newest(
        self, limit: int, wanted: AuditFilter = AuditFilter(), before: int | None = None
    ) -> list[AuditEntry]:
        """The newest matching entries before that place, newest first."""
        ...


class StateFile(Protocol):
    """Everything in the file that needs maintenance."""

    @property
    def refused_files(self) -> RefusedFiles: ...
    @property
    def missing_files(self) -> MissingFiles: ...
    @property
    def retention(self) -> Retention: ...
    @property
    def changes(self) -> ParkedChanges: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def audit(self) -> Audit: ...
