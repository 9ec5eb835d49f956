"""Block Kit: a note as a message of Slack, within its limits and without a way to misuse it.

No value can mention a person or make a link: what Slack would read as such is escaped in every value.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, assert_never

import msgspec

from interlock.domain import canonical, duration, timestamp
from interlock.domain.alerting.note import (
    AlertNote,
    DigestNote,
    Note,
    RootNote,
    SummaryNote,
    TrialNote,
    counts,
    event_page,
    headline,
    severest,
    subject_of,
)
from interlock.domain.alerting.threads import AlertKey
from interlock.domain.check import in_symbols, symbol_of
from interlock.domain.event import Event, Phase, Severity, clean
from interlock.domain.job_output import last_lines
from interlock.domain.reasons import OF_RECEIPT

Block = dict[str, Any]

HEADER = 148  # of 150: a mark counts twice
SECTION = 2900
FIELD = 400
MOST_FIELDS = 10
MOST_BLOCKS = 20
WHOLE = 10_000
LINES = 20
_LINE = 240
_TEXT = 600
#: What the buttons of a first message ask for, and their words.
ACKNOWLEDGE = "interlock_acknowledge"
SNOOZE = "interlock_snooze_"
BUTTONS = {
    ACKNOWLEDGE: "Acknowledge",
    f"{SNOOZE}1h": "Snooze 1 h",
    f"{SNOOZE}4h": "Snooze 4 h",
}
_LINK_WORDS = {"runs": "open run", "pipelines": "open pipeline", "events": "all events"}


class SlackLook(msgspec.Struct, frozen=True):
    """What a message may refer to: our pages, and our server for clicks on buttons."""

    base_url: str | None = None
    buttons: bool = False


#: Without pages and without buttons.
PLAIN = SlackLook()


def message(note: Note, look: SlackLook = PLAIN) -> dict[str, Any]:
    """`text` for notifications and screen readers, and `blocks`."""
    return {"text": fit(headline(note), _TEXT), "blocks": _bounded(_blocks(note, look))}


def fit(text: str, limit: int) -> str:
    """Cleaned, escaped, and cut on a word to what may stand there."""
    plain = clean(text, limit + 1)
    if len(escaped(plain)) <= limit:
        return escaped(plain)
    while len(escaped(plain)) > limit - 1:
        plain = plain[: -max(1, (len(escaped(plain)) - limit) // 5)]
    word, space, _ = plain.rpartition(" ")
    return f"{escaped(word if space and len(word) > limit // 2 else plain)}…"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _blocks(note: Note, look: SlackLook) -> list[Block]:
    base_url = look.base_url
    match note:
        case AlertNote(event, why):
            return _alert(event, why, base_url)
        case RootNote():
            return _root(note, look)
        case DigestNote(events):
            lines = _sections(_line(event, base_url) for event in events[:LINES])
            rest = [_context(f"and {len(events) - LINES} more")] if len(events) > LINES else []
            title = f"{_mark(severest(events))} {len(events)} alerts at once"
            return [_header(title), _section(counts(events)), *lines, *rest, *_link(base_url)]
        case SummaryNote():
            return _summary(note, base_url)
        case TrialNote(text):
            return [_header("⚪ info · test of alerts"), _section(text)]
        case _:
            assert_never(note)


def _alert(event: Event, why: str, base_url: str | None) -> list[Block]:
    words = event.type.replace("_", " ").lower()
    title = f"{_mark_of(event)} {event.severity} · {_place(event)} · {words}"
    return [_header(title), _section(event.message), *_details(event, why), _about(event, base_url)]


def _root(note: RootNote, look: SlackLook) -> list[Block]:
    """What is so now; and how it began, with all its details while nothing else has happened."""
    thread, event = note.thread, note.event
    severity = thread.severity or event.severity
    state = thread.state or Phase.ATTENTION
    title = f"{_mark(severity, state)} {severity} · {_place(event)} · {state}"
    blocks = [_header(title), _section(thread.latest or event.message)]
    if note.is_first:
        if event.message != thread.latest:
            blocks.append(_section(f"told now: {event.message}"))
        blocks += _details(event, note.note)
    elif thread.first != thread.latest:
        blocks.append(_section(f"began with: {thread.first}"))
    if thread.handled:
        blocks.append(_section(f"✔ {thread.handled}"))
    if look.buttons and state is not Phase.DONE:
        blocks.append(_buttons(thread.key.alert))
    return [*blocks, _about(event, look.base_url)]


def _buttons(key: AlertKey) -> Block:
    """What a click asks for; Slack sends the value back as it is."""
    elements = [
        {
            "type": "button",
            "action_id": action,
            "text": {"type": "plain_text", "text": words, "emoji": False},
            "value": str(key),
        }
        for action, words in BUTTONS.items()
    ]
    return {"type": "actions", "block_id": "interlock", "elements": elements}


def _summary(note: SummaryNote, base_url: str | None) -> list[Block]:
    mark = _mark(severest(note.open)) if note.open else "🟢"
    held = len(note.open) + len(note.recovered)
    blocks = [_header(f"{mark} {held} held while muted or snoozed"), _section(headline(note))]
    for title, events in (("still open", note.open), ("recovered", note.recovered)):
        if events:
            rest = [f"and {len(events) - LINES} more"] if len(events) > LINES else []
            lines = [_line(event, base_url) for event in events[:LINES]]
            blocks += _sections([f"*{title}*", *lines, *rest])
    return [*blocks, *_link(base_url)]


def _details(event: Event, why: str) -> list[Block]:
    fields = [_text(f"*{name}*\n{value}") for name, value in _fields(event)][:MOST_FIELDS]
    blocks: list[Block] = [{"type": "section", "fields": fields}] if fields else []
    output = event.detail.get("output")
    if isinstance(output, str) and output.strip():
        blocks.append(_mrkdwn(f"```\n{_fit_output(output, SECTION - 8)}\n```"))
    hint = event.detail.get("actionHint")
    if isinstance(hint, str):
        blocks.append(_mrkdwn(f"→ {fit(hint, SECTION - 2)}"))
    if why:
        blocks.append(_section(why))
    return blocks


def _fit_output(text: str, limit: int) -> str:
    """Its last lines, as they are: nothing in them can end the block."""
    plain = last_lines(text).replace("```", "'''")
    while len(escaped(plain)) > limit:
        plain = plain[max(1, len(escaped(plain)) - limit) :]
    return escaped(plain)


def _fields(event: Event) -> Iterator[tuple[str, str]]:
    """What matters in the detail, each with a title; titles are cut too, as some come from files."""
    for result in _results(event.detail.get("failing")):
        yield fit(_named(result), FIELD // 4), fit(_expected(result), FIELD // 2)
    for key, title in {**_SHOWN, **event.type.spec.shown}.items():
        value = event.detail.get(key)
        if value not in (None, "", [], {}):
            yield title, fit(_spelt(key, value, event), FIELD // 2)


def _results(failing: Any) -> list[dict[str, Any]]:
    rows = failing if isinstance(failing, list | tuple) else []
    return [row for row in rows if isinstance(row, dict)]


def _named(result: dict[str, Any]) -> str:
    return ".".join(str(result[name]) for name in ("key", "field") if result.get(name))


def _expected(result: dict[str, Any]) -> str:
    actual = result.get("actual")
    found = "nothing" if actual is None else str(actual)
    check, expected = str(result.get("check")), result.get("expected")
    needs = symbol_of(check)
    if expected is None:
        return f"{found}, needs {needs}"
    if result.get("kind") in OF_RECEIPT:
        return f"{found}, needs {needs} {expected}"
    return f"{found}, needs {in_symbols(check, expected, result.get('against'))}"


def _spelt(key: str, value: Any, event: Event) -> str:
    if key.endswith("At") and isinstance(value, str):
        return _moment(value, event.timestamp)
    if key.endswith("Seconds") and not isinstance(value, str):
        return f"{value} s"
    if isinstance(value, list | tuple):
        return "; ".join(_spelt("", each, event) for each in value)
    return value if isinstance(value, str) else canonical.encode(value)


def _moment(text: str, now: datetime) -> str:
    """An instant, and how far it was from the event."""
    moment = timestamp.instant(text)
    if moment is None:
        return text
    ahead = moment >= now
    span = duration.for_ages(moment - now if ahead else now - moment)
    clock = f"{moment:%H:%M} UTC" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M} UTC"
    return f"{clock}, in {span}" if ahead else f"{clock}, {span} ago"


def _about(event: Event, base_url: str | None) -> Block:
    parts = [
        f"owner {event.owner}" if event.owner else "",
        f"schedule {event.schedule_id}" if event.schedule_id else "",
        "" if event.attempt is None else f"attempt {event.attempt}",
        f"{event.timestamp:%H:%M:%S} UTC",
    ]
    said = fit(" · ".join(part for part in parts if part), FIELD)
    link = _page_link(event, base_url)
    return {"type": "context", "elements": [_text(f"{said} · {link}" if link else said)]}


def _page_link(event: Event, base_url: str | None) -> str:
    if base_url is None:
        return ""
    url = event_page(event, base_url)
    kind = url.removeprefix(f"{base_url}/").partition("/")[0]
    return f"<{url}|{_LINK_WORDS[kind]}>"


def _link(base_url: str | None) -> list[Block]:
    if base_url is None:
        return []
    return [{"type": "context", "elements": [_text(f"<{base_url}/events|all events>")]}]


def _line(event: Event, base_url: str | None) -> str:
    text = f"{event.severity}: {subject_of(event)}: {event.type}: {event.message}"
    link = _page_link(event, base_url)
    return f"• {fit(text, _LINE)} {link}".rstrip()


def _sections(lines: Iterable[str]) -> list[Block]:
    """Lines that are fit already, in as few sections as hold them."""
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + len(line) < SECTION:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return [_mrkdwn(text) for text in texts]


def _header(title: str) -> Block:
    text = {"type": "plain_text", "text": fit(title, HEADER), "emoji": False}
    return {"type": "header", "text": text}


def _section(text: str) -> Block:
    return _mrkdwn(fit(text, SECTION))


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_text(fit(text, FIELD))]}


def _mrkdwn(text: str) -> Block:
    return {"type": "section", "text": _text(text)}


def _text(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "verbatim": True, "text": text}


def _place(event: Event) -> str:
    return " · ".join(part for part in (event.pipeline_id, event.date) if part) or "interlock"


def _mark_of(event: Event) -> str:
    return _mark(event.severity, event.type.spec.phase)


def _mark(severity: Severity, phase: Phase | None = None) -> str:
    if severity is Severity.INFO:
        return "🟢" if phase is Phase.DONE else "⚪"
    return "🟡" if severity is Severity.WARNING else "🔴"


def _bounded(blocks: Sequence[Block]) -> list[Block]:
    """As many as Slack takes; the last one, which says where to look, is always there."""
    kept, left = [], WHOLE - _length(blocks[-1])
    for block in blocks[:-1][: MOST_BLOCKS - 1]:
        left -= _length(block)
        if left < 0:
            break
        kept.append(block)
    return [*kept, blocks[-1]]


def _length(block: Any) -> int:
    """How many characters of text a block holds."""
    if isinstance(block, dict):
        own = len(block["text"]) if isinstance(block.get("text"), str) else 0
        return own + sum(_length(value) for value in block.values())
    return sum(map(_length, block)) if isinstance(block, list) else 0


#: What of a detail is worth a field, in this order, and its title; what only one event has stands in its row.
_SHOWN = {
    "error": "error",
    "lastError": "last error",
    "cause": "cause",
    "category": "category",
    "blockedBy": "blocked by",
    "breachAt": "deadline",
    "readinessAt": "ready by",
    "due": "due",
    "deadlineAt": "trigger deadline",
    "retryAt": "next try",
    "lateBy": "late by",
    "missing": "missing",
    "problem": "problem",
    "problems": "problems",
    "failures": "failures",
    "sensorKey": "sensor",
    "key": "sensor",
    "field": "field",
    "value": "value",
    "allowed": "allowed",
    "baseline": "baseline",
    "current": "now",
    "delta": "moved by",
    "changed": "changed",
    "reason": "reason",
    "requestedBy": "asked for by",
    "how": "how",
    "runId": "job run",
    "durationSeconds": "took",
    "marginSeconds": "margin",
    "alarmName": "alarm",
    "alarmState": "state",
    "metric": "metric",
    "threshold": "threshold",
    "sink": "sink",
    "channel": "channel",
    "tries": "tries",
}
