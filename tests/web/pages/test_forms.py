"""What a page asks for is done, in the caller's name and with a reason; or refused, with the cause."""

import pytest

from web.house import House
from web.pages.visitor import SAME, Visitor

RUN = "/runs/silver-orders/stream/2026-03-03"
PIPELINE = "/pipelines/silver-orders"
FORMS = [
    *(f"{RUN}/{action}" for action in ("rerun", "cancel", "skip", "unskip", "mark")),
    f"{PIPELINE}/pause",
    f"{PIPELINE}/resume",
    f"{PIPELINE}/dates",
    f"{PIPELINE}/dates/preview",
]
#: These need the right to report, not the right to operate.
READINGS = [f"{PIPELINE}/readings", f"{PIPELINE}/readings/preview"]


def test_a_rerun_is_asked_for_in_the_callers_name(house: House, visitor: Visitor) -> None:
    answer = visitor.send(f"{RUN}/rerun", reason="prices were wrong")
    house.runtime.step()

    assert answer.status_code == 303 and answer.headers["location"] == f"{RUN}?asked=rerun"
    page = visitor.see(answer.headers["location"])
    assert "Rerun requested" in page.text and "prices were wrong" in page.text
    (entry,) = house.home.store.audit.newest(1)
    assert (entry.actor, entry.action, entry.reason) == ("owner", "rerun", "prices were wrong")
    assert entry.target == "silver-orders/stream/2026-03-03"


def test_a_date_is_skipped_and_that_is_undone(house: House, visitor: Visitor) -> None:
    before = visitor.see(RUN)
    assert "Skip…" in before.text and "Undo the skip…" not in before.text
    answer = visitor.send(f"{RUN}/skip", reason="a holiday at the source")
    assert answer.headers["location"] == f"{RUN}?asked=skip"
    page = visitor.see(answer.headers["location"])
    assert "The date is skipped" in page.text and "a holiday at the source" in page.text
    assert "skipped" in page.text and "Run again…" not in page.text
    assert "by owner" in page.text

    answer = visitor.send(f"{RUN}/unskip", reason="it was none")
    page = visitor.see(answer.headers["location"])
    assert "The skip is undone" in page.text and "Skip…" in page.text
    actions = [(entry.action, entry.reason) for entry in house.home.store.audit.newest(2)]
    assert actions == [("unskip", "it was none"), ("skip", "a holiday at the source")]


def test_a_run_is_marked_done_with_what_the_person_knows(house: House, visitor: Visitor) -> None:
    given = {"outcome": "done", "evidence": "rows = 4200\n\nwhere=warehouse"}
    answer = visitor.send(f"{RUN}/mark", reason="loaded by hand", **given)
    page = visitor.see(answer.headers["location"])
    assert "The outcome is recorded in your name" in page.text
    assert "marked done" in page.text and "loaded by hand" in page.text
    assert "4200" in page.text and "warehouse" in page.text and "by hand" in page.text
    (entry,) = house.home.store.audit.newest(1)
    assert (entry.actor, entry.action) == ("owner", "mark done")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"outcome": "perhaps"}, "invalid form"),
        ({}, "invalid form"),
        ({"outcome": "done", "evidence": "no equals sign"}, "is not name=value"),
        ({"outcome": "failed"}, "there is nothing that failed"),
    ],
)
def test_a_mark_that_makes_no_sense_is_refused(
    visitor: Visitor, given: dict[str, str], why: str
) -> None:
    answer = visitor.send(f"{RUN}/mark", reason="because", **given)
    assert answer.status_code in (409, 422) and why in answer.text


def test_pause_and_resume_are_seen_and_audited(house: House, visitor: Visitor) -> None:
    assert "Pause…" in visitor.see(PIPELINE).text

    paused = visitor.send(f"{PIPELINE}/pause", reason="upstream moves house", **{"for": "4h"})
    assert paused.headers["location"] == f"{PIPELINE}?done=paused"
    page = visitor.see(PIPELINE)
    assert "paused" in page.text and "Resuming would start nothing now" in page.text
    assert "Paused by owner" in page.text and "upstream moves house" in page.text
    assert "paused silver-orders" in visitor.see("/").text
    for path in ("/", "/pipelines"):
        assert "paused by owner (upstream moves house)" in visitor.see(path).text

    house.put({"date": "2026-03-03"})
    house.runtime.step()
    assert "2026-03-03 reading of orders" in visitor.see(PIPELINE).text

    visitor.send(f"{PIPELINE}/resume", reason="it is done")
    house.runtime.step()
    assert "Pause…" in visitor.see(PIPELINE).text
    actions = [(entry.action, entry.reason) for entry in house.home.store.audit.newest(2)]
    assert actions == [("resume", "it is done"), ("pause", "upstream moves house")]


def test_several_dates_are_skipped_after_a_preview(house: House, visitor: Visitor) -> None:
    given = {"from": "2026-03-04", "to": "2026-03-06", "date": "stream 2026-03-10"}
    sent = {"reason": "the source is closed", "action": "skip", **given}
    preview = visitor.send(f"{PIPELINE}/dates/preview", **sent)
    assert preview.status_code == 200 and "Nothing has been done yet" in preview.text
    assert "Skip: 4 dates" in preview.text and "would be skipped" in preview.text
    assert house.home.store.audit.newest(1) == []
    assert "2026-03-05" not in visitor.see(PIPELINE).text

    done = visitor.send(f"{PIPELINE}/dates", **sent)
    assert done.headers["location"] == f"{PIPELINE}?done=skipped&accepted=4&refused=0"
    page = visitor.see(done.headers["location"])
    assert "4 dates skipped." in page.text and "2026-03-05" in page.text
    again = visitor.send(f"{PIPELINE}/dates/preview", **sent | {"action": "rerun"})
    assert "the date is skipped" in again.text and "refused" in again.text
    targets = {entry.target for entry in house.home.store.audit.newest(9)}
    assert targets == {f"silver-orders/stream/2026-03-{day}" for day in ("04", "05", "06", "10")}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"action": "skip"}, "tick a date"),
        ({"action": "skip", "from": "2026-03-04"}, "both ends"),
        (
            {"action": "skip", "from": "2026-03-04", "to": "2026-03-01"},
            "name the earlier date first",
        ),
        ({"action": "retire", "date": "stream 2026-03-04"}, "invalid form"),
        ({"action": "skip", "date": "nope 2026-03-04"}, "choose one of the schedules stream"),
        ({"action": "skip", "date": "stream yesterday"}, "is not a date"),
    ],
)
@pytest.mark.parametrize("path", [f"{PIPELINE}/dates", f"{PIPELINE}/dates/preview"])
def test_a_form_about_dates_that_makes_no_sense_is_refused(
    visitor: Visitor, path: str, given: dict[str, str], why: str
) -> None:
    answer = visitor.send(path, reason="because", **given)
    assert answer.status_code in (409, 422) and why in answer.text


def test_a_reading_is_put_by_hand_after_a_preview(house: House, visitor: Visitor) -> None:
    assert "Put a reading by hand" in visitor.see(PIPELINE).text
    sent = {"key": "orders", "date": "2026-03-03", "fields": "count=4200\nok = true\nwho=ada"}
    sent["reason"] = "the producer is down"
    preview = visitor.send(f"{PIPELINE}/readings/preview", **sent)
    assert preview.status_code == 200 and "Nothing has been stored yet" in preview.text
    assert "opened" in preview.text and "4200" in preview.text
    assert house.home.store.sensors.of_pipeline("silver-orders") == []

    done = visitor.send(f"{PIPELINE}/readings", **sent)
    assert done.headers["location"] == f"{PIPELINE}?done=stored"
    assert "The reading is stored in your name" in visitor.see(done.headers["location"]).text
    (reading,) = house.home.store.sensors.of_pipeline("silver-orders")
    assert reading.fields == {"count": 4200, "ok": True, "who": "ada", "date": "2026-03-03"}
    (entry,) = house.home.store.audit.newest(1)
    assert (entry.actor, entry.action) == ("owner", "put reading")
    assert (entry.target, entry.reason) == ("silver-orders/orders", "the producer is down")


def test_a_reading_of_a_skipped_date_is_foreseen_as_ignored(visitor: Visitor) -> None:
    visitor.send(f"{RUN}/skip", reason="a holiday")
    sent = {"key": "orders", "date": "2026-03-03", "reason": "to see"}
    preview = visitor.send(f"{PIPELINE}/readings/preview", **sent)
    assert "ignored: the date is skipped by owner: a holiday" in preview.text


@pytest.mark.parametrize("path", READINGS)
def test_a_reading_needs_a_reason_and_the_right_to_report(house: House, path: str) -> None:
    sent = {"key": "orders", "reason": "because"}
    for scope in ("read", "operate"):
        answer = Visitor(house, house.token(scope)).send(path, **sent)
        assert answer.status_code == 403 and "observe" in answer.text
    reporter = Visitor(house, house.token("observe"))
    assert reporter.send(path, **sent).status_code in (200, 303)
    assert reporter.send(path, **sent | {"reason": " "}).status_code == 422
    answer = reporter.send(path, **sent | {"fields": "no equals sign"})
    assert answer.status_code == 422 and "is not name=value" in answer.text


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("reason", ["", "   "])
def test_nothing_is_done_without_a_reason(
    house: House, visitor: Visitor, path: str, reason: str
) -> None:
    answer = visitor.send(path, reason=reason)

    assert answer.status_code == 422 and "reason" in answer.text
    assert house.home.store.audit.newest(1) == []


@pytest.mark.parametrize("path", FORMS)
def test_who_may_only_read_is_shown_no_form_and_does_nothing(house: House, path: str) -> None:
    reader = Visitor(house, house.token("read"))

    forms = {form.get("action") for form in reader.see(PIPELINE).all("form")}
    assert not forms & set(FORMS)
    answer = reader.send(path, reason="because")
    assert answer.status_code == 403 and "operate" in answer.text
    assert house.home.store.audit.newest(1) == []


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"},
        {},
    ],
)
def test_a_page_of_another_origin_makes_us_do_nothing(
    house: House, visitor: Visitor, path: str, headers: dict[str, str]
) -> None:
    answer = visitor.client.post(path, data={"reason": "because"}, headers=headers)

    assert answer.status_code in (401, 403)
    assert house.home.store.audit.newest(1) == []


@pytest.mark.parametrize("path", FORMS)
def test_no_form_is_sent_by_looking(house: House, visitor: Visitor, path: str) -> None:
    assert visitor.client.get(path, params={"reason": "because"}).status_code in (404, 405, 422)
    assert house.home.store.audit.newest(1) == []


@pytest.mark.parametrize(
    "form",
    [
        {"reason": "x" * 5000},
        {"reason": "x" * 60_000},
        {"reason": "because", "for": "forever"},
        {"reason": "because", "for": "-1h"},
        {f"f{n}": "x" for n in range(1100)} | {"reason": "because"},
    ],
)
def test_a_form_that_is_not_right_is_refused(
    house: House, visitor: Visitor, form: dict[str, str]
) -> None:
    answer = visitor.client.post(f"{PIPELINE}/pause", data=form, headers=SAME)

    assert 400 <= answer.status_code < 500
    assert not house.home.queries.pipeline("silver-orders").paused


def test_an_undeclared_pipeline_can_not_be_paused(visitor: Visitor) -> None:
    assert visitor.send("/pipelines/nobody/pause", reason="because").status_code == 404


def test_a_run_that_waits_is_cancelled_in_the_callers_name(house: House, visitor: Visitor) -> None:
    assert "Cancel…" not in visitor.see(RUN).text
    house.declare("validation: {rules: [{key: other, check: exists}]}")
    house.runtime.settle()
    house.put({"date": "2026-03-03"})
    house.runtime.step()
    assert "Cancel…" in visitor.see(RUN).text

    answer = visitor.send(f"{RUN}/cancel", reason="wrong upstream")
    assert answer.headers["location"] == f"{RUN}?asked=cancel"
    page = visitor.see(answer.headers["location"])
    assert "The run is cancelled." in page.text and "Cancel…" not in page.text
    assert "cancelled by owner: wrong upstream" in page.text

    again = visitor.send(f"{RUN}/cancel", reason="twice")
    assert again.status_code == 303  # what is cancelled stays so
    entries = [(e.action, e.outcome) for e in house.home.store.audit.newest(2)]
    assert entries == [("cancel", "done"), ("cancel", "done")]


def test_a_run_that_is_under_way_is_not_offered_again(house: House, visitor: Visitor) -> None:
    assert "Run again…" in visitor.see(RUN).text
    house.declare("validation: {rules: [{key: other, check: exists}]}")
    house.runtime.settle()
    house.put({"date": "2026-03-03"})
    house.runtime.step()

    assert "Run again…" not in visitor.see(RUN).text
