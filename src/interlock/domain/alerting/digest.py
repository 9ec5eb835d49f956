"""Digest: which alerts are sent together, and the order of the others."""

from collections.abc import Collection, Sequence

from interlock.domain.alerting.deliveries import Delivery, Target


def split(
    deliveries: Sequence[Delivery], over: int, paced: Collection[str]
) -> tuple[list[list[Delivery]], list[Delivery]]:
    """The digests, and what is sent separately: always critical alerts, and those that a mute held."""
    by_target: dict[Target, list[Delivery]] = {}
    for delivery in deliveries:
        if delivery.target.sink in paced and _may_join(delivery):
            by_target.setdefault(delivery.target, []).append(delivery)
    digests = [in_order(group) for group in by_target.values() if len(group) > over]
    joined = {id(delivery) for digest in digests for delivery in digest}
    return digests, in_order([each for each in deliveries if id(each) not in joined])


def in_order(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """In the order they happened; but nothing waits behind failing alerts, and critical ones go first."""
    return sorted(
        deliveries, key=lambda each: (not each.is_critical, each.tries, each.event.timestamp)
    )


def _may_join(delivery: Delivery) -> bool:
    is_alone = delivery.is_critical or delivery.released or delivery.escalates
    return delivery.needs_post and not is_alone
