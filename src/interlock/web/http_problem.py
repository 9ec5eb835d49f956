"""Problems: every refusal as an RFC 9457 problem document."""

from http import HTTPStatus

import msgspec
from starlette.responses import Response

from interlock.errors import (
    ConfigError,
    ConflictError,
    InterlockError,
    NotFoundError,
    TransientError,
    UnavailableError,
    UnreadableError,
)

MEDIA = "application/problem+json"


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong, for programs and people."""

    title: str
    status: int
    detail: str = ""
    #: Every problem found, when there is more than one.
    problems: tuple[str, ...] = ()
    type: str = "about:blank"


class HttpProblem(Exception):  # noqa: N818 - not an error of ours: the caller's
    """A response that reports a failure."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}


def problem(status: int, detail: str = "", *, headers: dict[str, str] | None = None) -> Response:
    lines = tuple(detail.splitlines())
    document = ProblemDocument(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=lines[0] if lines else "",
        problems=lines if len(lines) > 1 else (),
    )
    return Response(msgspec.json.encode(document), status, headers, MEDIA)


def problem_of(error: Exception) -> Response:
    """The status and detail that a caller gets for an error."""
    status, detail = status_of(error)
    if isinstance(error, HttpProblem):
        return problem(status, detail, headers=error.headers)
    again = isinstance(error, InterlockError) and status == HTTPStatus.SERVICE_UNAVAILABLE
    return problem(status, detail, headers={"Retry-After": "1"} if again else None)


def status_of(error: Exception) -> tuple[int, str]:
    """Callers learn nothing about an internal error except that it happened."""
    if isinstance(error, HttpProblem):
        return error.status, error.detail
    if isinstance(error, InterlockError):
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
        return status, str(error) if status in _STATUS.values() else ""
    if isinstance(error, MemoryError):
        return 503, "the server is out of memory; free some memory"
    return 500, "internal error; see the server's log"


_STATUS: dict[type[InterlockError], int] = {
    ConflictError: 409,
    ConfigError: 422,
    NotFoundError: 404,
    TransientError: 503,
    UnavailableError: 503,
    UnreadableError: 500,
}
