"""Note: what a message says, in one line and for programs."""

import msgspec

from alert_samples import told
from contracts.samples import NOW, a_thread
from interlock.domain.alerting.note import (
    AlertNote,
    DigestNote,
    Note,
    RootNote,
    SummaryNote,
    TrialNote,
    about,
    counts,
    document,
    event_page,
    headline,
    severest,
)
from interlock.domain.event import EventType, Severity

E = EventType
FAILED, LATE = (
    told(E.JOB_FAILED, 1, message="it failed"),
    told(E.SLA_WARNING, 2, message="it is late"),
)


def test_alerts_are_counted_by_severity_and_type_the_severest_first() -> None:
    events = [told(E.SLA_WARNING), told(E.SLA_BREACH), told(E.JOB_FAILED), told(E.SLA_BREACH)]
    assert counts(events) == "1 error JOB_FAILED, 2 error SLA_BREACH, 1 warning SLA_WARNING"
    assert severest(events) is Severity.ERROR


def test_every_note_is_one_line() -> None:
    notes: dict[str, Note] = {
        "error: silver-orders 2026-03-03: it failed": AlertNote(FAILED),
        "error: silver-orders 2026-03-03: it failed (C9 is archived)": RootNote(
            a_thread(), FAILED, note="C9 is archived"
        ),
        "error: 2 alerts at once: 1 error JOB_FAILED, 1 warning SLA_WARNING": DigestNote(
            (FAILED, LATE)
        ),
        "2 alerts held while muted or snoozed: 1 still open, 1 recovered meanwhile": SummaryNote(
            NOW, (FAILED,), (LATE,)
        ),
        "1 alert held while muted or snoozed: 0 still open, 1 recovered meanwhile": SummaryNote(
            NOW, (), (LATE,)
        ),
        "a test": TrialNote("a test", NOW),
        "error: interlock: w": AlertNote(told(E.WATCHDOG_DEGRADED, key=None, message="w")),
    }
    assert {headline(note) for note in notes.values()} == set(notes)


def test_a_note_knows_the_events_that_it_tells_of() -> None:
    assert about(AlertNote(FAILED)) == about(RootNote(a_thread(), FAILED)) == (FAILED,)
    assert about(DigestNote((FAILED, LATE))) == about(SummaryNote(NOW, (FAILED,), (LATE,)))
    assert about(TrialNote("a test", NOW)) == ()


def test_programs_get_type_timestamp_and_data() -> None:
    told_of = document(AlertNote(FAILED, "C9 is archived"))
    assert (told_of["type"], told_of["timestamp"]) == ("JOB_FAILED", "2026-03-03T10:00:01.123Z")
    assert told_of["data"]["eventId"] == FAILED.event_id
    assert told_of["data"]["note"] == "C9 is archived"
    assert "note" not in document(AlertNote(FAILED))["data"]
    assert document(RootNote(a_thread(), FAILED)) == document(AlertNote(FAILED))
    held = document(SummaryNote(NOW, (FAILED,), (LATE,)))
    assert held["type"] == "ALERTS_HELD"
    assert held["data"]["open"] == [FAILED.event_id]
    assert held["data"]["recovered"] == [LATE.event_id]
    many = document(DigestNote((LATE, FAILED)))
    assert (many["type"], many["timestamp"]) == ("ALERTS_DIGEST", "2026-03-03T10:00:02.123Z")
    assert document(TrialNote("a test", NOW))["data"] == {"message": "a test"}
    msgspec.json.encode([told_of, held, many])


BASE = "https://interlock.example"


def test_every_note_for_programs_links_to_the_page_that_shows_it() -> None:
    of_pipeline = msgspec.structs.replace(FAILED, date=None, schedule_id=None)
    notes: dict[str, Note] = {
        f"{BASE}/runs/silver-orders/stream/2026-03-03": AlertNote(FAILED),
        f"{BASE}/pipelines/silver-orders": AlertNote(of_pipeline),
        f"{BASE}/events": DigestNote((FAILED, LATE)),
    }
    for url, note in notes.items():
        assert document(note, BASE)["data"]["url"] == url
        assert "url" not in document(note)["data"]
    assert "url" not in document(TrialNote("nothing is wrong", NOW), BASE)["data"]


def test_what_is_no_id_is_in_no_address() -> None:
    for part in ("../login", "a b", "<x>", "", "..", "x" * 64):
        odd = msgspec.structs.replace(FAILED, pipeline_id=part)
        assert event_page(odd, BASE) == f"{BASE}/events"
    hidden = msgspec.structs.replace(FAILED, schedule_id="..")
    assert event_page(hidden, BASE) == f"{BASE}/pipelines/silver-orders"
