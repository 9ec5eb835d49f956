"""Read-only refusals: what a read-only server answers when a caller requests a change."""

from collections.abc import Mapping

from interlock.web.http_problem import HttpProblem
from interlock.wiring.backend import BackendInfo

#: The command to use instead, by the name of the endpoint or form; `{}` are parts of the path.
INSTEAD: dict[str, str] = {
    "putSensor": "sensor put {pipeline} {key} FIELD=VALUE",
    "putSensors": "sensor put PIPELINE KEY FIELD=VALUE",
    "putByHand": "sensor put {pipeline} KEY FIELD=VALUE",
    "readings": "sensor put {pipeline} KEY FIELD=VALUE",
    "putLineage": "sensor put PIPELINE KEY FIELD=VALUE",
    "ping": "sensor put PIPELINE KEY FIELD=VALUE",
    "watchNow": "watchdog",
    "rerun": "rerun {pipeline} DATE --reason WHY",
    "cancel": "cancel {pipeline} {date} --reason WHY",
    "dates": "skip {pipeline} DATE --reason WHY",
    "actOnDates": "skip {pipeline} DATE --reason WHY",
    "skip": "skip {pipeline} {date} --reason WHY",
    "unskip": "unskip {pipeline} {date} --reason WHY",
    "mark": "mark {pipeline} {date} done --reason WHY",
    "acknowledgeAlert": "alert ack {pipeline} {date} --schedule {schedule} --reason WHY",
    "snoozeAlert": "alert snooze {pipeline} {date} --schedule {schedule} --for 2h --reason WHY",
    "unsnoozeAlert": "alert unsnooze {pipeline} {date} --schedule {schedule} --reason WHY",
    "pause": "pause {pipeline}",
    "resume": "resume {pipeline}",
    "retryChanges": "doctor --retry",
    "parkedChanges": "doctor --retry",
}
INSTEAD |= {
    "acknowledge": INSTEAD["acknowledgeAlert"],
    "snooze": INSTEAD["snoozeAlert"],
    "unsnooze": INSTEAD["unsnoozeAlert"],
}
#: Actions that do not exist on this backend, and why.
UNSUPPORTED: dict[str, str] = {
    "retire": "`terraform apply` without its file retires a pipeline at once",
    "prunable": "rows expire by themselves",
    "prune": "rows expire by themselves",
    "testAlert": "only the alert dispatcher has the settings of the sinks",
    "test": "only the alert dispatcher has the settings of the sinks",
    "listAudit": "CloudTrail records who called what",
    "listTokens": "its only token is the INTERLOCK_TOKEN it was started with",
    "createToken": "its only token is the INTERLOCK_TOKEN it was started with",
    "revokeToken": "its only token is the INTERLOCK_TOKEN it was started with",
}


def is_refused(name: str) -> bool:
    return name in INSTEAD or name in UNSUPPORTED


def refusal(
    place: BackendInfo, name: str = "", path: Mapping[str, str] | None = None
) -> HttpProblem:
    """`name` is the name of the endpoint or form."""
    said = f"this server is read-only for {place.name}"
    if name in UNSUPPORTED:
        return HttpProblem(403, f"{said}: {UNSUPPORTED[name]}")
    if name in INSTEAD:
        return HttpProblem(
            403, f"{said}; use: {place.command} {INSTEAD[name].format_map(path or {})}"
        )
    return HttpProblem(403, said)
