"""Many dates form: rerun or skip the dates that a person ticked, or a range, with a preview beforehand."""

from collections.abc import Iterable
from typing import Any

from interlock.operations.queries import Queries
from interlock.operations.requests import NewDates
from interlock.operations.results import DateAnswer
from interlock.web.http_problem import HttpProblem
from interlock.web.pages.form_fields import FormFields, checked

#: What stands between the schedule and the date of a ticked box.
_BETWEEN = " "


def ticked(schedule_id: str, date: str) -> str:
    """The value of the box of a date."""
    return f"{schedule_id}{_BETWEEN}{date}"


def wanted_dates(form: FormFields) -> list[NewDates]:
    """One request for each schedule of which a date is ticked, or a range is given. Raises HttpProblem for
    none.
    """
    by_schedule: dict[str, list[str]] = {}
    for each in form.all("date"):
        schedule, _, date = each.partition(_BETWEEN)
        by_schedule.setdefault(schedule, []).append(date)
    requests = [_request(form, name, dates=dates) for name, dates in by_schedule.items()]
    if form.get("from") or form.get("to"):
        ends = {name: form.get(name) for name in ("from", "to") if form.get(name)}
        requests.append(_request(form, form.get("schedule"), **ends))
    if not requests:
        raise HttpProblem(422, "tick a date, or give the first and the last date of a range")
    return requests


def foreseen(pipeline: str, requests: Iterable[NewDates], queries: Queries) -> list[DateAnswer]:
    """What would become of each date."""
    return [each for one in requests for each in queries.foresee_dates(pipeline, one).items]


def _request(form: FormFields, schedule: str, **dates: Any) -> NewDates:
    wanted = {
        "action": form.get("action"),
        "schedule": schedule or None,
        "reason": form.get("reason"),
        "force": form.get("force") == "1",
        "overBudget": form.get("over_budget") == "1",
    }
    return checked(wanted | dates, NewDates)
