"""Block Kit: what people see in Slack is right, within its limits, and can't be misused."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alert_samples import told
from contracts.samples import NOW, a_thread
from interlock.adapters.alerts import slack_blocks as block_kit
from interlock.adapters.alerts.slack_blocks import BUTTONS, SlackLook, fit, message
from interlock.domain.alerting.note import (
    AlertNote,
    DigestNote,
    Note,
    RootNote,
    SummaryNote,
    TrialNote,
)
from interlock.domain.event import Event, EventType, Phase, Severity

E = EventType
URL = "https://interlock.example"

NASTY = [
    "<!channel> <@U123> <https://evil.example|click>",
    "*bold* _it_ ~no~ `code` ```block```",
    "word " * 2000,
    "x" * 10_000,
    "&<>" * 4000,
    "\u202egnp.exe\u202c \u2066abc\u2069 עברית عربى",
    "line\nline\r\n\x00\x1b[31m",
    "😀" * 500,
]


def texts(value: Any) -> list[str]:
    """Every text that Slack shows or parses."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for each in value.values() for text in texts(each)]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


def check(sent: dict[str, Any]) -> None:
    """Within all limits, and no way to mention or to link but ours."""
    assert sent["text"]
    assert 1 <= len(sent["blocks"]) <= block_kit.MOST_BLOCKS
    assert sum(map(len, texts(sent["blocks"]))) <= block_kit.WHOLE
    for block in sent["blocks"]:
        if block["type"] == "header":
            assert len(block["text"]["text"]) <= 150 and block["text"]["type"] == "plain_text"
        elif "fields" in block:
            assert 1 <= len(block["fields"]) <= block_kit.MOST_FIELDS
            assert all(len(each["text"]) <= block_kit.FIELD for each in block["fields"])
        elif block["type"] == "section":
            assert 1 <= len(block["text"]["text"]) <= 3000 and block["text"]["verbatim"]
    for text in texts(sent):
        ours = re.sub(rf"<{URL}/[^<>|]*\|(open run|all events)>", "", text)
        assert "<" not in ours and ">" not in ours
        assert not re.search(r"&(?!(amp|lt|gt);)", ours)
        assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", text)


def notes_about(event: Event) -> list[Note]:
    thread = msgspec.structs.replace(a_thread(), first=event.message).moved(event)
    return [
        AlertNote(event, "sent here because C9 is archived"),
        RootNote(thread, event, is_first=True),
        RootNote(thread, event),
        DigestNote((event,) * 30),
        SummaryNote(NOW, (event,) * 25, (event,)),
        SummaryNote(NOW, (), (event,)),
        TrialNote(event.message or "a test", NOW),
    ]


@pytest.mark.parametrize("kind", E)
def test_every_type_can_be_shown(kind: EventType) -> None:
    detail = dict.fromkeys(kind.spec.detail, "2026-03-03T12:00:00Z")
    for note in notes_about(told(kind, detail=detail)):
        check(message(note, SlackLook(URL)))


@pytest.mark.parametrize("text", NASTY)
def test_no_value_can_do_harm(text: str) -> None:
    nasty = told(
        message=text,
        pipeline_id=text,
        schedule_id=text,
        date=text,
        owner=text,
        detail={
            "error": text,
            "actionHint": text,
            "output": f"```{text}\n```" * 300,
            "blockedBy": [text, {"a": text}],
            "failing": [
                {"key": text, "field": text, "check": text, "expected": text, "actual": text}
            ]
            * 20,
        },
    )
    for note in notes_about(nasty):
        check(message(note, SlackLook(URL)))


@given(st.text(max_size=600), st.integers(2, 400))
def test_what_is_cut_is_cut_between_characters(text: str, limit: int) -> None:
    shown = fit(text, limit)
    assert len(shown) <= limit
    assert not re.search(r"&(?!(amp|lt|gt);)", shown)


def test_it_is_cut_on_a_word() -> None:
    assert fit("one two three four", 12) == "one two…"
    assert fit("one two", 12) == "one two"


def test_a_failure_shows_the_last_lines_of_its_job() -> None:
    output = "\n".join(f"line {number} <b> ```" for number in range(40))
    sent = message(AlertNote(told(E.JOB_FAILED, detail={"output": output})), SlackLook(URL))
    (block,) = [text for text in texts(sent) if text.startswith("```")]
    lines = block.split("\n")
    assert lines[0] == lines[-1] == "```" and len(lines) == 22
    assert lines[1] == "line 20 &lt;b&gt; '''" and lines[-2].startswith("line 39 ")


def test_an_alert_says_what_is_expected_and_what_is() -> None:
    event = told(
        E.VALIDATION_EXHAUSTED,
        message="validation window closed: orders-count.count is 940, needs >= 1000",
        owner="orders-team",
        attempt=0,
        detail={
            "actionHint": "fix it, then `interlock rerun silver-orders 2026-03-03`",
            "failing": [
                {"key": "orders-count", "check": "gte", "field": "count", "expected": 1000, "actual": 940},
                {"key": "audit", "check": "exists"},
                "not a result",
            ],
            "breachAt": "2026-03-03T10:45:00Z",
            "retryAt": "2026-03-04T10:00:00.123457Z",
            "deadlineAt": "2026-03-03T09:00:00.123457Z",
            "durationSeconds": 42,
        },
    )  # fmt: skip
    sent = message(AlertNote(event), SlackLook(URL))
    assert sent["text"].startswith("error: silver-orders 2026-03-03: validation window closed")
    header, what, fields, hint, context = sent["blocks"]
    assert header["text"]["text"] == "🔴 error · silver-orders · 2026-03-03 · validation exhausted"
    assert what["text"]["text"].endswith("is 940, needs &gt;= 1000")
    assert [field["text"] for field in fields["fields"]] == [
        "*orders-count.count*\n940, needs &gt;= 1000",
        "*audit*\nnothing, needs exists",
        "*deadline*\n10:45 UTC, in 45m",
        "*trigger deadline*\n09:00 UTC, 1h ago",
        "*next try*\n2026-03-04 10:00 UTC, in 1d",
        "*took*\n42 s",
    ]
    assert hint["text"]["text"] == "→ fix it, then `interlock rerun silver-orders 2026-03-03`"
    assert context["elements"][0]["text"] == (
        "owner orders-team · schedule stream · attempt 0 · 10:00:00 UTC"
        " · <https://interlock.example/runs/silver-orders/stream/2026-03-03|open run>"
    )


def test_every_line_of_a_digest_links_to_its_run() -> None:
    event = told()
    for note in (DigestNote((event,) * 3), SummaryNote(NOW, (event,) * 3, ())):
        said = " ".join(texts(message(note, SlackLook("https://interlock.example"))))
        assert said.count("/runs/silver-orders/stream/2026-03-03|open run>") == 3


def test_without_an_address_there_are_no_links() -> None:
    for note in notes_about(told()):
        assert "<" not in str(texts(message(note)))


@pytest.mark.parametrize(
    ("kind", "severity", "mark"),
    [
        (E.SLA_BREACH, Severity.CRITICAL, "🔴 critical"),
        (E.SLA_BREACH, Severity.ERROR, "🔴 error"),
        (E.SLA_WARNING, Severity.WARNING, "🟡 warning"),
        (E.JOB_COMPLETED, Severity.INFO, "🟢 info"),
        (E.TRIGGER_STARTED, Severity.INFO, "⚪ info"),
    ],
)
def test_a_mark_stands_beside_its_word(kind: EventType, severity: Severity, mark: str) -> None:
    header = message(AlertNote(told(kind, severity=severity)))["blocks"][0]
    assert header["text"]["text"].startswith(f"{mark} · silver-orders")


def test_the_first_message_shows_what_is_so_now_and_how_it_began() -> None:
    began = told(E.JOB_FAILED, 1, message="it failed", detail={"error": "out of memory"})
    thread = msgspec.structs.replace(a_thread(), first="it failed").moved(began)
    first = message(RootNote(thread, began, is_first=True))["blocks"]
    assert first[0]["text"]["text"] == "🔴 error · silver-orders · 2026-03-03 · failed"
    assert first[2]["fields"][0]["text"] == "*error*\nout of memory"

    done = told(E.JOB_COMPLETED, 2, message="it succeeded")
    later = message(RootNote(thread.moved(done), done))["blocks"]
    assert later[0]["text"]["text"] == "🟢 info · silver-orders · 2026-03-03 · done"
    assert [block["text"]["text"] for block in later[1:3]] == [
        "it succeeded",
        "began with: it failed",
    ]

    tardy = message(RootNote(thread.moved(done), began, is_first=True))["blocks"]
    assert tardy[2]["text"]["text"] == "told now: it failed"


def test_a_thread_that_never_moved_is_shown_as_its_event() -> None:
    sent = message(RootNote(a_thread(), told(E.JOB_FAILED, message="it failed")))
    assert Phase.ATTENTION in sent["blocks"][0]["text"]["text"]


def test_what_can_not_be_read_as_an_instant_is_shown_as_it_is() -> None:
    event = told(detail={"breachAt": "soon"})
    assert "*deadline*\nsoon" in texts(message(AlertNote(event)))


def test_blocks_that_are_too_many_or_too_long_are_left_out() -> None:
    event = told(message="word " * 60)
    for note in (DigestNote((event,) * 400), SummaryNote(NOW, (event,) * 40, (event,) * 40)):
        sent = message(note, SlackLook(URL))
        check(sent)
        assert "all events" in str(sent["blocks"][-1])


def test_a_message_that_is_too_long_as_a_whole_keeps_its_beginning_and_its_end() -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}
    last = {"type": "context", "elements": [{"type": "mrkdwn", "text": "all events"}]}
    kept = block_kit._bounded([block] * 5 + [last])
    assert kept == [block] * 3 + [last]


def test_buttons_stand_in_the_first_message_of_an_unhealthy_date_alone() -> None:
    failed = told(E.JOB_FAILED, 60)
    look = SlackLook(URL, buttons=True)
    thread = a_thread().moved(failed)
    sent = message(RootNote(thread, failed), look)
    check(sent)
    (actions,) = [block for block in sent["blocks"] if block["type"] == "actions"]
    assert [each["action_id"] for each in actions["elements"]] == [*BUTTONS]
    assert {each["value"] for each in actions["elements"]} == {"silver-orders/stream/2026-03-03"}
    done = thread.moved(told(E.JOB_COMPLETED, 90))
    others = (RootNote(done, failed), AlertNote(failed), DigestNote((failed,)))
    assert not any("actions" in str(message(each, look)["blocks"]) for each in others)
    assert "actions" not in str(message(RootNote(thread, failed), SlackLook(URL))["blocks"])


def test_the_first_message_shows_what_people_did() -> None:
    thread = a_thread().after(told(E.JOB_FAILED, 60), "acknowledged by <!here> at 10:00 UTC: *x*")
    said = texts(message(RootNote(thread, told(E.JOB_FAILED, 60))))
    assert any("✔ acknowledged by &lt;!here&gt;" in each for each in said)
