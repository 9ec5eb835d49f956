"""`alert test` and `events --alerts`: whether messages arrive, and where each went."""

from collections.abc import Iterator

import msgspec
import pytest

from cli.place import Place
from interlock.domain.alerting.deliveries import Delivery, Target
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
    (told,) = place.json("events", "--alerts", "--type", "validation_exhausted")
    assert told["event"]["type"] == "VALIDATION_EXHAUSTED"
    states = {alert["sink"]: (alert["state"], alert.get("error")) for alert in told["alerts"]}
    assert states == {"ops": ("dead", "HTTP 500"), "slack": ("sent", None)}
    assert place.json("events", "--alerts", "--type", "SLA_MET") == []
    assert place.shown("events", "--alerts", "--type", "SLA_MET") == "no events\n"
    place.shown("events", "--alerts", "--follow", code=2)
