"""Stability: since when a rule with `stableFor` has held without interruption.

Every new reading begins the time again, also one on which the rule still holds: between two evaluations it
may have replaced one on which the rule did not. For what changes without a reading, such as an age, the
record of the last evaluation says when the rule began to hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from interlock.domain.pipeline import Rule
from interlock.domain.previous_date import previous_key
from interlock.domain.run import Judgement, RuleRecord
from interlock.domain.sensor import Reading

NOT_STABLE = "not_stable_yet"
UNKNOWN_SINCE = "since_unknown"


def readings_of(rule: Rule, readings: Mapping[str, Reading]) -> list[Reading]:
    """The readings that decide whether a rule holds."""
    keys = [*rule.keys, *([previous_key(rule.key)] if rule.check.spec.looks_back else [])]
    return [readings[key] for key in keys if key in readings]


def held_since(
    rule: Rule,
    used: Sequence[Reading],
    now: datetime,
    before: Judgement | None = None,
    group: str | None = None,
) -> datetime:
    """Since when a rule that holds now has held; `before` is the last evaluation of its run."""
    came = max((reading.received_at for reading in used), default=None)
    record = None if before is None else record_of(rule, before.results, group)
    if record is not None and record.since is not None and record.kind in (None, NOT_STABLE):
        return record.since if came is None else max(record.since, came)
    if came is None or rule.check.spec.ages:
        return now
    return came if record is None or before is None else max(came, before.at)


def record_of(rule: Rule, records: Iterable[RuleRecord], group: str | None) -> RuleRecord | None:
    """What the last evaluation recorded of a rule."""
    wanted = (rule.key, rule.check, rule.field, group)
    for each in records:
        if (each.key, each.check, each.field, each.group) == wanted and each.expected in (
            rule.value,
            rule.max_age,
        ):
            return each
    return None
