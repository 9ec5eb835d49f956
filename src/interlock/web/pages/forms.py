"""Forms: what the pages ask for. Each form is the same request as the API's, in the caller's name."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.alerting.threads import AlertKey
from interlock.domain.callers import Scope
from interlock.domain.run import RunKey
from interlock.domain.typed_value import typed_value
from interlock.operations.requests import (
    ForeseeReading,
    NewAcknowledgement,
    NewAlertTest,
    NewCancellation,
    NewHandReading,
    NewMark,
    NewPause,
    NewRerun,
    NewResume,
    NewSkip,
    NewSnooze,
    NewUnskip,
    NewUnsnooze,
)
from interlock.web.access import Caller
from interlock.web.api.context import ApiContext
from interlock.web.http_problem import HttpProblem
from interlock.web.pages import alerts_page
from interlock.web.pages.form_fields import FormFields, checked
from interlock.web.pages.many_dates_form import foreseen, wanted_dates
from interlock.web.pages.page_request import Shown
from interlock.web.pages.status_badge import standing
from interlock.web.pages.templating import pipeline_url, run_url

_LONGEST_PAUSE = timedelta(days=365)


class SentForm(msgspec.Struct, frozen=True):
    """A form that a caller sent, and where."""

    context: ApiContext
    caller: Caller
    path: dict[str, str]
    fields: FormFields

    @property
    def commands(self) -> Any:
        return self.context.commands(self.caller)

    @property
    def place(self) -> tuple[str, str, str]:
        """Of a form on the page of a run."""
        return self.path["pipeline"], self.path["schedule"], self.path["date"]

    @property
    def reason(self) -> dict[str, Any]:
        return {"reason": self.fields.get("reason")}


class Preview(msgspec.Struct, frozen=True):
    """What a form would do, to be shown before it is sent again."""

    template: str
    shown: Shown


class FormRow(msgspec.Struct, frozen=True):
    """What a form does, and who may send it. The answer is the address of the next page, or a preview."""

    act: Callable[[SentForm], str | Preview]
    scope: Scope = Scope.OPERATE


def _rerun(form: SentForm) -> str:
    wanted = form.reason | {
        "date": form.path["date"],
        "schedule": form.path["schedule"],
        "force": form.fields.get("force") == "1",
        "overBudget": form.fields.get("over_budget") == "1",
    }
    request = form.commands.rerun(form.path["pipeline"], checked(wanted, NewRerun))
    return f"{run_url(request.key)}?asked=rerun"


def _cancel(form: SentForm) -> str:
    done = form.commands.cancel(*form.place, checked(form.reason, NewCancellation))
    said = {True: "cancel", False: "unstopped", None: "cancel"}[done.job_asked]
    return f"{run_url(done.run.key)}?asked={said}"


def _skip(form: SentForm) -> str:
    run = form.commands.skip(*form.place, checked(form.reason, NewSkip))
    return f"{run_url(run.key)}?asked=skip"


def _unskip(form: SentForm) -> str:
    form.commands.unskip(*form.place, checked(form.reason, NewUnskip))
    return f"{run_url(RunKey(*form.place))}?asked=unskip"


def _mark(form: SentForm) -> str:
    fields = form.fields
    said = {"outcome": fields.get("outcome"), "evidence": dict(fields.lines("evidence"))}
    run = form.commands.mark(*form.place, checked(form.reason | said, NewMark))
    return f"{run_url(run.key)}?asked=mark"


def _pause(form: SentForm) -> str:
    wanted = form.reason
    if form.fields.get("for"):
        wanted["until"] = form.context.backend.ports.clock() + _span(form.fields.get("for"))
    form.commands.pause(form.path["pipeline"], checked(wanted, NewPause))
    return f"{pipeline_url(form.path['pipeline'])}?done=paused"


def _span(text: str) -> timedelta:
    try:
        return min(duration.parse(text), _LONGEST_PAUSE)
    except ValueError as error:
        raise HttpProblem(422, str(error)) from None


def _resume(form: SentForm) -> str:
    form.commands.resume(form.path["pipeline"], checked(form.reason, NewResume))
    return f"{pipeline_url(form.path['pipeline'])}?done=resumed"


def _preview_dates(form: SentForm) -> Preview:
    name = form.path["pipeline"]
    answers = foreseen(name, wanted_dates(form.fields), form.context.queries)
    shown = {
        "pipeline_id": name,
        "action": form.fields.get("action"),
        "rows": [
            (each, RunKey(name, each.schedule_id, each.date), standing(each.state))
            for each in answers
        ],
        "accepted": sum(each.accepted for each in answers),
        "fields": form.fields.again(),
        "reason": form.fields.get("reason"),
    }
    return Preview("dates_preview.html", shown)


def _act_on_dates(form: SentForm) -> str:
    name = form.path["pipeline"]
    answers = [
        answer
        for each in wanted_dates(form.fields)
        for answer in form.commands.act_on_dates(name, each).items
    ]
    accepted = sum(each.accepted for each in answers)
    said = {"skip": "skipped", "rerun": "requested"}[form.fields.get("action")]
    refused = len(answers) - accepted
    return f"{pipeline_url(name)}?done={said}&accepted={accepted}&refused={refused}"


def _reading(form: SentForm) -> dict[str, Any]:
    fields = {name: typed_value(text) for name, text in form.fields.lines("fields")}
    date = form.fields.get("date").strip()
    return {"key": form.fields.get("key"), "fields": fields | ({"date": date} if date else {})}


def _preview_reading(form: SentForm) -> Preview:
    name, reading = form.path["pipeline"], _reading(form)
    found = form.context.queries.foresee_reading(name, checked(reading, ForeseeReading))
    shown = {
        "pipeline_id": name,
        **reading,
        "foreseen": found,
        "sent": form.fields.again(),
        "reason": form.fields.get("reason"),
    }
    return Preview("reading_preview.html", shown)


def _put_reading(form: SentForm) -> str:
    name, wanted = form.path["pipeline"], checked(_reading(form) | form.reason, NewHandReading)
    form.commands.put_by_hand(name, wanted)
    return f"{pipeline_url(name)}?done=stored"


def _acknowledge(form: SentForm) -> str:
    done = form.commands.acknowledge(*form.place, checked(form.reason, NewAcknowledgement))
    return _after_alert(form, done.key, "acknowledged")


def _snooze(form: SentForm) -> str:
    wanted = form.reason | {
        "for": form.fields.get("for"),
        "includeCritical": form.fields.get("include_critical") == "1",
    }
    done = form.commands.snooze(*form.place, checked(wanted, NewSnooze))
    return _after_alert(form, done.key, "snoozed")


def _unsnooze(form: SentForm) -> str:
    done = form.commands.unsnooze(*form.place, checked(form.reason, NewUnsnooze))
    return _after_alert(form, done.key, "unsnoozed")


def _test_alert(form: SentForm) -> str:
    wanted = checked(form.reason | {"route": form.fields.get("route")}, NewAlertTest)
    results = form.commands.test_alert(wanted).items
    problems = [f"{each.target}: {each.problem}" for each in results if each.problem]
    if problems:
        raise HttpProblem(502, f"the test message was not delivered: {'; '.join(problems)}")
    return f"{alerts_page.PAGE.path}?done=sent"


def _after_alert(form: SentForm, key: AlertKey, done: str) -> str:
    """Back to where the form was."""
    if key.run is None or form.fields.get("from") == "alerts":
        return f"{alerts_page.PAGE.path}?done={done}"
    return f"{run_url(key.run)}?asked={done}"


FORMS: dict[str, FormRow] = {
    "/runs/{pipeline}/{schedule}/{date}/rerun": FormRow(_rerun),
    "/runs/{pipeline}/{schedule}/{date}/cancel": FormRow(_cancel),
    "/runs/{pipeline}/{schedule}/{date}/skip": FormRow(_skip),
    "/runs/{pipeline}/{schedule}/{date}/unskip": FormRow(_unskip),
    "/runs/{pipeline}/{schedule}/{date}/mark": FormRow(_mark),
    "/pipelines/{pipeline}/pause": FormRow(_pause),
    "/pipelines/{pipeline}/resume": FormRow(_resume),
    "/pipelines/{pipeline}/dates/preview": FormRow(_preview_dates),
    "/pipelines/{pipeline}/dates": FormRow(_act_on_dates),
    "/pipelines/{pipeline}/readings/preview": FormRow(_preview_reading, Scope.OBSERVE),
    "/pipelines/{pipeline}/readings": FormRow(_put_reading, Scope.OBSERVE),
    "/alerts/{pipeline}/{schedule}/{date}/acknowledge": FormRow(_acknowledge),
    "/alerts/{pipeline}/{schedule}/{date}/snooze": FormRow(_snooze),
    "/alerts/{pipeline}/{schedule}/{date}/unsnooze": FormRow(_unsnooze),
    "/alerts/test": FormRow(_test_alert),
}
