"""Failures: a platform that could not be reached, or refused a request."""

from interlock.domain.budgets import Category
from interlock.errors import InterlockError


class PlatformError(InterlockError):
    """`by_type` alone decides what it means for a launch, a lookup or a poll.

    `code` is the platform's own error code, if it has one.
    """

    def __init__(
        self,
        category: Category,
        message: str,
        *,
        maybe_started: bool = False,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.category = category
        self.maybe_started = maybe_started
        self.code = code


def without_run_id(who: str) -> PlatformError:
    """The platform accepted the launch but did not name the run."""
    message = f"{who} started a job but did not return a run id"
    return PlatformError(Category.TRANSIENT, message, maybe_started=True)
