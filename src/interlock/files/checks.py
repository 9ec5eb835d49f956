"""Checks: the checks between the parts of one struct of a pipeline file.

A check looks at valid values only. BROKEN marks a value that already has an error; checks that depend on it
are skipped.
"""

from datetime import timedelta

from interlock.domain import duration
from interlock.domain.pipeline import (
    Evaluation,
    Job,
    PostRun,
    PostRunEvaluation,
    Rule,
    RuleGroup,
    Schedule,
    Sla,
    Trigger,
    Validation,
)
from interlock.files.job_checks import check_job
from interlock.files.problem import ProblemKind
from interlock.files.problem_collector import At, Check, known
from interlock.files.rule_checks import (
    check_group,
    check_post_run,
    check_rule,
    check_trigger,
    check_validation,
)

_LONGEST_SLA = timedelta(hours=24)
_SHORTEST_INTERVAL = timedelta(seconds=1)


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
    RuleGroup: check_group,
    Validation: check_validation,
    PostRun: check_post_run,
    Evaluation: check_evaluation,
    PostRunEvaluation: check_evaluation,
    Schedule: check_schedule,
    Sla: check_sla,
    Job: check_job,
}
