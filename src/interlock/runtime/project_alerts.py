"""Project alerts: the alerting of a served project, replaced when its file changes."""

import logging

from interlock.adapters.alerts.sinks import sinks_of, slack_channel
from interlock.adapters.prepared import prepare_types
from interlock.domain.alerting.alert_rules import Alerts, with_sinks
from interlock.files import load_alerts, read_alerts
from interlock.files.nodes import Unreadable
from interlock.files.project_files import ALERTS, read_source
from interlock.ports.alerts import Sink
from interlock.runtime.alerting import Alerting, local_ports
from interlock.runtime.served_backend import ServedBackend

log = logging.getLogger(__name__)


class ProjectAlerts:
    """The alerting of a project as its file has it now. A file with errors changes nothing."""

    def __init__(self, backend: ServedBackend, console: Sink) -> None:
        self._backend, self._console = backend, console
        self._declared = _declared(backend)
        self._current = self._made()

    def __call__(self) -> Alerting:
        return self._current

    def use(self, alerts: Alerts | None) -> None:
        """From now on; what is under way goes on as it began."""
        wanted = alerts or Alerts()
        self._backend.store.alert_routes.keep(wanted)
        if wanted == self._declared:
            return
        self._declared = wanted
        self._current = self._made()
        log.info("the routes of alerts have changed", extra={"action": "alerts_changed"})

    def _made(self) -> Alerting:
        backend = self._backend
        alerts = with_sinks(self._declared, slack_channel(backend.settings))
        sinks = sinks_of(
            alerts, backend.settings, backend.secrets, self._console, backend.ports.clock
        )
        prepare_types()  # structs that came with the sinks are read by the threads that send
        return Alerting(alerts, local_ports(backend.store, backend.ports.events, sinks))


def _declared(backend: ServedBackend) -> Alerts:
    """Before anything is sent. A file that can't be used leaves in force what was before we stopped;
    what is wrong with it is said when all files are looked at.
    """
    path = backend.settings.project / ALERTS
    if not path.exists():
        return Alerts()
    try:
        alerts, _ = load_alerts(read_source(path))
    except Unreadable:
        alerts = None
    return alerts or _kept(backend) or Alerts()


def _kept(backend: ServedBackend) -> Alerts | None:
    """None before the first, and for one that this version can't read."""
    stored = backend.store.alert_routes.kept()
    return None if stored is None else read_alerts(stored)[0]
