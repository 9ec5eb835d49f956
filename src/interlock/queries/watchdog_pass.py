"""Findings: what a pass of the watchdog found, in words."""

from datetime import datetime

import msgspec

from interlock.usecases.conclude_pass import CheckFailure, PassReport
from interlock.usecases.watchdog_checks import finding_spec


class ReportedFinding(msgspec.Struct, frozen=True, rename="camel"):
    """One finding: which check, of which pipeline, and what was done about it."""

    check: str
    pipeline_id: str
    what: str


class WatchdogPass(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One pass of the watchdog."""

    now: datetime
    found: tuple[ReportedFinding, ...] = ()
    failures: tuple[CheckFailure, ...] = ()
    suspects: tuple[str, ...] = ()


def pass_in_words(report: PassReport) -> WatchdogPass:
    return WatchdogPass(
        now=report.now,
        found=tuple(
            ReportedFinding(check, pipeline_id, finding_spec(finding).words(finding, report.now))
            for check, pipeline_id, finding in report.findings
        ),
        failures=tuple(report.failures),
        suspects=tuple(sorted(report.suspects)),
    )
