"""Handling: what people did about the alerts of a date, and what undoes it."""

from datetime import timedelta

import msgspec
import pytest

from alert_samples import told
from contracts.samples import ALERT, NOW, a_handling
from interlock.domain.alerting.handling import (
    Acknowledgement,
    Escalation,
    Snooze,
    in_words,
    known_so_far,
    unhandled,
)
from interlock.domain.alerting.threads import AlertKey, alert_key, phase_now
from interlock.domain.event import Event, EventType, Phase, Severity
from interlock.domain.run import RunKey

E = EventType
HOUR = timedelta(hours=1)
ACK = Acknowledgement(by="ada", reason="looking", at=NOW, severity=Severity.ERROR, attempt=1)
SNOOZE = Snooze(by="ada", reason="asleep", at=NOW, until=NOW + HOUR)


@pytest.mark.parametrize(
    ("event", "covered"),
    [
        (told(E.SLA_BREACH, 60), True),
        (told(E.SLA_BREACH, 60, severity=Severity.CRITICAL), False),
        (told(E.SLA_BREACH, 0, severity=Severity.CRITICAL), True),  # not after it
        (told(E.JOB_FAILED, 60, attempt=1), True),
        (told(E.JOB_FAILED, 60, attempt=2), False),
        (told(E.JOB_FAILED, 60, attempt=2, severity=Severity.WARNING), False),
        (told(E.JOB_FAILED, 60), True),  # an attempt that it does not name is none that is new
        (told(E.TRIGGER_STARTED, 60, attempt=2), True),
    ],
)
def test_an_acknowledgement_covers_what_is_no_new_failure(event: Event, covered: bool) -> None:
    assert ACK.covers(event) is covered


def test_before_the_first_attempt_the_first_that_fails_is_new() -> None:
    early = msgspec.structs.replace(ACK, attempt=None)
    assert not early.covers(told(E.JOB_FAILED, 60, attempt=0))


def test_a_snooze_holds_until_its_end_what_is_neither_critical_nor_told_by_people() -> None:
    grave = told(E.SLA_BREACH, severity=Severity.CRITICAL)
    assert SNOOZE.holds(told(), NOW) and not SNOOZE.holds(told(), NOW + HOUR)
    assert not SNOOZE.holds(grave, NOW)
    assert msgspec.structs.replace(SNOOZE, include_critical=True).holds(grave, NOW)
    assert not SNOOZE.holds(told(E.ALERT_SNOOZED), NOW)


def test_what_changes_nothing_leaves_the_very_same_handling() -> None:
    new = unhandled(ALERT, NOW)
    assert new.after(told(), NOW) is new
    assert new.after(told(E.JOB_COMPLETED), NOW) is new
    done = new.acknowledge(ACK)
    undone = done.after(told(E.JOB_FAILED, 60, attempt=2), NOW)
    assert (undone.acknowledged, undone.version) == (None, 2)
    assert done.after(told(E.SLA_BREACH, 60), NOW) is done
    assert done.escalating("ops", Escalation("e", NOW), NOW) is done


def test_only_the_earliest_escalation_to_a_target_stands() -> None:
    first = unhandled(ALERT, NOW).escalating("ops", Escalation("e1", NOW + HOUR), NOW)
    assert first.escalating("ops", Escalation("e2", NOW + HOUR), NOW) is first
    sooner = first.escalating("ops", Escalation("e2", NOW), NOW)
    assert sooner.escalations == {"ops": Escalation("e2", NOW)}
    both = sooner.escalating("log", Escalation("e2", NOW), NOW)
    assert set(both.escalations) == {"ops", "log"}
    assert both.acknowledge(ACK).escalations == {}
    assert both.after(told(E.JOB_COMPLETED, 60), NOW).escalations == {}


def test_what_people_did_in_words() -> None:
    assert in_words(None) == in_words(unhandled(ALERT, NOW)) == ""
    assert in_words(a_handling()) == (
        "acknowledged by ada at 2026-03-03 10:00 UTC: looking;"
        " snoozed by ada until 2026-03-03 11:00 UTC: asleep"
    )
    snoozed = unhandled(ALERT, NOW).snooze(SNOOZE)
    assert snoozed.is_snoozed(NOW) and not snoozed.is_snoozed(NOW + HOUR)
    assert not snoozed.unsnooze(NOW).is_snoozed(NOW)


def test_what_is_known_of_a_date_is_its_gravest_event_and_its_last_attempt() -> None:
    assert known_so_far([]) == (None, None)
    events = [told(E.SLA_BREACH), told(E.TRIGGER_STARTED, attempt=3), told(E.SLA_WARNING)]
    assert known_so_far(events) == (Severity.ERROR, 3)


def test_alerts_belong_to_a_date_or_to_a_type_and_a_day() -> None:
    assert alert_key(told()) == ALERT
    assert ALERT.run == RunKey(ALERT.pipeline, ALERT.schedule, ALERT.date)
    assert str(ALERT) == str(ALERT.run)
    system = alert_key(told(E.CONFIG_REJECTED, key=None))
    assert system == AlertKey("_system", "CONFIG_REJECTED", "2026-03-03") and system.run is None
    about = told(E.ALERT_SNOOZED, key=None, detail={"alerts": "CONFIG_REJECTED 2026-03-01"})
    assert alert_key(about) == AlertKey("_system", "CONFIG_REJECTED", "2026-03-01")
    odd = told(E.ALERT_SNOOZED, key=None, detail={"alerts": "LATER 2026-03-01"})
    assert alert_key(odd) == AlertKey("_system", "ALERT_SNOOZED", "2026-03-03")


def test_the_state_of_a_date_is_that_of_its_latest_event() -> None:
    assert phase_now([]) is None and phase_now([told(E.VALIDATION_PASSED)]) is None
    events = [told(E.JOB_COMPLETED, 60), told(E.JOB_FAILED, 5), told(E.VALIDATION_PASSED, 90)]
    assert phase_now(events) is Phase.DONE
    assert phase_now([told(E.JOB_FAILED, 5), told(E.SLA_BREACH, 5)]) is Phase.FAILED
