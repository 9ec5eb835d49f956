"""Answers: what the answer of a platform means where it is not what was asked for."""

from interlock.adapters.jobs.classification import launch_category, maybe_started
from interlock.adapters.jobs.failures import PlatformError
from interlock.adapters.jobs.http_client import Answer
from interlock.domain.budgets import Category

NOT_FOUND = 404
CONFLICT = 409


def refusal(answer: Answer, who: str) -> PlatformError:
    """Of an answer that is not a yes, by its status."""
    category = launch_category(None, answer.status)
    message = f"{who} answers {answer.status}: {answer.text}"
    return PlatformError(category, message, maybe_started=maybe_started(answer.status))


def conflict(answer: Answer, who: str) -> PlatformError:
    """Most likely with ourselves: somebody is at it, and a moment later it can be seen."""
    message = f"{who} answers {answer.status}: {answer.text}"
    return PlatformError(Category.TRANSIENT, message, maybe_started=True)


def expect_yes(answer: Answer, who: str) -> None:
    """Raises PlatformError."""
    if not answer.ok:
        raise refusal(answer, who)
