"""Invocation: what every function does around its work. Its backend is created once per process.

Logs and metrics are lines on the standard output: CloudWatch reads both there.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cache
from typing import Any

from interlock.domain import canonical
from interlock.usecases.report_unreadable import report_unreadable
from interlock.wiring.aws_ports import AwsBackend, open_aws_ports
from interlock.wiring.aws_settings import Function, read_aws_settings

log = logging.getLogger(__name__)

#: Lambda sets this in every function: there, an invalid environment fails the start, not the first call.
IN_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"
NAMESPACE = "Interlock"

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

OpenHome = Callable[[], AwsBackend]


def home_of(function: Function, jobs: Any = None) -> OpenHome:
    """The backend of this process: created at once in Lambda, and on first use elsewhere."""

    @cache
    def opened() -> AwsBackend:
        log_as_json(os.environ.get("LOG_LEVEL", "INFO"))
        return open_aws_ports(read_aws_settings(function, os.environ), jobs=jobs)

    if IN_LAMBDA in os.environ:
        opened()
    return opened


def begin(backend: AwsBackend, context: Any) -> AwsBackend:
    """`context` is Lambda's; the remaining time that it reports is for this invocation."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    backend.begin(None if ask is None else lambda: timedelta(milliseconds=ask()))
    return backend


def report(backend: AwsBackend) -> None:
    """Report the rows that this invocation could not read. A report that fails is repeated when the row is
    met again; it never fails work that is done.
    """
    try:
        report_unreadable(backend.ports)
    except Exception:
        log.exception("report failed", extra={"action": "report_failed"})


def in_order(
    records: Iterable[dict[str, Any]], act: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Handle the records of a stream; stop at the first failure: AWS delivers it and all later records
    again.
    """
    for record in records:
        try:
            act(record)
        except Exception:
            number = record["dynamodb"]["SequenceNumber"]
            log.exception("record failed", extra={"action": "record_failed", "record": number})
            return {"batchItemFailures": [{"itemIdentifier": number}]}
    return {"batchItemFailures": []}


def count(name: str, environment: str, value: int = 1) -> None:
    """A metric, in CloudWatch's embedded metric format."""
    metric = {
        "_aws": {
            "Timestamp": int(time.time() * 1000),
            "CloudWatchMetrics": [
                {
                    "Namespace": NAMESPACE,
                    "Dimensions": [["environment"]],
                    "Metrics": [{"Name": name, "Unit": "Count"}],
                }
            ],
        },
        "environment": environment,
        name: value,
    }
    _write(metric)


def log_as_json(level: str, mask: Callable[[str], str] = str) -> None:
    """One line per record, with every field of `extra`."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Formatter(mask))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level if level in logging.getLevelNamesMapping() else logging.INFO)
    logging.getLogger("botocore").setLevel(logging.WARNING)


class _Formatter(logging.Formatter):
    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        said = {name: value for name, value in vars(record).items() if name not in _PLAIN}
        line: dict[str, Any] = {
            "level": record.levelname,
            "message": record.getMessage(),
            "logger": record.name,
            "timestamp": int(record.created * 1000),
            **{name: _plain(value) for name, value in said.items()},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return self._mask(canonical.encode(line))


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | bool | type(None)) else str(value)


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(f"{canonical.encode(line)}\n")
    sys.stdout.flush()
