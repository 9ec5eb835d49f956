"""Delivery: what becomes of an alert is a version of its row."""

from datetime import timedelta

import msgspec
import pytest

from contracts.samples import NOW, a_delivery, an_event
from interlock.domain.alerting.deliveries import CLAIM, Delivery, DeliveryState, Target
from interlock.domain.event import Severity

SECOND = timedelta(seconds=1)
DELAYS = (5 * SECOND, 30 * SECOND)


def test_a_claim_ends_so_that_a_sender_who_died_is_no_obstacle() -> None:
    claimed = a_delivery().claimed(NOW)
    assert claimed.state is DeliveryState.SENDING
    assert not claimed.is_due(NOW + CLAIM - SECOND)
    assert claimed.is_due(NOW + CLAIM)


def test_tries_are_spent_by_failures_alone_and_then_it_is_given_up() -> None:
    delivery = a_delivery().claimed(NOW).postponed(NOW + SECOND)
    assert (delivery.state, delivery.tries, delivery.due_at) == ("queued", 0, NOW + SECOND)
    first = delivery.failed("HTTP 500", NOW, DELAYS)
    assert (first.tries, first.due_at, first.error) == (1, NOW + 5 * SECOND, "HTTP 500")
    second = first.failed("HTTP 502", NOW, DELAYS)
    assert (second.tries, second.due_at) == (2, NOW + 30 * SECOND)
    third = second.failed("HTTP 503", NOW, DELAYS)
    assert (third.state, third.tries, third.due_at) == (DeliveryState.GIVEN_UP, 3, NOW)
    assert third.is_due(NOW) and not third.is_settled  # it is still to be told of
    later = third.told_later(NOW + SECOND)
    assert later.state is DeliveryState.GIVEN_UP and not later.is_due(NOW)
    dead = third.dead(NOW)
    assert dead.is_settled and dead.error == "HTTP 503"


@pytest.mark.parametrize(
    "settled", [a_delivery().sent(NOW), a_delivery().dead(NOW, "gone"), a_delivery().held(NOW)]
)
def test_what_is_settled_or_held_is_not_due(settled: Delivery) -> None:
    assert not settled.is_due(NOW + CLAIM)


def test_a_message_that_is_there_is_not_posted_again() -> None:
    delivery = a_delivery().claimed(NOW)
    assert delivery.needs_post
    posted = delivery.posted("171.1")
    assert not posted.needs_post and posted.due_at == delivery.due_at
    assert posted.sent(NOW).receipt == "171.1"
    assert not msgspec.structs.replace(delivery, quiet=True).needs_post


def test_every_step_is_a_version() -> None:
    freed = a_delivery().held(NOW).freed(NOW + SECOND)
    assert (freed.version, freed.state, freed.released) == (3, DeliveryState.QUEUED, True)


def test_critical_is_what_its_event_says() -> None:
    event = msgspec.structs.replace(an_event(1), severity=Severity.CRITICAL)
    assert a_delivery(event).is_critical
    assert not a_delivery().is_critical


def test_a_target_is_spelt_for_people() -> None:
    assert str(Target("slack", "C1")) == "slack C1"
    assert str(Target("console")) == "console"


def test_an_escalation_is_due_at_its_time_and_settled_when_it_is_cancelled() -> None:
    waiting = msgspec.structs.replace(a_delivery(), escalates="30m").waits(NOW + SECOND)
    assert waiting.state is DeliveryState.WAITING and not waiting.is_due(NOW)
    assert waiting.is_due(NOW + SECOND) and not waiting.is_settled
    over = waiting.cancelled(NOW, "acknowledged by ada")
    assert over.is_settled and not over.is_due(NOW + SECOND)
    assert (over.error, over.version) == ("acknowledged by ada", waiting.version + 1)
