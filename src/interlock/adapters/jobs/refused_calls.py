"""Answers: what the answer of a platform means where it is not what was asked for."""

from interlock.adapters.http.http_client import HttpResponse
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.classification import launch_category, maybe_started
from interlock.domain.budgets import Category

NOT_FOUND = 404
CONFLICT = 409


def refusal(answer: HttpResponse, who: str) -> PlatformError:
    """Of an answer that is not a yes, by its status."""
    category = launch_category(None, answer.status)
    return PlatformError(category, _said(answer, who), maybe_started=maybe_started(answer.status))


def conflict(answer: HttpResponse, who: str) -> PlatformError:
    """Most likely a conflict with our own earlier call, whose outcome shows a moment later."""
    return PlatformError(Category.TRANSIENT, _said(answer, who), maybe_started=True)


def expect_yes(answer: HttpResponse, who: str) -> None:
    """Raises PlatformError."""
    if not answer.ok:
        raise refusal(answer, who)


def _said(answer: HttpResponse, who: str) -> str:
    if place := answer.headers.get("location"):
        return f"{who} answers {answer.status} and leads to {place}, which is not followed"
    said = f": {answer.text}" if answer.text else ""
    return f"{who} answers {answer.status}{said}"
