"""The page of alerts: empty, busy, with actions, and under attack."""

import pytest

from alert_samples import told
from interlock.domain.alerting.deliveries import Delivery, Target
from interlock.domain.alerting.threads import alert_key, opened
from interlock.domain.event import EventType
from interlock.domain.run import RunKey
from interlock.files import load_alerts
from web.house import House
from web.pages.visitor import Visitor

ALERT = "/alerts/silver-orders/stream/2026-03-03"
RUN = "/runs/silver-orders/stream/2026-03-03"
FILE = """\
sinks:
  log: {type: console}
routes:
  - {match: {severity: error}, to: [{sink: log}], escalate: [{after: 30m, to: [{sink: log}]}]}
mutes:
  - {match: {pipeline: "gold-*"}, from: 2020-01-01T00:00:00Z, until: 2020-01-02T00:00:00Z}
"""


def alert(house: House, message: str = "it failed", pipeline: str = "silver-orders") -> None:
    """An event, sent to the console."""
    event = told(
        EventType.JOB_FAILED, key=RunKey(pipeline, "stream", "2026-03-03"), message=message
    )
    store = house.home.store
    store.events.publish([event])
    now = house.home.ports.clock()
    assert store.threads.save(opened(event, Target("console"), now))
    sent = Delivery(event=event, target=Target("console"), due_at=now)
    assert store.deliveries.save(sent) and store.deliveries.save(sent.sent(now))


def test_without_alerts_and_a_file_the_page_says_where_they_would_go(visitor: Visitor) -> None:
    page = visitor.see("/alerts")
    assert "No alert is open" in page.text and "There are no mutes" in page.text
    assert "There are no routes: every alert goes to console" in page.text
    assert "from the stored configuration" in page.text
    assert "/alerts" in {link.get("href") for link in visitor.see("/").all("a")}


def test_the_page_shows_what_is_in_force_and_where_it_is_written(
    house: House, visitor: Visitor
) -> None:
    text = FILE.replace("escalate: [{after: 30m, to: [{sink: log}]}]", "continue: true")
    (house.home.settings.project / "alerts.yaml").write_text(text, "utf-8")
    alerts, _ = load_alerts(text)
    assert alerts is not None
    house.home.store.alert_routes.keep(alerts)
    page = visitor.see("/alerts").text
    assert "configured in alerts.yaml" in page and "severity error or higher" in page
    for place in ("alerts.yaml:2", "alerts.yaml:4", "alerts.yaml:6"):
        assert place in page
    assert "the routes below too" in page and "over pipeline gold-*" in page


def test_an_open_alert_is_shown_with_where_it_went(house: House, visitor: Visitor) -> None:
    alert(house, "<b>it</b> failed")
    page = visitor.see("/alerts")
    assert "silver-orders 2026-03-03" in page.text and "console: sent" in page.text
    assert "<b>it</b> failed" in page.text and not page.all("b")
    assert "until:" in page.text and '- match: { pipeline: "silver-orders" }' in page.text


def test_acknowledge_snooze_and_unsnooze_are_seen_and_audited(
    house: House, visitor: Visitor
) -> None:
    alert(house)
    done = visitor.send(f"{ALERT}/acknowledge", reason="I look into it")
    assert done.headers["location"] == f"{RUN}?asked=acknowledged"
    assert "owner, 0s ago: I look into it" in visitor.see("/alerts").text.replace(
        "just now", "0s ago"
    )
    assert "The alerts of this date are acknowledged" in visitor.see(done.headers["location"]).text
    done = visitor.send(f"{ALERT}/snooze", reason="upstream", **{"for": "4h", "from": "alerts"})
    assert done.headers["location"] == "/alerts?done=snoozed"
    assert "snoozed" in visitor.see("/alerts?done=snoozed").text
    assert "End snooze…" in visitor.see(RUN).text
    visitor.send(f"{ALERT}/unsnooze", reason="back")
    assert "End snooze…" not in visitor.see(RUN).text
    entries = house.home.store.audit.newest(3)
    assert [(entry.action, entry.reason) for entry in entries] == [
        ("unsnooze", "back"),
        ("snooze", "upstream"),
        ("acknowledge", "I look into it"),
    ]
    kinds = [event.type for event in house.home.store.events.newest()]
    assert kinds[:3] == ["ALERT_UNSNOOZED", "ALERT_SNOOZED", "ALERT_ACKNOWLEDGED"]


@pytest.mark.parametrize("form", ["acknowledge", "snooze", "unsnooze"])
def test_nothing_is_done_without_a_reason_an_alert_or_the_right(
    house: House, visitor: Visitor, form: str
) -> None:
    assert visitor.send(f"{ALERT}/{form}", reason=" ").status_code == 422
    assert visitor.send(f"{ALERT}/{form}", reason="x", **{"for": "1h"}).status_code in (404, 409)
    alert(house)
    reader = house.client_of(house.token("read"))
    assert reader.post(f"{ALERT}/{form}", data={"reason": "x"}).status_code == 403
    assert house.home.store.handlings.find(alert_key(told())) is None


@pytest.mark.parametrize("span", ["", "soon", "8d", "-1h", "0s", "1" * 100 + "h"])
def test_a_span_that_is_none_is_refused(house: House, visitor: Visitor, span: str) -> None:
    alert(house)
    answer = visitor.send(f"{ALERT}/snooze", reason="x", **({"for": span} if span else {}))
    assert answer.status_code in (400, 422)


def test_a_route_is_tested_from_the_page(house: House, visitor: Visitor) -> None:
    done = visitor.send("/alerts/test", reason="new sink", route="default")
    assert done.headers["location"] == "/alerts?done=sent"
    assert "The test message was delivered" in visitor.see("/alerts?done=sent").text
    log = house.home.settings.state / "alerts.log"
    assert "test alert through default" in log.read_text("utf-8")
    assert visitor.send("/alerts/test", reason="x", route="nowhere").status_code in (400, 422)
    (entry, *_) = house.home.store.audit.newest(2)
    assert (entry.action, entry.outcome) == ("alert test", "refused")
