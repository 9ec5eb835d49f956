"""Why: why a date has or hasn't run, and what would unblock it."""

from collections.abc import Iterator

import click

from interlock.cli.backend import looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.shown import (
    StyledText,
    age,
    clock,
    document,
    lines,
    now,
    pause_facts,
    span,
    state,
    table,
    value,
)
from interlock.cli.typed_values import date_label
from interlock.domain.rule_text import needed
from interlock.domain.run import RETRYING, Status
from interlock.operations.requests import OnDate
from interlock.queries.why import RuleState, Why

_LABEL = "{:10} "


@click.command("why")
@click.argument("pipeline")
@click.argument("date", type=date_label, metavar="[DATE]", required=False)
@json_option(list[Why])
@click.pass_obj
def command(options: Options, pipeline: str, date: str | None, as_json: bool) -> None:
    """Explain why PIPELINE has or hasn't run; without DATE, for its current date.

    A date already decided is explained from what was recorded then.
    """
    with looking(options) as queries:
        answers = queries.why(pipeline, OnDate(date=date)).items
    if as_json:
        document(answers)
        return
    for number, why in enumerate(answers):
        if number:
            click.echo()
        _show(why)


def _show(why: Why) -> None:
    word, colour = state(why.status if why.retry_at is None else RETRYING)
    click.echo(f"{why.pipeline_id} {why.date} (schedule {why.schedule_id})")
    lines(f"{word}: ", [why.headline], colour or None)
    click.echo()
    if why.rules:
        heads = ("RULE", "NEEDS", "ACTUAL", "", "AGE", "SINCE")
        table(heads, [_rule(rule, why) for rule in why.rules], folds=("RULE", "NEEDS", "ACTUAL"))
        how = "as recorded" if why.recorded else "as it stands now"
        click.echo(f"judged at {_clock(why, 'judged_at')}, {how}")
        click.echo()
    for label, text in _facts(why):
        lines(_LABEL.format(label), [text])


def _rule(rule: RuleState, why: Why) -> tuple[str | StyledText, ...]:
    name = f"{rule.key}.{rule.field}" if rule.field else rule.key
    return (
        name if rule.group is None else f"{rule.group} {name}",
        needed(rule),
        "no reading" if rule.kind == "sensor_missing" else value(rule.actual),
        _outcome(rule),
        age(rule.received_at, why.judged_at),
        clock(rule.since, why.timezone, why.date),
    )


def _outcome(rule: RuleState) -> StyledText:
    """Of an `anyOf` that holds, the other members are not needed."""
    if rule.kind is None:
        return StyledText("holds", "green")
    return StyledText("fails", "red") if rule.blocks else StyledText("not needed", "yellow")


def _facts(why: Why) -> Iterator[tuple[str, str]]:
    at = now()
    if why.trigger is not None:
        yield "trigger", f"{why.trigger.key} {why.trigger.check}: {why.trigger.text}"
    excluded = why.excluded_by
    yield "calendar", f"excluded by {excluded}" if excluded else "a run day"
    if why.pause is not None:
        facts = pause_facts(why.pause, why.timezone, at)
        yield "paused", f"{facts}; no run opens until it is resumed"
    if why.window_end is not None and why.status == Status.PENDING:
        yield (
            "window",
            f"rules may hold until {_clock(why, 'window_end')} ({span(why.window_end, at)})",
        )
    if why.closes_at is not None:
        yield "closes", f"{_clock(why, 'closes_at')}: after that, no reading opens the date"
    if why.next_expected is not None:
        yield "next", f"expected {_clock(why, 'next_expected')} ({span(why.next_expected, at)})"
    for kind, moment in sorted(why.deadlines.items(), key=lambda item: item[1]):
        when = clock(moment, why.timezone, why.date)
        yield "deadline", f"{_KINDS.get(kind, kind)} {when} ({span(moment, at)})"
    if why.sla_verdict is not None:
        yield "SLA", why.sla_verdict.lower()
    if why.budgets:
        spent = ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in why.budgets.items())
        yield "budgets", spent
    for key, version in why.evidence.items():
        yield "evidence", f"{key} version {version}"
    yield from (("blocked by", reason) for reason in why.blocked_by)
    yield from (("to unblock", remedy) for remedy in why.unblock)


def _clock(why: Why, name: str) -> str:
    return clock(getattr(why, name), why.timezone, why.date)


_KINDS = {
    "readiness": "rules must hold by",
    "rel-warning": "warning (from the first reading)",
    "rel-breach": "breach (from the first reading)",
}
