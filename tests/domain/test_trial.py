"""Trial: where a test message goes, and what came of it."""

import pytest

from alert_samples import CONSOLE, SLACK, a_file, a_route
from contracts.samples import NOW
from interlock.domain.alerting.deliveries import Posted, SendFailed, Target, TryLater
from interlock.domain.alerting.sink_kinds import SlackConfig
from interlock.domain.alerting.trial import said, trial_note, trial_targets
from interlock.errors import ConfigError

FILE = a_file(a_route(channel="C0ONCALL"), slack=SLACK, bare=SlackConfig("slack"), log=CONSOLE)


@pytest.mark.parametrize(
    ("route", "target"),
    [
        ("default", Target("slack", "C0MAIN")),
        ("1", Target("slack", "C0ONCALL")),
        ("log", Target("log")),
        ("bare:C0X", Target("bare", "C0X")),
    ],
)
def test_a_route_is_named_by_number_sink_or_channel(route: str, target: Target) -> None:
    assert trial_targets(FILE, route) == [target]


@pytest.mark.parametrize("route", ["0", "2", "²", "bare", "nowhere", ""])
def test_a_route_that_is_not_there_is_answered_with_those_that_are(route: str) -> None:
    with pytest.raises(ConfigError, match="available: 1, slack, log, default"):
        trial_targets(FILE, route)


def test_what_came_of_it_is_said_in_words() -> None:
    assert said(Posted("1")) is None
    assert said(SendFailed("HTTP 500")) == "HTTP 500"
    assert said(TryLater(NOW - NOW)) == (
        "the channel accepts no messages at the moment; try again later"
    )
    assert trial_note("ops", NOW).text == "test alert through ops: nothing is wrong"
