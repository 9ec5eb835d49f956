"""Checks: the checks between the parts of one struct of a pipeline file.

A check looks at valid values only. BROKEN marks a value that already has an error; checks that depend on it
are skipped.
"""

from datetime import timedelta

from interlock.domain import duration
from interlock.domain.check import Check as Operator
from interlock.domain.check import ValueType
from interlock.domain.pipeline import (
    Evaluation,
    Job,
    PostRunEvaluation,
    Rule,
    Schedule,
    Sla,
    Trigger,
    Validation,
)
from interlock.files.job_checks import check_job
from interlock.files.problem import ProblemKind
from interlock.files.problem_collector import At, Check, known

_LONGEST_SLA = timedelta(hours=24)
_SHORTEST_INTERVAL = timedelta(seconds=1)


def check_rule(rule: Rule, at: At) -> None:
    """A rule must have what its operator needs, and an age that a reading can have."""
    check_operator(rule, at)
    check_max_age(rule, at)


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
    if operator.spec.test is not None and rule.field is None:
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
    if not kind.fits(value):
        message = f"{operator} compares with {kind.described}"
        at.error("value", ProblemKind.WRONG_TYPE, message)
    elif (objection := kind.objection(operator, value)) is not None:
        at.error("value", ProblemKind.BAD_VALUE, objection)


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
    if trigger.check is None:
        at.error("check", ProblemKind.MISSING, "is missing")
    if trigger.hours is not None and known(trigger.hours):
        at.error("hours", ProblemKind.CONFLICT, "hours belongs to a trigger with pipeline")
    check_operator(trigger, at)


def check_evaluation(evaluation: Evaluation | PostRunEvaluation, at: At) -> None:
    """The window must not be empty, and an interval must fit into it."""
    window, interval = evaluation.window, evaluation.interval
    if known(window) and not duration.seconds(window):
        at.error("window", ProblemKind.OUT_OF_RANGE, "must be more than 0s")
        return
    if interval is None or not known(interval):
        return
    if duration.parse(interval) < _SHORTEST_INTERVAL:
        at.error("interval", ProblemKind.OUT_OF_RANGE, "must be at least 1s")
    elif known(window) and duration.seconds(interval) > duration.seconds(window):
        at.error("interval", ProblemKind.OUT_OF_RANGE, f"must be at most the window, {window}")


def check_schedule(schedule: Schedule, at: At) -> None:
    """Something must open its runs, and cron and dates must not contradict each other."""
    if schedule.cron is None and schedule.trigger is None and schedule.include is None:
        at.error("cron", ProblemKind.MISSING, "a schedule needs a cron, a trigger or include")
    elif None not in (schedule.cron, schedule.include) and known(schedule.cron, schedule.include):
        at.error("include", ProblemKind.CONFLICT, "cron and include can't be combined")


def check_sla(sla: Sla, at: At) -> None:
    """There must be a deadline of at least one kind, a relative one of at most a day, and the rules must hold
    before the run must be done.
    """
    if sla.deadline is None and sla.max_duration is None and sla.evaluation_deadline is None:
        message = "an SLA needs a deadline, a maxDuration or an evaluationDeadline"
        at.error("deadline", ProblemKind.MISSING, message)
    ready, done = sla.evaluation_deadline, sla.deadline
    given = ready is not None and done is not None and known(ready, done)
    if given and ready and done and len(ready) == len(done) and ready >= done:
        at.error("evaluationDeadline", ProblemKind.CONFLICT, f"must be before the deadline, {done}")
    longest = sla.max_duration
    if longest is not None and known(longest) and duration.parse(longest) > _LONGEST_SLA:
        at.error("maxDuration", ProblemKind.OUT_OF_RANGE, "must be at most 24h")


CHECKS: dict[type, Check] = {
    Rule: check_rule,
    Trigger: check_trigger,
    Validation: check_max_age,
    Evaluation: check_evaluation,
    PostRunEvaluation: check_evaluation,
    Schedule: check_schedule,
    Sla: check_sla,
    Job: check_job,
}
