"""Failures: what an SDK error means to the caller, translated in one place."""

from collections.abc import Callable
from typing import Any, TypeVar

from botocore.exceptions import (  # type: ignore[import-untyped]
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoRegionError,
)
from botocore.exceptions import ConnectionError as NoConnection

from interlock.domain.event import clean
from interlock.errors import InterlockError, TransientError, UnavailableError

T = TypeVar("T")

#: Codes that mean "not now": the SDK has already retried them.
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
    """Call the SDK. A code in `expected` is raised unchanged: it is an answer, not a failure."""
    try:
        return call(**given)
    except ClientError as error:
        if code_of(error) in expected:
            raise
        raise meaning(error) from error
    except BotoCoreError as error:
        raise meaning(error) from error


def meaning(error: ClientError | BotoCoreError) -> InterlockError:
    """In our own words: only kinds and names, nothing of the request or the response."""
    if isinstance(error, ClientError):
        code, operation = code_of(error), error.operation_name
        if code in _NOT_NOW or _status(error) >= 500:
            return TransientError(f"{operation}: {code}")
        return UnavailableError(clean(f"{operation}: {code}: {_message(error)}", 500))
    if isinstance(error, HTTPClientError | NoConnection):
        return TransientError(f"can't reach AWS: {type(error).__name__}")
    return UnavailableError(clean(f"{type(error).__name__}: {error}", 500))


def explained(error: InterlockError) -> InterlockError:
    """The same error, with the fix on its own line if a response from AWS, or a missing one, caused it."""
    remedy = _remedy(error.__cause__)
    if not remedy or remedy in str(error):
        return error
    told = type(error)(f"{error}\n{remedy}")
    told.__cause__ = error.__cause__
    return told


def is_denied(error: BaseException | None) -> bool:
    """Whether a permission was missing."""
    return isinstance(error, ClientError) and code_of(error) in _DENIED


def is_absent(error: BaseException | None) -> bool:
    """Whether the resource does not exist."""
    return isinstance(error, ClientError) and code_of(error) in _ABSENT


def is_unreached(error: BaseException | None) -> bool:
    """Whether AWS can't be called at all: no network, no region, or no valid credentials."""
    if isinstance(error, ClientError):
        return code_of(error) in _UNKNOWN_CALLER
    return isinstance(error, BotoCoreError)


def operation_of(error: BaseException | None) -> str:
    """The operation that was called, if AWS responded."""
    return str(error.operation_name) if isinstance(error, ClientError) else ""


def _remedy(cause: BaseException | None) -> str:
    if is_denied(cause):
        return _GIVE_RIGHT
    if is_absent(cause):
        return _NAME_IT
    if isinstance(cause, ClientError):
        return _LOG_IN if code_of(cause) in _UNKNOWN_CALLER else ""
    if isinstance(cause, NoRegionError):
        return _NAME_REGION
    if isinstance(cause, HTTPClientError | NoConnection):
        return _CONNECT
    return _LOG_IN if isinstance(cause, BotoCoreError) else ""


_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
_ABSENT = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
        "StateMachineDoesNotExist",
    }
)
#: AWS does not accept the caller's credentials.
_UNKNOWN_CALLER = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_GIVE_RIGHT = (
    "Give your role that permission: the module's output viewer_policy_json grants all reads."
)
_NAME_IT = (
    "Check that [aws] in interlock.toml names your installation and its region:"
    " `terraform output -raw interlock_toml` prints them."
)
_LOG_IN = "Log in to AWS, or set AWS_PROFILE; `aws sts get-caller-identity` shows who you are."
_NAME_REGION = "Set the region: `region` in [aws] of interlock.toml, or AWS_REGION."
_CONNECT = "Check this machine's network, and `region` in [aws] of interlock.toml."


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _message(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))
