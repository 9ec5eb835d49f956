"""What a page asks for is done, in the caller's name and with a reason; or refused, with the cause."""

import pytest

from web.house import House
from web.pages.visitor import SAME, Visitor

RUN = "/runs/silver-orders/stream/2026-03-03"
PIPELINE = "/pipelines/silver-orders"
BACKFILL = "/backfills/20260303-100000-a1b2c3"
STEERING = [f"{BACKFILL}/{verb}" for verb in ("pause", "resume", "cancel")]
FORMS = [
    f"{RUN}/rerun",
    f"{RUN}/cancel",
    f"{PIPELINE}/pause",
    f"{PIPELINE}/resume",
    f"{PIPELINE}/backfill",
    *STEERING,
]
#: The others have a page at their address that only shows something.
UNSEEN = [form for form in FORMS if form != f"{PIPELINE}/backfill"]


def test_a_rerun_is_asked_for_in_the_callers_name(house: House, visitor: Visitor) -> None:
    answer = visitor.send(f"{RUN}/rerun", reason="prices were wrong")
    house.runtime.step()

    assert answer.status_code == 303 and answer.headers["location"] == f"{RUN}?asked=rerun"
    page = visitor.see(answer.headers["location"])
    assert "Rerun requested" in page.text and "prices were wrong" in page.text
    (entry,) = house.home.store.audit.newest(1)
    assert (entry.actor, entry.action, entry.reason) == ("owner", "rerun", "prices were wrong")
    assert entry.target == "silver-orders/stream/2026-03-03"


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

    for page in (PIPELINE, f"{PIPELINE}/backfill?from=2026-01-01&to=2026-01-02"):
        forms = [form for form in reader.see(page).all("form") if form.get("method") == "post"]
        assert not {form.get("action") for form in forms} & set(FORMS)
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


@pytest.mark.parametrize("path", UNSEEN)
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
        {f"f{n}": "x" for n in range(50)} | {"reason": "because"},
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
