"""Alerts page: the routes, mutes and sinks in force, open alerts, and where the last ones went."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from interlock.domain import canonical
from interlock.operations.requests import EventsQuery
from interlock.queries.alert_overview import AlertOverview, OpenAlert
from interlock.queries.alerted import Alerted
from interlock.web.pages.page_request import PageRequest, PageRow, Shown

#: How many events are looked through for those that were sent, and how many are shown.
LOOKED_THROUGH, ROWS = 200, 25


class AlertsQuery(msgspec.Struct, frozen=True, kw_only=True):
    #: The action just requested.
    done: Literal["acknowledged", "snoozed", "unsnoozed", "sent"] | None = None


def build(asked: PageRequest) -> Shown:
    queries = asked.context.queries
    overview = queries.alerting()
    told = queries.alerts(EventsQuery(limit=LOOKED_THROUGH)).items
    return {
        "overview": overview,
        "open": [
            (alert, asked.may_operate(alert.pipeline_id), _patches(alert, overview, asked.now))
            for alert in overview.open
        ],
        "recent": _sent(told),
        "may_test": asked.may_operate("") and not asked.caller.pipelines,
        "done": asked.query.done,
    }


def _sent(told: list[Alerted]) -> list[Alerted]:
    return [each for each in told if each.alerts][:ROWS]


def _patches(alert: OpenAlert, overview: AlertOverview, now: datetime) -> dict[str, str]:
    """Text to copy into the file: a mute until tomorrow morning, and a route of its own."""
    match = f"{{ pipeline: {canonical.encode(alert.pipeline_id)} }}" if alert.has_run else "{}"
    sink, _, channel = overview.default.partition(" ")
    lead = f"{{ sink: {sink}, channel: {channel} }}" if channel else f"{{ sink: {sink} }}"
    until = (now + timedelta(days=1)).replace(hour=8, minute=0, second=0, microsecond=0)
    mute = f"  - match: {match}\n    until: {until:%Y-%m-%dT%H:%M:%SZ}\n    reason: known problem\n"
    route = f"  - match: {match}\n    to: [{lead}]\n"
    return {
        f"mute it until {until:%Y-%m-%d %H:%M} UTC": _below("mutes", mute, bool(overview.mutes)),
        "route it elsewhere": _below("routes", route, bool(overview.routes)),
    }


def _below(part: str, text: str, is_there: bool) -> str:
    """Under its heading; what the file has already is named in a comment."""
    return f"# first below {part}:\n{text}" if is_there else f"{part}:\n{text}"


PAGE = PageRow("/alerts", "alerts.html", build, AlertsQuery)
