"""Fault: a runtime error of a state machine, by the name that Retry and Catch know it by."""

from collections.abc import Container
from typing import Final

ALL: Final = "States.ALL"
TASK_FAILED: Final = "States.TaskFailed"
TIMEOUT: Final = "States.Timeout"
RUNTIME: Final = "States.Runtime"
RESULT_PATH: Final = "States.ResultPathMatchFailure"
INTRINSIC: Final = "States.IntrinsicFailure"
NO_CHOICE: Final = "States.NoChoiceMatched"
UNREADABLE_RESULT: Final = "Runtime.MarshalError"


class Fault(Exception):  # noqa: N818 - an error is what we raise at our callers
    """Raised inside the interpreter only: its callers see a retried, caught or failed execution."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


def matches(names: Container[str], error: str) -> bool:
    """Whether an `ErrorEquals` list covers an error.

    As on AWS, nothing covers States.Runtime: a machine that reads what isn't there is broken, not
    unlucky. States.TaskFailed covers every other error of a task except its timeout.
    """
    if error == RUNTIME:
        return False
    if error in names or ALL in names:
        return True
    return TASK_FAILED in names and error != TIMEOUT
