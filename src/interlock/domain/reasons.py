"""Reasons: every word for why a rule does not hold, and what it means."""

from interlock.domain.check import Check, Reason
from interlock.domain.stability import NOT_STABLE, UNKNOWN_SINCE


def _of_checks() -> dict[str, Reason]:
    """The reasons of all checks; one that several share names them all."""
    owners: dict[str, list[Check]] = {}
    for check in Check:
        for kind in check.spec.reasons:
            owners.setdefault(kind, []).append(check)
    return {
        kind: Reason(
            f"{' '.join(f'`{each}`' for each in checks)}: {checks[0].spec.reasons[kind].meaning}",
            checks[0].spec.reasons[kind].tells_age,
        )
        for kind, checks in owners.items()
    }


#: What can be wrong with the reading, whatever the check.
_OF_READING = {
    "sensor_missing": Reason("there is no reading of that key for the date"),
    "sensor_unreadable": Reason("the stored reading of that key can't be read"),
    "field_missing": Reason("the reading lacks the field, or it is null"),
}

#: What can be wrong with a value that stands in another field.
_OF_REFERENCE = {
    "value_missing": Reason("the field that `value` names is missing or null"),
    "value_sensor_missing": Reason("there is no reading of the key that `value` names"),
    "value_sensor_unreadable": Reason(
        "the stored reading of the key that `value` names can't be read"
    ),
}

#: The kinds that `maxAge` gives.
OF_RECEIPT = {
    "received_too_old": Reason("the reading was received longer ago than `maxAge`", True),
    "received_unknown": Reason("`maxAge` is set, and the row does not say when the reading came"),
    "value_received_too_old": Reason(
        "the reading of the key that `value` names was received longer ago than `maxAge`", True
    ),
    "value_received_unknown": Reason(
        "`maxAge` is set, and the row of the key that `value` names does not say when it came"
    ),
}

#: The kinds that `stableFor` gives.
_OF_STABILITY = {
    NOT_STABLE: Reason("the rule holds, but not yet for as long as `stableFor`", True),
    UNKNOWN_SINCE: Reason("`stableFor` is set, and the row does not say when the reading came"),
}

#: Every kind that a result can have, and what it means; the reference prints this table.
REASONS: dict[str, Reason] = {
    **_OF_READING,
    **_of_checks(),
    **_OF_REFERENCE,
    **OF_RECEIPT,
    **_OF_STABILITY,
}

#: The kinds whose line tells how old something is.
AGES = frozenset(kind for kind, reason in REASONS.items() if reason.tells_age)
