"""The rows of the alert sinks."""

import pytest

from interlock.domain.alerting.sink_kinds import (
    SINK_KINDS,
    ConsoleConfig,
    SinkConfig,
    SlackConfig,
    WebhookConfig,
)
from interlock.domain.objection import BROKEN

URL, KEY = "https://a.example", "${INTERLOCK_KEY}"


def hook(**changes: str) -> WebhookConfig:
    return WebhookConfig("webhook", **{"url": URL, "secret": KEY, **changes})


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (SlackConfig("slack", channel="C0MAIN"), []),
        (SlackConfig("slack"), []),
        (ConsoleConfig("console", channel="C0MAIN"), ["channel conflict"]),
        (hook(), []),
        (hook(url="${INTERLOCK_TOKEN}"), ["url bad_value"]),
        (hook(secret="secret://env/INTERLOCK_KEY"), []),
        (hook(secret="whsec_MfKQ"), ["secret bad_value warning"]),
        (hook(secret="hunter2"), ["secret bad_value"]),
    ],
)
def test_a_sink_objects_to_what_its_type_has_not(config: SinkConfig, found: list[str]) -> None:
    assert [
        f"{'.'.join(each.path)} {each.kind}{' warning' * each.is_warning}"
        for each in config.objections()
    ] == found


def test_a_secret_that_is_wrong_already_is_left_alone() -> None:
    assert list(WebhookConfig("webhook", url=BROKEN, secret=BROKEN).objections()) == []


def test_only_a_sink_with_channels_can_lack_one() -> None:
    assert SlackConfig("slack").lacks_channel
    assert not SlackConfig("slack", channel="C0MAIN").lacks_channel
    assert not ConsoleConfig("console").lacks_channel


def test_every_row_stands_under_its_own_name_and_tries_again() -> None:
    for name, kind in SINK_KINDS.items():
        assert kind.name == name and kind.settings.__doc__
        assert kind.manner.delays
