"""Escalation: who gets an alert next, and after how long."""

from typing import Any

import msgspec

from alert_samples import CONSOLE, SLACK, a_file, told
from interlock.domain.alerting.alert_rules import (
    Alerts,
    EscalationStep,
    Match,
    Route,
    RouteTarget,
)
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.routes import escalations_of, targets_of
from interlock.domain.event import EventType, Severity

E = EventType
ONCALL, BOSS = Target("slack", "C0ONCALL"), Target("slack", "C0BOSS")


def step(after: str, *channels: str) -> EscalationStep:
    return EscalationStep(after, tuple(RouteTarget("slack", each) for each in channels))


def route(*steps: EscalationStep, goes_on: bool = False, **match: Any) -> Route:
    return Route(Match(**match), (RouteTarget("slack"),), goes_on, steps)


def file(*routes: Route) -> Alerts:
    return Alerts(sinks={"slack": SLACK, "log": CONSOLE}, routes=routes)


def test_each_step_leads_further() -> None:
    steps = (step("30m", "C0ONCALL"), step("2h", "C0BOSS"))
    assert escalations_of(told(), file(route(*steps))) == {ONCALL: "30m", BOSS: "2h"}
    assert escalations_of(told(), a_file()) == {}


def test_of_two_routes_that_match_the_sooner_step_counts() -> None:
    late, soon = route(step("2h", "C0ONCALL"), goes_on=True), route(step("5m", "C0ONCALL"))
    assert escalations_of(told(), file(late, soon)) == {ONCALL: "5m"}
    first = msgspec.structs.replace(soon, goes_on=True)
    assert escalations_of(told(), file(first, late)) == {ONCALL: "5m"}
    assert escalations_of(told(), file(soon, late)) == {ONCALL: "5m"}  # the first ends the search


def test_who_has_the_alert_already_gets_it_once() -> None:
    assert escalations_of(told(), file(route(step("5m", "C0MAIN")))) == {}


def test_what_is_no_alert_does_not_escalate() -> None:
    file_of_all = file(route(step("5m", "C0ONCALL")))
    assert escalations_of(told(E.JOB_COMPLETED), file_of_all) == {}
    refused = told(E.RERUN_REJECTED, detail={"requestedBy": "ada"})
    assert escalations_of(refused, file_of_all) == {}
    in_thread = told(E.RUN_CANCELLED)
    assert in_thread.severity is Severity.WARNING
    assert escalations_of(in_thread, file_of_all) == {}


def test_who_got_an_escalation_hears_of_the_end_although_the_route_takes_only_errors() -> None:
    file_of_all = file(route(step("5m", "C0ONCALL"), severity=Severity.ERROR))
    done = told(E.JOB_COMPLETED)
    assert targets_of(done, file_of_all, ()) == ()
    assert targets_of(done, file_of_all, ("C0ONCALL",)) == (ONCALL,)
    assert ONCALL not in targets_of(told(), file_of_all, ("C0ONCALL",))
