"""Note: the content of a message to people, before a sink formats it."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

import msgspec

from interlock.domain import timestamp
from interlock.domain.alerting.threads import Thread
from interlock.domain.event import Event, Severity, envelope


class AlertNote(msgspec.Struct, frozen=True):
    """One event. `note` is what its reader must know besides it, such as why it was sent here."""

    event: Event
    note: str = ""


class RootNote(msgspec.Struct, frozen=True):
    """The first message of a thread: the present state of its date, and the alert that opened it."""

    thread: Thread
    event: Event
    #: Whether the alert is shown with all its details: only while nothing else has happened.
    is_first: bool = False
    note: str = ""


class DigestNote(msgspec.Struct, frozen=True):
    """Many alerts that were due at once, in one message."""

    events: tuple[Event, ...]


class SummaryNote(msgspec.Struct, frozen=True):
    """What a mute held back: what is still open, and what recovered meanwhile."""

    until: datetime
    open: tuple[Event, ...]
    recovered: tuple[Event, ...]


class TrialNote(msgspec.Struct, frozen=True):
    """A test of whether messages arrive."""

    text: str
    at: datetime


Note = AlertNote | RootNote | DigestNote | SummaryNote | TrialNote

_PATH_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}")
_SEVEREST_FIRST = tuple(reversed(Severity))


def severest(events: Sequence[Event]) -> Severity:
    return max((event.severity for event in events), key=list(Severity).index)


def counts(events: Sequence[Event]) -> str:
    """How many of each severity and type, most severe first: `2 error SLA_BREACH, 1 warning ...`."""
    found = Counter((event.severity, event.type) for event in events)
    in_order = sorted(found, key=lambda pair: (_SEVEREST_FIRST.index(pair[0]), pair[1]))
    return ", ".join(f"{found[pair]} {pair[0]} {pair[1]}" for pair in in_order)


def about(note: Note) -> tuple[Event, ...]:
    """The events that it reports."""
    match note:
        case AlertNote(event) | RootNote(event=event):
            return (event,)
        case DigestNote(events):
            return events
        case SummaryNote(open=still_open, recovered=recovered):
            return (*still_open, *recovered)
        case TrialNote():
            return ()
        case _:
            assert_never(note)


def headline(note: Note) -> str:
    """The note in one line, without the time."""
    match note:
        case AlertNote(event, why) | RootNote(event=event, note=why):
            line = f"{event.severity}: {subject_of(event)}: {event.message}"
            return f"{line} ({why})" if why else line
        case DigestNote(events):
            return f"{severest(events)}: {len(events)} alerts at once: {counts(events)}"
        case SummaryNote(open=still_open, recovered=recovered):
            held = len(still_open) + len(recovered)
            return (
                f"{_alerts(held)} held while muted or snoozed: {len(still_open)} still open,"
                f" {len(recovered)} recovered meanwhile"
            )
        case TrialNote(text):
            return text
        case _:
            assert_never(note)


def subject_of(event: Event) -> str:
    """What it is about, for people."""
    parts = (event.pipeline_id, event.date)
    return " ".join(part for part in parts if part) or "interlock"


def page_of(note: Note, base_url: str | None) -> str | None:
    """The address of the page that shows it; None while the settings don't say where the pages are."""
    if base_url is None or isinstance(note, TrialNote):
        return None
    events = about(note)
    return event_page(events[0], base_url) if len(events) == 1 else f"{base_url}/events"


def event_page(event: Event, base_url: str) -> str:
    """The run of its date, otherwise its pipeline, otherwise all events."""
    run = (event.pipeline_id, event.schedule_id, event.date)
    if all(map(_is_path_part, run)):
        return f"{base_url}/runs/{'/'.join(map(str, run))}"
    if _is_path_part(event.pipeline_id):
        return f"{base_url}/pipelines/{event.pipeline_id}"
    return f"{base_url}/events"


def _is_path_part(text: str | None) -> bool:
    """Ids and dates are made of these; what is not has no page."""
    return text is not None and _PATH_PART.fullmatch(text) is not None


def document(note: Note, base_url: str | None = None) -> dict[str, Any]:
    """The note for programs: `type`, `timestamp`, `data`."""
    match note:
        case AlertNote(event, why) | RootNote(event=event, note=why):
            told = envelope(event)
            extra = {"note": why} if why else {}
            kind, at, data = told["detail-type"], event.timestamp, {**told["detail"], **extra}
        case DigestNote(events):
            at = max(event.timestamp for event in events)
            kind, data = "ALERTS_DIGEST", _listed(note, events=events)
        case SummaryNote(until, still_open, recovered):
            lists = _listed(note, open=still_open, recovered=recovered)
            kind, at, data = "ALERTS_HELD", until, lists
        case TrialNote(text, trial_at):
            kind, at, data = "ALERT_TEST", trial_at, {"message": text}
        case _:
            assert_never(note)
    url = page_of(note, base_url)
    link = {} if url is None else {"url": url}
    return {"type": kind, "timestamp": timestamp.spell(at), "data": {**data, **link}}


def _listed(note: Note, **events: Sequence[Event]) -> dict[str, Any]:
    ids = {name: [event.event_id for event in each] for name, each in events.items()}
    return {"message": headline(note), **ids}


def _alerts(count: int) -> str:
    return "1 alert" if count == 1 else f"{count} alerts"
