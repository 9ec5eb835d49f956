"""Alerting: the dispatcher with the sinks that a file declares, against stand-ins on this machine."""

import dataclasses
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alert_samples import told
from contracts.samples import ManualClock, a_config, a_key
from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.threads import Thread, ThreadKey
from interlock.domain.event import Event, EventType, Severity
from interlock.files import load_alerts
from interlock.operations.requests import NewAcknowledgement
from interlock.runtime.alert_sender import AlertSender, SenderThreads
from interlock.runtime.project_alerts import ProjectAlerts
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import read_settings
from slack_stand_in import TOKEN, SlackStandIn, slack_stand_in, too_many
from tiny_server import Said, tiny_server
from usecases.alert_desk import settle

E = EventType
FILE = """
sinks:
  slack: {type: slack, channel: C0MAIN}
limits: {perSecond: 100, digestOver: 100}
"""
FAILED = told(E.JOB_FAILED, 1, message="it failed")
DONE = told(E.JOB_COMPLETED, 2, message="it succeeded")


class House:
    """A home on a clock of its own, its desk, and the screen that the console shows."""

    def __init__(self, folder: Path, file: str | None, environment: dict[str, str]) -> None:
        (folder / "pipelines").mkdir()
        if file is not None:
            (folder / "alerts.yaml").write_text(file)
        self.clock = ManualClock()
        self.home: LocalBackend = open_local_backend(
            read_settings(folder, environment), clock=self.clock
        )
        self.lines: list[str] = []
        console = ConsoleAlerts(
            self.home.settings.state, lambda severity, line: self.lines.append(line)
        )
        self.desk = ProjectAlerts(self.home, console)
        self.console = console

    def tell(self, *events: Event) -> None:
        self.home.store.events.publish(events)

    def settle(self, dispatcher: AlertSender | None = None, **span: float) -> None:
        dispatcher = dispatcher or AlertSender(self.home.store, self.desk)
        settle(dispatcher, self.clock, timedelta(**span))

    def states(self, *events: Event) -> set[str]:
        found = self.home.store.deliveries.of_events(events)
        return {each.state for deliveries in found.values() for each in deliveries}


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as opened:
        yield opened


@pytest.fixture
def environment(slack: SlackStandIn) -> dict[str, str]:
    return {
        "SLACK_API_URL": slack.url,
        "SLACK_BOT_TOKEN": TOKEN,
        "INTERLOCK_ALLOW_HOSTS": "127.0.0.1",
    }


@pytest.fixture
def house(tmp_path: Path, environment: dict[str, str]) -> Iterator[House]:
    made = House(tmp_path, FILE, environment)
    with made.home:
        yield made


def first_alerts(count: int, kind: EventType = E.SENSOR_REJECTED) -> list[Event]:
    """As many alerts of one date, all at once."""
    return [told(kind, part, message=f"m{part}", part=part) for part in range(count)]


def test_a_date_is_one_thread_that_shows_its_state(house: House, slack: SlackStandIn) -> None:
    house.tell(FAILED)
    house.settle()
    house.tell(DONE)
    house.settle(seconds=1)
    (root,), (reply,) = slack.roots, slack.replies
    assert "🟢 info · silver-orders · 2026-03-03 · done" in str(root["blocks"])
    assert reply["thread_ts"] == root["ts"] and "it succeeded" in reply["text"]


def test_twenty_first_alerts_through_two_dispatchers_make_one_root(
    house: House, slack: SlackStandIn
) -> None:
    alerts = first_alerts(20)
    house.tell(*alerts)
    barrier = threading.Barrier(2)

    def dispatch(_: int) -> None:
        dispatcher = AlertSender(house.home.store, house.desk)
        barrier.wait(timeout=30)
        for _ in range(50):
            dispatcher.step(house.clock.now)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(dispatch, range(2)))
    house.settle(minutes=2)
    assert len(slack.roots) == 1
    texts = [message["text"].rsplit(" ", 1)[1] for message in slack.messages.values()]
    assert sorted(texts) == sorted(f"m{part}" for part in range(20))
    assert house.states(*alerts) == {"sent"}


def test_a_429_in_the_middle_of_a_batch_loses_and_doubles_nothing(
    house: House, slack: SlackStandIn
) -> None:
    alerts = [told(key=a_key(date=f"2026-01-{day:02}"), message=f"d{day}") for day in range(1, 10)]
    slack.plans += [None, None, too_many(30)]
    house.tell(*alerts)
    house.settle(seconds=29)
    assert len(slack.messages) == 2 and len(slack.asked) == 3  # the channel is left alone
    house.settle(seconds=30)
    assert sorted(each["text"][-2:] for each in slack.roots) == [f"d{day}" for day in range(1, 10)]
    found = house.home.store.deliveries.of_events(alerts)
    assert {each.tries for deliveries in found.values() for each in deliveries} == {0}


def test_a_timeout_is_retried_and_repeats_only_what_has_an_unknown_outcome(
    house: House, slack: SlackStandIn
) -> None:
    slack.plans.append(Said(hang_up=True))
    house.tell(FAILED)
    house.settle(seconds=60)
    (root,) = slack.roots
    assert "it failed" in root["text"]
    assert house.states(FAILED) == {"sent"}


def test_a_deleted_root_is_posted_again(house: House, slack: SlackStandIn) -> None:
    house.tell(FAILED)
    house.settle()
    slack.delete(slack.roots[0]["ts"])
    house.tell(DONE)
    house.settle(seconds=5)
    (root,) = slack.roots
    assert "it succeeded" in root["text"] and slack.replies == []


def test_an_archived_channel_leads_to_the_console_with_a_note(
    house: House, slack: SlackStandIn
) -> None:
    slack.archived.add("C0MAIN")
    house.tell(FAILED)
    house.settle(seconds=5)
    (line,) = house.lines
    assert "it failed (sent here because slack C0MAIN: Slack: is_archived)" in line


def test_a_revoked_token_leads_to_the_console_and_is_reported(
    house: House, slack: SlackStandIn
) -> None:
    slack.tokens.clear()
    house.tell(FAILED)
    house.settle(seconds=5)
    assert len(house.lines) == 2 and "ALERT_UNDELIVERED" in house.lines[1]
    assert TOKEN not in "".join(house.lines)
    log = (house.home.settings.state / "alerts.log").read_text()
    assert TOKEN not in log


def test_a_mute_over_a_failure_that_recovers_and_one_that_does_not(
    tmp_path: Path, environment: dict[str, str], slack: SlackStandIn
) -> None:
    mute = "\nmutes: [{match: {}, until: 2026-03-03T11:00:00Z, reason: upgrade}]"
    house = House(tmp_path, FILE + mute, environment)
    with house.home:
        still = told(E.JOB_FAILED, 3, key=a_key(date="2026-01-01"), message="another failed")
        house.tell(FAILED, DONE, still)
        house.settle(minutes=59)
        assert slack.messages == {}
        house.settle(minutes=2)
        summary, root = slack.roots
        assert (
            "2 alerts held while muted or snoozed: 1 still open, 1 recovered meanwhile"
            in summary["text"]
        )
        assert "another failed" in root["text"]


def test_without_any_settings_alerts_are_on_the_console(tmp_path: Path) -> None:
    house = House(tmp_path, None, {})
    with house.home:
        house.tell(FAILED, DONE)
        house.settle()
        assert [line.split()[3] for line in house.lines] == ["JOB_FAILED", "JOB_COMPLETED"]


def test_without_a_file_slack_gets_them_if_it_is_set_up(
    tmp_path: Path, environment: dict[str, str], slack: SlackStandIn
) -> None:
    house = House(tmp_path, None, environment | {"SLACK_CHANNEL_ID": "C0OTHER"})
    with house.home:
        house.tell(FAILED)
        house.settle()
        assert slack.roots[0]["channel"] == "C0OTHER" and house.lines == []


def test_a_channel_without_a_token_is_no_slack(tmp_path: Path) -> None:
    house = House(tmp_path, None, {"SLACK_CHANNEL_ID": "C0OTHER"})
    with house.home:
        assert house.desk().alerts.default_target == CONSOLE


def test_a_webhook_is_signed_with_what_the_environment_holds(tmp_path: Path) -> None:
    file = (
        "sinks: {ops: {type: webhook, url: '${INTERLOCK_OPS}/hook', secret: '${INTERLOCK_KEYS}'}}"
    )
    keys = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    with tiny_server(lambda asked: Said()) as receiver:
        settings = {"INTERLOCK_OPS": receiver.url, "INTERLOCK_KEYS": keys}
        house = House(tmp_path, file, settings | {"INTERLOCK_ALLOW_HOSTS": "127.0.0.1"})
        with house.home:
            house.tell(FAILED)
            house.settle()
            (asked,) = receiver.asked
            assert asked.path == "/hook" and asked.body["type"] == "JOB_FAILED"
            names = {name.lower(): value for name, value in asked.headers.items()}
            assert len(names["webhook-signature"].split()) == 2
            assert (
                house.home.secrets.mask(f"to {receiver.url}/hook with {keys}")
                == "to *** with *** ***"
            )


@pytest.mark.parametrize("missing", ["INTERLOCK_OPS", "INTERLOCK_KEYS"])
def test_a_webhook_whose_settings_are_missing_fails_and_says_which(
    tmp_path: Path, missing: str
) -> None:
    file = "sinks: {ops: {type: webhook, url: '${INTERLOCK_OPS}', secret: '${INTERLOCK_KEYS}'}}"
    settings = {"INTERLOCK_OPS": "https://ops.example", "INTERLOCK_KEYS": "whsec_eA=="}
    del settings[missing]
    house = House(tmp_path, file, settings)
    with house.home:
        house.tell(FAILED)
        house.settle()
        found = house.home.store.deliveries.find(FAILED, Target("ops"))
        assert found is not None and missing in (found.error or "")


def test_a_file_that_changes_changes_where_alerts_go(house: House, slack: SlackStandIn) -> None:
    moved, _ = load_alerts(FILE.replace("C0MAIN", "C0OTHER"))
    house.desk.use(moved)
    house.tell(FAILED)
    house.settle()
    assert slack.roots[0]["channel"] == "C0OTHER"
    before = house.desk()
    house.desk.use(moved)
    assert house.desk() is before
    house.desk.use(None)
    assert house.desk().alerts.default_target == CONSOLE


def test_a_file_with_errors_at_the_start_is_no_reason_not_to_start(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    house = House(tmp_path, "sinks: {a: {type: mail}}", environment)
    with house.home:
        house.tell(FAILED)
        house.settle()
        assert len(house.lines) == 1


def test_a_file_that_breaks_while_the_server_is_down_leaves_the_last_good_one_in_force(
    tmp_path: Path, environment: dict[str, str], slack: SlackStandIn
) -> None:
    good, _ = load_alerts(FILE)
    house = House(tmp_path, FILE, environment)
    with house.home:
        house.desk.use(good)
    (tmp_path / "pipelines").rmdir()

    for broken in ("sinks: {a: {type: mail}}", "sinks: [", "\x00"):
        again = House(tmp_path, broken, environment)
        with again.home:
            assert again.desk().alerts == house.desk().alerts
        (tmp_path / "pipelines").rmdir()
    (tmp_path / "alerts.yaml").unlink()
    without = House(tmp_path, None, environment)
    with without.home:
        assert without.desk().alerts.default_target == CONSOLE


def test_what_an_older_version_kept_and_this_one_can_not_read_is_not_in_force(
    house: House,
) -> None:
    routes = house.home.store.alert_routes
    routes.keep(Alerts())
    house.home.database.write(
        lambda connection: connection.execute("UPDATE meta SET value = '[]' WHERE key = 'alerts'")
    )
    (house.home.settings.project / "alerts.yaml").write_text("sinks: [")
    again = ProjectAlerts(house.home, house.console)
    assert again().alerts.default_target == CONSOLE


def test_a_sink_that_does_not_answer_keeps_no_other_waiting(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    stuck, told_at = threading.Event(), threading.Event()

    def never(asked: Any) -> Said:
        stuck.wait(30)
        return Said()

    with tiny_server(never) as receiver:
        file = (
            f"sinks: {{ops: {{type: webhook, url: '{receiver.url}', secret: '${{INTERLOCK_KEY}}'}},"
            " log: {type: console}}\n"
            "routes: [{match: {}, to: [{sink: ops}, {sink: log}]}]"
        )
        key = {"INTERLOCK_KEY": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
        house = House(tmp_path, file, environment | key)
        house.lines = _Told(told_at)
        senders = SenderThreads(lambda: None)
        with house.home:
            dispatcher = AlertSender(house.home.store, house.desk, senders)
            house.tell(FAILED)
            dispatcher.step(house.clock.now)
            assert told_at.wait(30)  # while the other is still stuck
            assert senders.busy() != () and not dispatcher.step(house.clock.now)
            stuck.set()
            while senders.busy():
                threading.Event().wait(0.01)
            senders.stop()


class _Told(list[str]):
    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def append(self, line: str) -> None:
        self._event.set()


def test_an_event_that_can_not_be_routed_does_not_vanish(house: House) -> None:
    alerting = house.desk()
    ports = dataclasses.replace(alerting.ports, threads=BrokenThreads())
    broken = dataclasses.replace(alerting, ports=ports)
    house.tell(FAILED)
    house.settle(AlertSender(house.home.store, lambda: broken))
    assert len(house.lines) == 1 and "it failed" in house.lines[0]


class BrokenThreads:
    """There is a bug in it."""

    def find(self, key: ThreadKey) -> Thread | None:
        raise ValueError("a bug")

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        raise ValueError("a bug")

    def open(self, pipelines: Collection[str], limit: int) -> list[Thread]:
        raise RuntimeError("a bug")

    def save(self, thread: Thread) -> bool:
        raise ValueError("a bug")


def test_every_event_type_arrives(house: House, slack: SlackStandIn) -> None:
    """Built, published, stored, read back, rendered and taken."""
    house.desk.use(load_alerts(FILE + "\nroutes: [{match: {event: '*'}, to: [{sink: slack}]}]")[0])
    events = [told(kind, part, message=f"{kind}!") for part, kind in enumerate(EventType)]
    house.tell(*events)
    house.settle(minutes=5)
    arrived = "".join(message["text"] for message in slack.messages.values()) + "".join(house.lines)
    assert [kind for kind in EventType if f"{kind}!" not in arrived] == []
    assert Severity.CRITICAL in arrived


def test_a_click_in_slack_is_shown_in_the_first_message_and_stops_the_escalation(
    tmp_path: Path, environment: dict[str, str], slack: SlackStandIn
) -> None:
    file = """
sinks:
  slack: {type: slack, channel: C0MAIN}
routes:
  - match: {}
    to: [{sink: slack}]
    escalate: [{after: 30m, to: [{sink: slack, channel: C0OTHER}]}]
"""
    house = House(tmp_path, file, environment | {"SLACK_SIGNING_SECRET": "a-secret-of-the-app"})
    with house.home:
        house.home.store.pipelines.save(a_config())
        house.tell(FAILED)
        house.settle(seconds=5)
        (root,) = slack.roots
        (buttons,) = [block for block in root["blocks"] if block["type"] == "actions"]
        assert [each["text"]["text"] for each in buttons["elements"]] == [
            "Acknowledge",
            "Snooze 1 h",
            "Snooze 4 h",
        ]
        pipeline, schedule, date = buttons["elements"][0]["value"].split("/")
        wanted = NewAcknowledgement(reason="acknowledged in Slack")
        house.home.commands("slack:ada").acknowledge(pipeline, schedule, date, wanted)
        house.settle(seconds=5)
        (root,) = slack.roots
        assert "acknowledged by slack:ada at" in str(root["blocks"])
        assert ["acknowledged by slack:ada" in each["text"] for each in slack.replies] == [True]
        house.settle(hours=1)
        assert {message["channel"] for message in slack.messages.values()} == {"C0MAIN"}
        house.tell(told(E.JOB_COMPLETED, 7200, message="it succeeded", part=1))
        house.settle(seconds=5)
        (root,) = slack.roots
        assert "actions" not in [block["type"] for block in root["blocks"]]
        assert "a-secret-of-the-app" not in str(slack.messages)


def test_without_a_signing_secret_there_are_no_buttons(house: House, slack: SlackStandIn) -> None:
    house.tell(FAILED)
    house.settle(seconds=5)
    assert "actions" not in [block["type"] for block in slack.roots[0]["blocks"]]
