"""Failures: what an error of the SDK means to whoever asked, translated once."""

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


def explained(error: InterlockError) -> InterlockError:
    """The same, with what mends it on a line of its own, where an answer of AWS or its absence caused it."""
    remedy = _remedy(error.__cause__)
    if not remedy or remedy in str(error):
        return error
    told = type(error)(f"{error}\n{remedy}")
    told.__cause__ = error.__cause__
    return told


def is_denied(error: BaseException | None) -> bool:
    """Whether a right was missing."""
    return isinstance(error, ClientError) and code_of(error) in _DENIED


def is_absent(error: BaseException | None) -> bool:
    """Whether what was asked for is not there."""
    return isinstance(error, ClientError) and code_of(error) in _ABSENT


def is_unreached(error: BaseException | None) -> bool:
    """Whether nothing at all can be asked: no network, no region, or nobody that AWS knows."""
    if isinstance(error, ClientError):
        return code_of(error) in _NOBODY
    return isinstance(error, BotoCoreError)


def operation_of(error: BaseException | None) -> str:
    """What was asked for, where an answer came."""
    return str(error.operation_name) if isinstance(error, ClientError) else ""


def _remedy(cause: BaseException | None) -> str:
    if is_denied(cause):
        return _GIVE_RIGHT
    if is_absent(cause):
        return _NAME_IT
    if isinstance(cause, ClientError):
        return _LOG_IN if code_of(cause) in _NOBODY else ""
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
#: Whoever calls is nobody AWS knows.
_NOBODY = frozenset(
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
    "Give your role that right; the module's output viewer_policy_json has all that looking needs."
)
_NAME_IT = (
    "See that [aws] in interlock.toml names your installation and its region:"
    " `terraform output -raw interlock_toml` prints them."
)
_LOG_IN = "Log in to AWS, or set AWS_PROFILE; `aws sts get-caller-identity` says who you are to it."
_NAME_REGION = "Name the region: `region` in [aws] of interlock.toml, or AWS_REGION."
_CONNECT = (
    "See that this machine has a network, and that `region` in [aws] of interlock.toml is right."
)


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _message(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))
