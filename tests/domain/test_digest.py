"""Digest: many alerts for one channel are one message; what is grave goes alone and first."""

from datetime import timedelta

import msgspec

from alert_samples import told
from contracts.samples import NOW
from interlock.domain.alerting.deliveries import Delivery, Target
from interlock.domain.alerting.digest import in_order, split
from interlock.domain.event import Severity

C1 = Target("slack", "C1")


def due(part: int, target: Target = C1, critical: bool = False, **changes: object) -> Delivery:
    event = told(part=part, after=part)
    if critical:
        event = msgspec.structs.replace(event, severity=Severity.CRITICAL)
    return msgspec.structs.replace(Delivery(event=event, target=target, due_at=NOW), **changes)


def test_many_alerts_for_one_channel_are_one_digest() -> None:
    six = [due(part) for part in (5, 3, 1, 2, 4, 6)]
    digests, alone = split(six, 5, {"slack"})
    assert [each.event.timestamp - NOW for each in digests[0]] == [
        timedelta(seconds=part) for part in range(1, 7)
    ]
    assert alone == []
    assert split(six[:5], 5, {"slack"}) == ([], in_order(six[:5]))


def test_what_is_critical_quiet_or_was_held_goes_alone() -> None:
    six = [due(part) for part in range(6)]
    others = [due(6, critical=True), due(7, quiet=True), due(8, released=True), due(9, receipt="1")]
    (digest,), alone = split([*six, *others], 5, {"slack"})
    assert digest == six and alone == others


def test_channels_are_counted_by_themselves_and_sinks_without_a_pace_not_at_all() -> None:
    three = [due(part) for part in range(3)] + [
        due(part, Target("slack", "C2")) for part in range(3)
    ]
    assert split(three, 5, {"slack"})[0] == []
    hooks = [due(part, Target("ops")) for part in range(9)]
    assert split(hooks, 5, {"slack"})[0] == []


def test_nothing_waits_behind_what_fails_and_critical_alerts_go_first() -> None:
    failing, plain, late, grave = due(1, tries=2), due(2), due(3), due(4, critical=True)
    assert in_order([late, failing, grave, plain]) == [grave, plain, late, failing]
