"""Glue's analysis: whether a run that says SUCCEEDED has failed all the same.

Spark may fail while the driver catches the exception and leaves with 0. Glue's own analysis of exceptions
then says so in a log stream of its own. No other text is searched: healthy logs are full of errors.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import Enum
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.aws.job_requests import Aws
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged
from interlock.domain import canonical
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Running, Succeeded

log = logging.getLogger(__name__)

#: The three below are not verified against the real service.
JOB_FAILED = "GlueExceptionAnalysisJobFailed"
REASON = "Failure Reason"
STREAM = "{run_id}-job-insights-rca-driver"

DEFAULT_BASE = "/aws-glue/jobs"
PREFIX_ARGUMENT = "--custom-logGroup-prefix"
GROUP_ARGUMENT = "--continuous-log-logGroup"
NO_SUCH_LOG = "ResourceNotFoundException"
MOST_PAGES = 20
#: Clocks differ.
EARLIER = timedelta(minutes=5)
#: Logs arrive late.
CONFIRMING = timedelta(seconds=15)


class Silence(Enum):
    """Nothing was found: because there is nothing, or because access was denied."""

    CLEAN = "clean"
    UNSEEN = "unseen"


class GlueAnalysis:
    """Reads the stream of one run, wherever this version of Glue has put it."""

    def __init__(self, aws: Aws, surroundings: Surroundings) -> None:
        self._aws = aws
        self._clock = surroundings.clock
        self._unverified = surroundings.unverified

    def confirmed(
        self, run: Mapping[str, Any], run_id: str, region: str | None
    ) -> Running | Succeeded | Failed:
        """What becomes of a success. A look that fails never makes it a failure."""
        found = self._objection(run, run_id, region)
        ended_at = run.get("CompletedOn")
        if isinstance(found, str):
            message = f"Glue says SUCCEEDED, its analysis says: {found}"
            return judged(Meaning.FAILED, "SUCCEEDED", message, ended_at)
        if ended_at is not None and self._clock() - ended_at < CONFIRMING:
            return Running("confirming: Glue says SUCCEEDED, its logs may still be on their way")
        succeeded = Succeeded("its state is SUCCEEDED", ended_at, {"state": "SUCCEEDED"})
        if found is Silence.CLEAN:
            return succeeded
        self._unverified.add()
        log.warning(
            "a success could not be verified",
            extra={"action": "success_unverified", "job_type": "glue", "run_id": run_id},
        )
        detail = {**succeeded.detail, "verified": False}
        return msgspec.structs.replace(succeeded, detail=detail)

    def _objection(self, run: Mapping[str, Any], run_id: str, region: str | None) -> str | Silence:
        silence = Silence.CLEAN
        for group in groups(run):
            try:
                for message in self._messages(group, run, run_id, region):
                    reason = objection(message)
                    if reason is not None:
                        return reason
            except PlatformError as error:
                if error.code != NO_SUCH_LOG:
                    silence = Silence.UNSEEN
        return silence

    def _messages(
        self, group: str, run: Mapping[str, Any], run_id: str, region: str | None
    ) -> Iterator[str]:
        """To the end: a page may be empty and not the last. Raises PlatformError when there is no end."""
        pages = self._aws.pages(
            "logs:FilterLogEvents",
            region,
            "nextToken",
            logGroupName=group,
            logStreamNames=[STREAM.format(run_id=run_id)],
            filterPattern=f'"{JOB_FAILED}"',
            startTime=int((run["StartedOn"] - EARLIER).timestamp() * 1000),
        )
        for number, page in enumerate(pages, start=1):
            yield from (event.get("message", "") for event in page.get("events", []))
            if number == MOST_PAGES and page.get("nextToken"):
                raise PlatformError(Category.TRANSIENT, f"{group} has too many pages")


def groups(run: Mapping[str, Any]) -> list[str]:
    """Where the stream may be, the likeliest first."""
    arguments = run.get("Arguments", {})
    named = [arguments[GROUP_ARGUMENT]] if arguments.get(GROUP_ARGUMENT) else []
    bases = [arguments.get(PREFIX_ARGUMENT), run.get("LogGroupName") or DEFAULT_BASE]
    ends = ("/error", "/logs-v2") if _is_new(run.get("GlueVersion", "")) else ("/logs-v2", "/error")
    for base in bases:
        if base:
            named += [f"{base.rstrip('/')}{end}" for end in (*ends, "")]
    return list(dict.fromkeys(named))


def objection(message: str) -> str | None:
    """The reason, if this is the analysis of a failed job; those of stages and tasks are not."""
    try:
        event = canonical.decode(message[message.index("{") :])
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    if not isinstance(event, dict) or event.get("Event") != JOB_FAILED:
        return None
    reason = event.get(REASON)
    return reason if isinstance(reason, str) and reason else "no reason given"


def _is_new(version: str) -> bool:
    """Glue 5.0 has put the stream elsewhere."""
    major = version.partition(".")[0]
    return major.isdigit() and int(major) >= 5
