"""Routing: where each event is sent."""

from typing import Any

import msgspec
import pytest

from alert_samples import CONSOLE, HOOK, SLACK, a_file, a_route, told
from interlock.domain.alerting import alert_rules as alerts
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.routes import targets_of
from interlock.domain.alerting.sink_kinds import SlackConfig
from interlock.domain.event import EventType, Severity

MAIN = Target("slack", "C0MAIN")
E = EventType


def places(event: Any, file: Alerts, *open_in: str) -> list[str]:
    return [target.place for target in targets_of(event, file, open_in)]


@pytest.mark.parametrize("kind", E)
def test_without_routes_exactly_what_is_marked_goes_to_the_default(kind: EventType) -> None:
    marked = kind.spec.alert in ("yes", "other sinks only")
    assert places(told(kind), a_file()) == (["C0MAIN"] if marked else [])


def test_people_who_heard_of_a_problem_hear_of_its_end() -> None:
    end = told(E.JOB_COMPLETED)
    assert places(end, a_file()) == []
    assert places(end, a_file(), "C0MAIN") == ["C0MAIN"]
    assert places(end, a_file(), "C0OTHER") == []


def test_the_end_of_an_alarm_is_reported_where_the_alarm_was() -> None:
    over = told(E.INFRA_ALARM, key=None, severity=Severity.INFO)
    assert places(over, a_file()) == []
    assert places(over, a_file(), "C0MAIN") == ["C0MAIN"]
    assert places(over, a_file(a_route(event="INFRA_*"))) == ["C0MAIN"]


def test_the_first_route_that_matches_ends_it_unless_it_goes_on() -> None:
    first = a_route(channel="C0FIRST", pipeline="silver-*")
    second = a_route(channel="C0SECOND")
    assert places(told(), a_file(first, second)) == ["C0FIRST"]
    on = msgspec.structs.replace(first, goes_on=True)
    assert places(told(), a_file(on, second)) == ["C0FIRST", "C0SECOND"]
    assert places(told(), a_file(on)) == ["C0FIRST"]  # taken, so not for the default as well
    assert places(told(), a_file(on, on)) == ["C0FIRST"]  # each target once


@pytest.mark.parametrize(
    ("match", "taken"),
    [
        ({"pipeline": "silver-*"}, True),
        ({"pipeline": "gold-*"}, False),
        ({"pipeline": "silver-order?"}, True),
        ({"event": "JOB_*"}, True),
        ({"event": "SLA_*"}, False),
        ({"owner": "orders-*"}, True),
        ({"owner": "finance"}, False),
        ({"tags": {"tier": "1"}}, True),
        ({"tags": {"tier": "2"}}, False),
        ({"tags": {"region": "*"}}, False),  # a tag that is not there fits nothing
        ({"severity": Severity.WARNING}, True),
        ({"severity": Severity.ERROR}, True),
        ({"severity": Severity.CRITICAL}, False),
        ({"pipeline": "silver-*", "owner": "finance"}, False),
        ({}, True),
    ],
)
def test_everything_given_must_match(match: dict[str, Any], taken: bool) -> None:
    event = told(owner="orders-team", tags={"tier": "1"})
    file = a_file(a_route(channel="C0ROUTE", **match))
    assert places(event, file) == (["C0ROUTE"] if taken else ["C0MAIN"])


def test_what_has_no_owner_or_pipeline_fits_no_glob_for_it() -> None:
    file = a_file(a_route(channel="C0ROUTE", pipeline="*"))
    assert places(told(E.WATCHDOG_DEGRADED, key=None), file) == ["C0MAIN"]


def test_a_route_that_names_a_type_or_a_severity_asks_for_more_than_the_marks() -> None:
    quiet = told(E.TRIGGER_STARTED)
    assert places(quiet, a_file(a_route())) == []
    assert places(quiet, a_file(a_route(event="TRIGGER_*"))) == ["C0MAIN"]
    assert places(quiet, a_file(a_route(severity=Severity.INFO))) == ["C0MAIN"]
    assert places(told(E.JOB_COMPLETED), a_file(a_route(event="JOB_COMPLETED"))) == ["C0MAIN"]


def test_the_older_name_of_a_type_is_known() -> None:
    file = a_file(a_route(event="JOB_STARTED"))
    assert places(told(E.JOB_TRIGGERED), file) == ["C0MAIN"]
    assert places(told(E.JOB_FAILED), a_file(a_route(channel="C0X", event="JOB_STARTED"))) == [
        "C0MAIN"
    ]


def test_nothing_that_people_should_hear_of_vanishes() -> None:
    file = a_file(a_route(pipeline="gold-*"), a_route(severity=Severity.CRITICAL))
    assert targets_of(told(), file, ()) == (MAIN,)


def test_that_a_sink_gave_up_is_reported_by_the_others() -> None:
    lost = told(E.ALERT_UNDELIVERED, detail={"sink": "slack"})
    both = a_file(a_route(goes_on=True), a_route("ops"), slack=SLACK, ops=HOOK)
    assert places(lost, both) == ["ops"]
    assert places(lost, a_file()) == ["console"]  # there is no other
    assert places(lost, a_file(slack=SLACK, ops=HOOK)) == ["console"]
    assert places(lost, a_file(ops=HOOK, slack=SLACK)) == ["ops"]
    own = told(E.ALERT_UNDELIVERED, detail={"sink": "console"})
    assert places(own, a_file(console=CONSOLE)) == []  # no sink is left


def test_the_default_is_the_first_sink_that_can_be_reached_as_it_is() -> None:
    nowhere = SlackConfig("slack")
    assert a_file(slack=nowhere, ops=HOOK).default_target == Target("ops")
    assert a_file(slack=nowhere).default_target == alerts.CONSOLE
    assert Alerts().default_target == alerts.CONSOLE


def test_without_a_file_it_is_slack_if_it_can_be_reached_and_else_the_console() -> None:
    assert alerts.with_sinks(Alerts(), "C1").default_target == Target("slack", "C1")
    assert alerts.with_sinks(Alerts(), None).default_target == Target("console")
    assert alerts.with_sinks(a_file(), "C1") == a_file()  # what is declared is so


def test_other_settings_of_a_sink_are_another_declaration() -> None:
    file = a_file(ops=HOOK)
    moved = a_file(ops=msgspec.structs.replace(HOOK, url="https://other.example"))
    assert file.declared("ops") == a_file(ops=HOOK).declared("ops") != moved.declared("ops")
    assert file.declared("gone") == ""


def test_the_pace_is_a_span() -> None:
    assert a_file().limits.every.total_seconds() == 1


def test_what_no_route_takes_goes_to_the_sink_that_the_file_names() -> None:
    sinks = {"hook": HOOK, "slack": SLACK}
    assert Alerts(sinks=sinks).default_target.sink == "hook"
    assert Alerts(sinks=sinks, default="slack").default_target == MAIN


def refused(by: str | None) -> Any:
    return told(E.RERUN_REJECTED, detail={} if by is None else {"requestedBy": by})


@pytest.mark.parametrize("match", [{}, {"severity": "warning"}, {"pipeline": "silver-*"}])
def test_a_person_whose_rerun_is_refused_gets_no_alert_of_it(match: dict[str, Any]) -> None:
    file = a_file(a_route(**match))
    assert places(refused("ada"), file, "C0MAIN") == []
    assert places(refused("interlock"), file) == ["C0MAIN"]
    assert places(refused(None), file) == ["C0MAIN"]


@pytest.mark.parametrize("match", [{}, {"severity": "error"}])
def test_a_failure_without_retries_left_is_one_alert(match: dict[str, Any]) -> None:
    file = a_file(a_route(**match))
    after = told(E.RETRY_EXHAUSTED, detail={"follows": "JOB_FAILED"})
    assert places(told(E.JOB_FAILED), file) == ["C0MAIN"]
    assert places(after, file, "C0MAIN") == []
    assert places(told(E.RETRY_EXHAUSTED), file) == ["C0MAIN"]  # the only one that tells of it


def test_a_route_that_names_the_event_gets_it_all_the_same() -> None:
    file = a_file(a_route(channel="C0MORE", event="RE*"))
    assert places(refused("ada"), file) == ["C0MORE"]
    after = told(E.RETRY_EXHAUSTED, detail={"follows": "JOB_FAILED"})
    assert places(after, file) == ["C0MORE"]
