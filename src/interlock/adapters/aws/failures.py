"""Failures: what an error of the SDK means to whoever asked, translated once."""

from collections.abc import Callable
from typing import Any, TypeVar

from botocore.exceptions import (  # type: ignore[import-untyped]
    BotoCoreError,
    ClientError,
    HTTPClientError,
)
from botocore.exceptions import ConnectionError as NoConnection

from interlock.domain.event import clean
from interlock.errors import InterlockError, TransientError, UnavailableError

T = TypeVar("T")

#: Codes that say "not now": the SDK has tried them itself already.
_NOT_NOW = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "InternalServerException",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "SlowDown",
        "Throttling",
        "ThrottledException",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


def code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def ask(call: Callable[..., T], *expected: str, **given: Any) -> T:
    """Call the SDK. A code among `expected` is raised as it is: it is an answer, not a failure."""
    try:
        return call(**given)
    except ClientError as error:
        if code_of(error) in expected:
            raise
        raise meaning(error) from error
    except BotoCoreError as error:
        raise meaning(error) from error


def meaning(error: ClientError | BotoCoreError) -> InterlockError:
    """In our own words: nothing of what was asked for or answered is in them, only kinds and names."""
    if isinstance(error, ClientError):
        code, operation = code_of(error), error.operation_name
        if code in _NOT_NOW or _status(error) >= 500:
            return TransientError(f"{operation}: {code}")
        return UnavailableError(clean(f"{operation}: {code}: {_message(error)}", 500))
    if isinstance(error, HTTPClientError | NoConnection):
        return TransientError(f"AWS can't be reached: {type(error).__name__}")
    return UnavailableError(clean(f"{type(error).__name__}: {error}", 500))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _message(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))
