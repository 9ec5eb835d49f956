"""Failures: a platform that could not be asked, or did not do what it was asked."""

from interlock.domain.budgets import Category
from interlock.errors import InterlockError


class PlatformError(InterlockError):
    """What a launch, a look or a poll makes of it is decided in one place, `by_type`."""

    def __init__(self, category: Category, message: str, *, maybe_started: bool = False) -> None:
        super().__init__(message)
        self.category = category
        self.maybe_started = maybe_started
