"""Alert access: what queries and commands about alerts need of a backend."""

from collections.abc import Callable
from dataclasses import dataclass

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Answer, Target
from interlock.domain.alerting.note import Note
from interlock.ports.alerts import AlertStores
from interlock.queries.alerts_in_force import ReadInForce

#: Sends one message to a target, past all queues.
SendTrial = Callable[[Alerts, Target, Note], Answer]


@dataclass(frozen=True)
class AlertAccess:
    """`send_trial` is None where this process can't reach the sinks as the sender does."""

    stores: AlertStores
    in_force: ReadInForce
    send_trial: SendTrial | None = None
