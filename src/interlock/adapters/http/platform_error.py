"""Failures: a platform that could not be asked, or did not do what it was asked."""

from interlock.domain.budgets import Category
from interlock.errors import InterlockError


class PlatformError(InterlockError):
    """What a launch, a look or a poll makes of it is decided in one place, `by_type`.

    `code` is the platform's own word for it, where it has one.
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
    """It said yes, and not to what."""
    message = f"{who} started a job and did not say its run id"
    return PlatformError(Category.TRANSIENT, message, maybe_started=True)
