"""Trial sender: one message to one target, with sinks of its own, past queues and rate limits."""

import logging
from pathlib import Path

from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.adapters.alerts.sink_context import SinkSettings
from interlock.adapters.alerts.sinks import sinks_of
from interlock.adapters.secrets.references import Secrets
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Answer, SendFailed, Target
from interlock.domain.alerting.note import Note
from interlock.domain.event import Severity, clean
from interlock.errors import InterlockError
from interlock.ports.engine import Clock

log = logging.getLogger(__name__)


class TrialSender:
    """`state` is the folder of the console's log."""

    def __init__(self, settings: SinkSettings, state: Path, secrets: Secrets, clock: Clock) -> None:
        self._settings, self._secrets, self._clock = settings, secrets, clock
        self._console = ConsoleAlerts(state, _logged, settings.public_url)

    def __call__(self, alerts: Alerts, target: Target, note: Note) -> Answer:
        """No answer holds a secret."""
        sinks = sinks_of(alerts, self._settings, self._secrets, self._console, self._clock)
        try:
            answer = sinks[target.sink].post(target.channel, note, None)
        except InterlockError as error:
            answer = SendFailed(clean(str(error)))
        problem = getattr(answer, "error", None)
        return SendFailed(self._secrets.mask(problem)) if problem else answer


def _logged(severity: Severity, line: str) -> None:
    log.info(line, extra={"action": "alert_test"})
