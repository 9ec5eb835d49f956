"""The overview of alerts: what is declared and where, how its sinks do, and what is open."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from alert_samples import told
from contracts.samples import ALERT, KEY, NOW, ManualClock, a_handling, a_thread
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.alert_rules import Alerts, Match
from interlock.domain.alerting.deliveries import Delivery, SendFailed, Target
from interlock.domain.event import EventType, Phase
from interlock.files import load_alerts
from interlock.queries.alert_overview import AlertOverview, alert_overview, matching, open_alerts
from interlock.queries.alerts_in_force import AlertsInForce, alerts_of_project, stored_alerts
from usecases.alert_desk import Desk

FILE = """\
sinks:
  slack: {type: slack, channel: C0MAIN}
  log: {type: console}
routes:
  - match: {severity: critical}
    to: [{sink: slack, channel: C0ONCALL}]
    escalate: [{after: 30m, to: [{sink: log}]}]
    continue: true
  - {match: {pipeline: "gold-*", tags: {tier: "1"}}, to: [{sink: log}]}
mutes:
  - {match: {}, from: 2026-03-03T09:00:00Z, until: 2026-03-03T11:00:00Z, reason: maintenance}
  - {match: {owner: ada}, weekly: {days: [sat], timezone: Europe/Berlin}}
"""


@pytest.fixture
def store() -> Iterator[Store]:
    with Database(MEMORY) as database:
        yield Store(database, ManualClock())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "alerts.yaml").write_text(FILE, "utf-8")
    return tmp_path


def overview(declared: AlertsInForce, store: Store) -> AlertOverview:
    return alert_overview(declared, store, [KEY.pipeline_id], NOW)


def test_every_route_mute_and_sink_says_where_it_is_written(project: Path, store: Store) -> None:
    shown = overview(alerts_of_project(project, store.alert_routes, None), store)
    assert (shown.file, shown.default) == ("alerts.yaml", "slack C0MAIN")
    assert [(route.number, route.line) for route in shown.routes] == [(1, 5), (2, 9)]
    assert [(mute.number, mute.line) for mute in shown.mutes] == [(1, 11), (2, 12)]
    assert [(sink.name, sink.line, sink.is_default) for sink in shown.sinks] == [
        ("slack", 2, True),
        ("log", 3, False),
    ]
    first, second = shown.routes
    assert (first.match, first.to) == ("severity critical or higher", ("slack C0ONCALL",))
    assert [(step.after, step.to) for step in first.escalate] == [("30m", ("log",))]
    assert first.goes_on and not second.goes_on
    assert second.match == "pipeline gold-*, tag tier 1"


def test_a_mute_is_active_or_says_when_it_is_next(project: Path, store: Store) -> None:
    once, weekly = overview(alerts_of_project(project, store.alert_routes, None), store).mutes
    assert once.active_until is not None and once.next_at is None
    assert once.active_until.isoformat() == "2026-03-03T11:00:00+00:00"
    assert once.when == "2026-03-03T09:00:00Z to 2026-03-03T11:00:00Z"
    assert weekly.active_until is None and weekly.match == "owner ada"
    assert weekly.next_at is not None and weekly.next_at.isoformat() == "2026-03-06T23:00:00+00:00"
    assert weekly.when == "sat 00:00 to 24:00 Europe/Berlin"


def test_what_is_in_force_counts_not_what_the_file_says_by_now(project: Path, store: Store) -> None:
    alerts, _ = load_alerts(FILE)
    assert alerts is not None
    store.alert_routes.keep(alerts)
    assert alerts_of_project(project, store.alert_routes, None).lines
    for text in (FILE.replace("critical", "error"), "sinks: [", "{}"):
        (project / "alerts.yaml").write_text(text, "utf-8")
        found = alerts_of_project(project, store.alert_routes, None)
        assert (found.alerts.routes, found.lines) == (alerts.routes, {})
    (project / "alerts.yaml").unlink()
    found = alerts_of_project(project, store.alert_routes, None)
    assert (found.alerts.routes, found.file) == (alerts.routes, "")


def test_without_a_file_alerts_go_to_slack_or_the_console(tmp_path: Path, store: Store) -> None:
    here = alerts_of_project(tmp_path, store.alert_routes, None)
    assert here.alerts.default_target == Target("console")
    slack = alerts_of_project(tmp_path, store.alert_routes, "C0MAIN")
    assert slack.alerts.default_target == Target("slack", "C0MAIN")
    assert stored_alerts(store.alert_routes).alerts == Alerts()


def test_a_sink_shows_how_its_last_alerts_went(project: Path, store: Store) -> None:
    alerts = alerts_of_project(project, store.alert_routes, None).alerts
    assert isinstance(store.clock, ManualClock)
    desk = Desk(store, store.clock, alerts)
    desk.slack.answers.append(SendFailed("HTTP 500"))
    desk.tell(told(EventType.INFRA_FAILURE, 1))
    desk.settle()
    shown = overview(AlertsInForce(alerts), store)
    slack, log = (sink.figures for sink in shown.sinks)
    assert slack is not None and log is not None
    assert (slack.queued, slack.error, slack.sent_at) == (1, "HTTP 500", None)
    assert (log.waiting, log.queued) == (1, 0)  # it would escalate there
    desk.settle(minutes=1)
    slack = overview(AlertsInForce(alerts), store).sinks[0].figures
    assert slack is not None and slack.sent_at is not None and slack.error is None
    store.switches.turn_off("log", alerts.declared("log"))
    assert [sink.is_disabled for sink in overview(AlertsInForce(alerts), store).sinks] == [
        False,
        True,
    ]


def test_figures_count_every_state(store: Store) -> None:
    target = Target("ops")
    fresh = [
        Delivery(event=told(part=n), target=target, due_at=NOW + timedelta(minutes=n))
        for n in range(5)
    ]
    for delivery in fresh:
        assert store.deliveries.save(delivery)
    _, held, dead, sent, called_off = fresh
    assert store.deliveries.save(held.held(NOW))
    assert store.deliveries.save(dead.dead(NOW, "HTTP 400"))
    assert store.deliveries.save(sent.sent(NOW))
    assert store.deliveries.save(called_off.cancelled(NOW + timedelta(hours=1), "acknowledged"))
    figures = store.deliveries.figures()["ops"]
    assert (figures.queued, figures.held, figures.dead) == (1, 1, 1)
    assert (figures.sent_at, figures.failed_at, figures.error) == (NOW, NOW, "HTTP 400")


def test_an_open_alert_is_one_however_many_channels_it_has(store: Store) -> None:
    for channel in ("C1", "C2"):
        assert store.threads.save(a_thread(channel=channel))
    failed = a_thread(channel="C3").moved(told(EventType.JOB_FAILED, 60, message="it failed"))
    first = a_thread(channel="C3")
    assert store.threads.save(first) and store.threads.save(failed)
    assert store.handlings.save(a_handling())
    (alert,) = open_alerts(store, [KEY.pipeline_id], NOW)
    assert (alert.key, alert.state, alert.message) == (ALERT, Phase.FAILED, "it failed")
    assert len(alert.targets) == 3 and alert.has_run
    assert alert.acknowledged is not None and alert.snoozed is not None
    (later,) = open_alerts(store, [KEY.pipeline_id], NOW + timedelta(hours=2))
    assert later.snoozed is None  # its end has passed
    assert open_alerts(store, ["other"], NOW) == []


def test_what_matches_everything_says_so() -> None:
    assert matching(Match()) == "every alert"
    assert matching(Match(event="SLA_*")) == "event SLA_*"
