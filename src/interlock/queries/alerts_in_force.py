"""Alerts in force: what `alerts.yaml` declares, as the controller follows it, and where it is written."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from interlock.domain.alerting.alert_rules import Alerts, with_sinks
from interlock.ports.alerts import AlertRoutes


class AlertsInForce(msgspec.Struct, frozen=True):
    """`file` is empty if no file is at hand; `lines` if it says something else than what is in force."""

    alerts: Alerts
    file: str = ""
    lines: dict[str, int] = {}


#: Asked anew each time: the file may have changed.
ReadInForce = Callable[[], AlertsInForce]


def alerts_of_project(
    project: Path, routes: AlertRoutes, slack_channel: str | None
) -> AlertsInForce:
    """The last valid file counts; before the first start of the server, the file itself."""
    from interlock.files.alerts_file import alert_lines, load_alerts  # imports the file checks
    from interlock.files.nodes import Unreadable
    from interlock.files.project_files import ALERTS, read_source

    kept = _kept(routes)
    path = project / ALERTS
    if not path.exists():
        return AlertsInForce(with_sinks(kept or Alerts(), slack_channel))
    try:
        text = read_source(path)
        written, _ = load_alerts(text)
        lines = alert_lines(text) if kept is None or written == kept else {}
    except Unreadable:
        written, lines = None, {}
    return AlertsInForce(with_sinks(kept or written or Alerts(), slack_channel), ALERTS, lines)


def stored_alerts(routes: AlertRoutes) -> AlertsInForce:
    """Without a file at hand. Which sink there is without any in it, only the function knows."""
    return AlertsInForce(_kept(routes) or Alerts())


def _kept(routes: AlertRoutes) -> Alerts | None:
    """None for what this version can't read: it is not in force either."""
    from interlock.files.alerts_file import read_alerts

    stored = routes.kept()
    return None if stored is None else read_alerts(stored)[0]
