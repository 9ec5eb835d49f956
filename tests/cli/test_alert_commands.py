"""`alert test` and `events --alerts`: whether messages arrive, and where each went."""

from collections.abc import Iterator

import msgspec
import pytest

from alert_samples import told
from cli.place import Place
from interlock.domain.alerting.deliveries import Delivery, Target
from interlock.domain.alerting.threads import opened
from interlock.domain.run import RunKey
from interlock.wiring.local_backend import LocalBackend
from slack_stand_in import TOKEN, SlackStandIn, slack_stand_in

FILE = """\
sinks:
  slack: {type: slack, channel: C0MAIN}
  bare: {type: slack}
  log: {type: console}
routes:
  - match: {severity: critical}
    to: [{sink: slack, channel: C0OTHER}, {sink: log}]
"""


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as opened:
        yield opened


def environment(slack: SlackStandIn, token: str = TOKEN) -> dict[str, str]:
    return {
        "SLACK_API_URL": slack.url,
        "SLACK_BOT_TOKEN": token,
        "INTERLOCK_ALLOW_HOSTS": "127.0.0.1",
    }


@pytest.mark.parametrize(
    ("route", "channels"),
    [
        ("default", ["C0MAIN"]),
        ("slack", ["C0MAIN"]),
        ("slack:C0OTHER", ["C0OTHER"]),
        ("bare:C0OTHER", ["C0OTHER"]),
        ("1", ["C0OTHER"]),
        ("log", []),
    ],
)
def test_a_test_message_goes_by_the_route(
    place: Place, slack: SlackStandIn, route: str, channels: list[str]
) -> None:
    (place.folder / "alerts.yaml").write_text(FILE)
    shown = place.shown("alert", "test", route, code=0, **environment(slack))
    assert [message["channel"] for message in slack.roots] == channels
    assert shown.count(": sent") == (2 if route == "1" else 1)


@pytest.mark.parametrize("route", ["2", "0", "nobody", "bare", "log:"])
def test_a_route_that_is_not_there_is_answered_with_those_that_are(
    place: Place, route: str
) -> None:
    (place.folder / "alerts.yaml").write_text(FILE)
    result = place.run("alert", "test", route)
    if route == "log:":
        assert result.exit_code == 0  # an empty channel is none
        return
    assert result.exit_code != 0
    assert "available: 1, slack, log, default" in str(result.output) + str(result.exception)


def test_what_does_not_arrive_is_said_without_the_token(place: Place, slack: SlackStandIn) -> None:
    (place.folder / "alerts.yaml").write_text(FILE)
    wrong = environment(slack, "xoxb-wrong-token")
    shown = place.shown("alert", "test", "slack", code=1, **wrong)
    assert "slack C0MAIN: Slack: invalid_auth" in shown and "xoxb" not in shown


def test_without_a_file_the_default_is_tried(place: Place) -> None:
    assert "console: sent" in place.shown("alert", "test", "default")


def test_a_file_with_errors_is_shown_instead(place: Place) -> None:
    (place.folder / "alerts.yaml").write_text("sinks: {a: {type: mail}}")
    result = place.run("alert", "test", "a")
    assert result.exit_code == 1 and "alerts.yaml:1:19: sinks.a.type" in result.output


def test_events_say_where_they_went(place: Place) -> None:
    place.put(count=940)
    place.wait(hours=4)

    def deliver(home: LocalBackend) -> None:
        (event,) = home.store.events.newest(kind="VALIDATION_EXHAUSTED")
        sent = Delivery(event=event, target=Target("slack", "C0MAIN"), due_at=place.now)
        dead = Delivery(event=event, target=Target("ops"), due_at=place.now)
        quiet = Delivery(event=event, target=Target("slack", "C0X"), due_at=place.now, quiet=True)
        for delivery in (sent, dead, quiet):
            assert home.store.deliveries.save(delivery)
        assert home.store.deliveries.save(sent.sent(place.now, "171.1"))
        assert home.store.deliveries.save(msgspec.structs.replace(dead.dead(place.now, "HTTP 500")))

    place.happen(deliver)
    shown = place.run("events", "--alerts", "--type", "VALIDATION_EXHAUSTED", COLUMNS="160").output
    assert "slack C0MAIN: sent" in " ".join(shown.split())
    assert "C0X" not in shown
    (listed,) = place.json("events", "--alerts", "--type", "validation_exhausted")
    assert listed["event"]["type"] == "VALIDATION_EXHAUSTED"
    states = {alert["sink"]: (alert["state"], alert.get("error")) for alert in listed["alerts"]}
    assert states == {"ops": ("dead", "HTTP 500"), "slack": ("sent", None)}
    assert place.json("events", "--alerts", "--type", "SLA_MET") == []
    assert place.shown("events", "--alerts", "--type", "SLA_MET") == "no events\n"
    place.shown("events", "--alerts", "--follow", code=2)


# --- routes, ack and snooze -----------------------------------------------------------------------


@pytest.fixture
def alerted(place: Place) -> Place:
    """A pipeline with an open alert of 2026-03-03."""
    place.declare()
    event = told(key=RunKey("silver-orders", "stream", "2026-03-03"), message="it failed")

    def alert(home: LocalBackend) -> None:
        home.store.events.publish([event])
        assert home.store.threads.save(opened(event, Target("console"), home.ports.clock()))

    place.happen(alert)
    return place


DATE = ("silver-orders", "2026-03-03")


def test_an_alert_is_acknowledged_and_snoozed_and_the_list_says_so(alerted: Place) -> None:
    assert "silver-orders 2026-03-03" in alerted.shown("alert", "routes")
    shown = alerted.shown("alert", "ack", *DATE, "--reason", "looking")
    assert "silver-orders 2026-03-03: acknowledged" in shown and "nothing acts on it" in shown
    shown = alerted.shown("alert", "snooze", *DATE, "--for", "2h", "--reason", "upstream")
    assert "snoozed until" in shown and "Critical alerts still go out" in shown
    (alert,) = alerted.json("alert", "routes")["open"]
    assert (alert["acknowledged"]["reason"], alert["snoozed"]["reason"]) == ("looking", "upstream")
    assert "acknowledged" in alerted.run("alert", "routes", COLUMNS="200").output
    assert "no longer snoozed" in alerted.shown("alert", "unsnooze", *DATE, "--reason", "back")
    again = alerted.run("alert", "unsnooze", *DATE, "--reason", "back")
    assert again.exit_code != 0 and "is not snoozed" in str(again.exception) + again.output
    done = alerted.json(
        "alert", "snooze", *DATE, "--for", "1h", "--include-critical", "--reason", "x"
    )
    assert done["snoozed"]["includeCritical"] is True


@pytest.mark.parametrize("command", ["ack", "snooze", "unsnooze"])
@pytest.mark.parametrize("reason", [None, "", "  "])
def test_nothing_is_done_without_a_reason(alerted: Place, command: str, reason: str | None) -> None:
    span = ("--for", "1h") if command == "snooze" else ()
    given = () if reason is None else ("--reason", reason)
    result = alerted.run("alert", command, *DATE, *span, *given)
    assert result.exit_code != 0
    assert alerted.json("alert", "routes")["open"][0].get("acknowledged") is None


def test_what_has_no_alert_is_answered_in_plain_words(alerted: Place) -> None:
    for arguments, words in {
        ("silver-orders", "2026-03-04"): "silver-orders 2026-03-04 has no alert",
        ("gold-orders", "2026-03-03"): "gold-orders",
    }.items():
        result = alerted.run("alert", "ack", *arguments, "--reason", "x")
        assert result.exit_code != 0 and words in str(result.exception) + result.output
    late = alerted.run("alert", "snooze", *DATE, "--for", "30d", "--reason", "x")
    assert late.exit_code != 0 and "up to 7d" in str(late.exception) + late.output


def test_the_routes_in_force_are_listed_with_their_lines(place: Place) -> None:
    place.declare()
    (place.folder / "alerts.yaml").write_text(FILE)
    listed = place.json("alert", "routes")
    assert (listed["file"], listed["default"]) == ("alerts.yaml", "slack C0MAIN")
    (route,) = listed["routes"]
    assert (route["number"], route["line"], route["to"]) == (1, 6, ["slack C0OTHER", "log"])
    assert "no open alerts" in place.shown("alert", "routes")
