"""Rule checks: the checks between the parts of a rule, a group, a trigger, and the lists that hold them."""

from collections.abc import Iterator, Sequence
from typing import Any

from interlock.domain import duration
from interlock.domain.check import Check as Operator
from interlock.domain.check import ValueType
from interlock.domain.pipeline import PostRun, Rule, RuleEntry, RuleGroup, Trigger, Validation
from interlock.domain.previous_date import PREVIOUS
from interlock.domain.value_reference import is_reference, reference_of
from interlock.files.forms import FORMS
from interlock.files.problem import Path, ProblemKind
from interlock.files.problem_collector import At, known


def check_rule(rule: Rule, at: At) -> None:
    """A rule must have what its operator needs, and spans that a reading can fulfil."""
    check_operator(rule, at)
    check_max_age(rule, at)
    _check_stable_for(rule, at)
    _check_reserved(rule.key, at)
    if known(rule.check) and rule.wants_no_reading and rule.max_age is not None:
        message = f"{rule.check} without a field wants no reading, so none can be too old"
        at.error("maxAge", ProblemKind.CONFLICT, message)


def _check_reserved(key: str, at: At) -> None:
    if known(key) and key.startswith(PREVIOUS):
        message = f"keys that begin with {PREVIOUS} stand for the readings of the previous date"
        at.error("key", ProblemKind.BAD_VALUE, message)


def _check_stable_for(rule: Rule, at: At) -> None:
    """A reading that counts for less time than it must stand never counts."""
    span, age = rule.stable_for, rule.max_age
    if span is None or not known(span):
        return
    if not duration.seconds(span):
        at.error("stableFor", ProblemKind.OUT_OF_RANGE, "must be more than 0s")
    elif age is not None and known(age) and _is_longer(span, age):
        message = f"is longer than maxAge, {age}: no reading counts for so long"
        at.error("stableFor", ProblemKind.OUT_OF_RANGE, message)


def check_validation(validation: Validation, at: At) -> None:
    """The age of all rules must leave each of them the time for which it must hold."""
    check_max_age(validation, at)
    age = validation.max_age
    if age is None or not known(age, validation.rules):
        return
    for path, rule in placed_rules(validation.rules):
        span = rule.stable_for
        if span is None or not known(span, rule.check) or rule.wants_no_reading:
            continue
        if rule.max_age is None and _is_longer(span, age):
            message = f"is longer than maxAge of all rules, {age}: no reading counts for so long"
            at.inner("rules", *path).error("stableFor", ProblemKind.OUT_OF_RANGE, message)


def placed_rules(entries: Sequence[RuleEntry]) -> Iterator[tuple[Path, Rule]]:
    """The valid rules of a list, those in groups too, each with its path."""
    for position, entry in enumerate(entries):
        if not known(entry):
            continue
        if isinstance(entry, Rule):
            yield (position,), entry
            continue
        for inner, rule in enumerate(entry.members if known(entry.members) else ()):
            if known(rule):
                yield (position, entry.name, inner), rule


def check_post_run(post_run: PostRun, at: At) -> None:
    """After the job, the rules are judged as readings arrive, and drift measures changes."""
    for path, rule in placed_rules(post_run.rules) if known(post_run.rules) else ():
        place = at.inner("rules", *path)
        if rule.stable_for is not None:
            message = "is for rules that a job waits for"
            place.error("stableFor", ProblemKind.CONFLICT, message, "remove it here")
        if known(rule.check) and rule.check.spec.looks_back:
            message = f"{rule.check} is judged before the job"
            hint = "move this rule to validation.rules; after the job, use driftThreshold"
            place.error("check", ProblemKind.CONFLICT, message, hint)


def _is_longer(span: str, age: str) -> bool:
    return duration.seconds(span) > duration.seconds(age)


def check_group(group: RuleGroup, at: At) -> None:
    """A group says once how many of its rules must hold."""
    if group.any_of is not None and group.all_of is not None:
        at.error("allOf", ProblemKind.CONFLICT, "an entry is anyOf or allOf, not both")
    elif group.any_of is None and group.all_of is None:
        at.error("anyOf", ProblemKind.MISSING, "the group has no rules")


def check_max_age(bounded: Rule | Validation, at: At) -> None:
    """A reading is never received within zero time."""
    age = bounded.max_age
    if age is not None and known(age) and not duration.seconds(age):
        at.error("maxAge", ProblemKind.OUT_OF_RANGE, "must be more than 0s")


def check_operator(rule: Rule | Trigger, at: At) -> None:
    """The value of a check must be present and of the right type."""
    operator = rule.check
    if operator is None or not known(operator):
        return
    is_optional = operator.spec.wants_absence
    if operator.spec.test is not None and rule.field is None and not is_optional:
        at.error("field", ProblemKind.MISSING, f"{operator} needs the field to look at")
    if operator.spec.value is None:
        return
    if rule.value is None:
        _no_value(operator, at)
    elif known(rule.value):
        _check_value(rule.value, operator, operator.spec.value, at)


def _no_value(operator: Operator, at: At) -> None:
    hint = "to ask only whether the sensor is there, use check: exists"
    at.error("value", ProblemKind.MISSING, f"{operator} needs a value to compare with", hint)


def _check_value(value: object, operator: Operator, kind: ValueType, at: At) -> None:
    if is_reference(value) and kind.can_be_field:
        _check_reference(value, at.inner("value"))
    elif is_reference(value) and not kind.can_be_field:
        message = f"{operator} compares with {kind.described}, not with another field"
        at.error("value", ProblemKind.WRONG_TYPE, message)
    elif not kind.fits(value):
        message = f"{operator} compares with {kind.described}"
        at.error("value", ProblemKind.WRONG_TYPE, message)
    elif (objection := kind.objection(operator, value)) is not None:
        at.error("value", ProblemKind.BAD_VALUE, objection)


def _check_reference(value: Any, at: At) -> None:
    """A value in another field names that field and, if it is another reading's, its key."""
    for name, form in (("field", "field"), ("key", "sensor key")):
        given = value.get(name)
        if given is None and name == "key":
            continue
        if not isinstance(given, str):
            at.error(name, ProblemKind.WRONG_TYPE, f"must name a {form}")
            continue
        try:
            FORMS[form](given)
        except ValueError as error:
            at.error(name, ProblemKind.BAD_VALUE, str(error))
        if name == "key":
            _check_reserved(given, at)


def check_trigger(trigger: Trigger, at: At) -> None:
    """A trigger is either a sensor or another pipeline."""
    if trigger.pipeline is None:
        _check_sensor_trigger(trigger, at)
    elif trigger.key is not None and known(trigger.key, trigger.pipeline):
        at.error("pipeline", ProblemKind.CONFLICT, "a trigger has a key or a pipeline, not both")


def _check_sensor_trigger(trigger: Trigger, at: At) -> None:
    if trigger.key is None:
        at.error(
            "key", ProblemKind.MISSING, "needs the sensor key that opens a run (or a pipeline)"
        )
    else:
        _check_reserved(trigger.key, at)
    if trigger.check is None:
        at.error("check", ProblemKind.MISSING, "is missing")
    if trigger.hours is not None and known(trigger.hours):
        at.error("hours", ProblemKind.CONFLICT, "hours belongs to a trigger with pipeline")
    check_operator(trigger, at)
    if trigger.check is not None and known(trigger.check):
        _check_opens(trigger, trigger.check, at)


def _check_opens(trigger: Trigger, operator: Operator, at: At) -> None:
    """A trigger is judged on the one reading that has just arrived."""
    hint = "move this rule to validation.rules"
    if operator.spec.wants_absence and trigger.field is None:
        message = "without a field, absent wants no reading, and only a reading opens a run"
        at.error("check", ProblemKind.CONFLICT, message, hint)
    if operator.spec.looks_back:
        message = f"{operator} compares with another date, and a trigger sees one reading"
        at.error("check", ProblemKind.CONFLICT, message, hint)
    reference = reference_of(trigger.value) if known(trigger.value) else None
    if reference is not None and reference.key not in (None, trigger.key):
        message = "names another key, and a trigger sees one reading"
        at.inner("value").error("key", ProblemKind.CONFLICT, message, hint)
