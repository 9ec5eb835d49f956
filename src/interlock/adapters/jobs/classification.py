"""Classification: of what kind a failure is, by its code, its HTTP status or the words of its message.

Codes go before status, since a broken set-up may be answered with 502.
"""

import re

import msgspec

from interlock.domain.budgets import Category

#: EMR has no code of its own for a full cluster. Not verified against the real service.
EMR_FULL = "Maximum number of active steps"

_KMS = tuple(
    f"{prefix}{what}Exception"
    for prefix in ("KMS", "Kms")
    for what in ("AccessDenied", "Disabled", "NotFound", "InvalidState")
)
PERMANENT_CODES = frozenset(
    {
        "EntityNotFoundException",
        "ResourceNotFoundException",
        "StateMachineDoesNotExist",
        "StateMachineDeleting",
        "AccessDenied",
        "AccessDeniedException",
        "UnrecognizedClientException",
        "SignatureDoesNotMatch",
        "Validation",
        "ValidationException",
        "ValidationError",
        "RequestTooLargeException",
        *_KMS,
        "EC2AccessDeniedException",
        "RecursiveInvocationException",
        "ParamValidationError",
        "NoCredentialsError",
        "NoRegionError",
    }
)
PERMANENT_PREFIX = "Invalid"
TRANSIENT_CODES = frozenset(
    {
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "ProvisionedThroughputExceededException",
        "TransactionInProgressException",
        "RequestLimitExceeded",
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "SlowDown",
        "PriorRequestNotComplete",
        "KmsThrottlingException",
        "EC2ThrottledException",
        "ConcurrentRunsExceededException",
        "ResourceNumberLimitExceededException",
        "ExecutionLimitExceeded",
        "ServiceQuotaExceededException",
        "ConflictException",
        "ResourceConflictException",
        "ResourceNotReadyException",
        "InternalServiceException",
        "InternalServerException",
        "InternalServerError",
        "ServiceException",
        "OperationTimeoutException",
        "ENILimitReachedException",
        "ENINotReadyException",
        "SubnetIPAddressLimitReachedException",
        "EFSMountTimeoutException",
        "S3FilesMountTimeoutException",
        "SnapStartNotReadyException",
        "SnapStartTimeoutException",
        "ExpiredToken",
        "ExpiredTokenException",
    }
)
TRANSIENT_PREFIXES = ("Throttl", "ServiceUnavailable")
TRANSIENT_STATUSES = frozenset({408, 425, 429})
#: A gateway that lost its patience or its backend: the job may have been started all the same.
UNCERTAIN_STATUSES = frozenset({502, 504})


class Hint(msgspec.Struct, frozen=True):
    """What the words of a message say about a failure, and which words."""

    category: Category | None = None
    name: str | None = None


def launch_category(code: str | None, status: int | None, message: str = "") -> Category:
    """Of a launch that failed; TRANSIENT when nothing says otherwise."""
    by_code = None if code is None else _by_code(code, message)
    return by_code or _by_status(status)


def maybe_started(status: int | None) -> bool:
    return status in UNCERTAIN_STATUSES


def hint(message: str) -> Hint:
    """None when no words match, or words of both kinds."""
    head = message.encode()[:LOOKED_AT].decode(errors="ignore")
    found = [each for each in _HINTS if each[1].search(head)]
    if len({category for category, _ in found}) != 1:
        return Hint()
    category, pattern = found[0]
    return Hint(category, pattern.pattern)


def _by_code(code: str, message: str) -> Category | None:
    if code == "ValidationException" and EMR_FULL in message:
        return Category.TRANSIENT
    if code in PERMANENT_CODES or code.startswith(PERMANENT_PREFIX):
        return Category.PERMANENT
    if code in TRANSIENT_CODES or code.startswith(TRANSIENT_PREFIXES):
        return Category.TRANSIENT
    return None


def _by_status(status: int | None) -> Category:
    if status is not None and 300 <= status < 500 and status not in TRANSIENT_STATUSES:
        return Category.PERMANENT
    return Category.TRANSIENT


LOOKED_AT = 4096

_TRANSIENT_HINTS = (
    "(?<!On)OutOfMemoryError",
    "out of memory",
    "ExecutorLostFailure",
    "Container killed .*memory limits",
    "exit code 137",
    "No space left on device",
    "ThrottlingException",
    "Rate exceeded",
    "SlowDown",
    "Max concurrent",
    "Resource unavailable",
    "Connection reset",
    "Connection timed out",
    "SocketTimeoutException",
    "Service Unavailable",
)
_PERMANENT_HINTS = (
    "AnalysisException",
    "ParseException",
    "SyntaxError",
    "IndentationError",
    "NameError",
    "ModuleNotFoundError",
    "ImportError",
    "ClassNotFoundException",
    "NoSuchMethodError",
    "GlueArgumentError",
    "AccessDenied",
    "is not authorized to perform",
    "EntityNotFoundException",
    "NoSuchBucket",
)
_HINTS = (
    *((Category.TRANSIENT, re.compile(words)) for words in _TRANSIENT_HINTS),
    *((Category.PERMANENT, re.compile(words)) for words in _PERMANENT_HINTS),
)
