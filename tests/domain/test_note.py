"""Note: many alerts in few words."""

import msgspec

from contracts.samples import an_event
from interlock.domain.event import EventType, Severity
from interlock.domain.note import counts, severest


def test_alerts_are_counted_by_severity_and_type_the_severest_first() -> None:
    events = [
        msgspec.structs.replace(an_event(part), severity=severity, type=kind)
        for part, (severity, kind) in enumerate(
            [
                (Severity.WARNING, EventType.SLA_WARNING),
                (Severity.ERROR, EventType.SLA_BREACH),
                (Severity.ERROR, EventType.JOB_FAILED),
                (Severity.ERROR, EventType.SLA_BREACH),
            ]
        )
    ]
    assert counts(events) == "1 error JOB_FAILED, 2 error SLA_BREACH, 1 warning SLA_WARNING"
    assert severest(events) is Severity.ERROR
