"""Read only: what a server that only looks at a home answers to whoever wants something done there."""

from collections.abc import Mapping

from interlock.web.http_problem import HttpProblem
from interlock.wiring.backend import BackendInfo

#: What does it instead, by the name of the endpoint or form; `{}` are parts of the path.
INSTEAD: dict[str, str] = {
    "putSensor": "sensor put {pipeline} {key} FIELD=VALUE",
    "putSensors": "sensor put PIPELINE KEY FIELD=VALUE",
    "putLineage": "sensor put PIPELINE KEY FIELD=VALUE",
    "ping": "sensor put PIPELINE KEY FIELD=VALUE",
    "watchNow": "watchdog",
    "rerun": "rerun {pipeline} DATE --reason WHY",
    "pause": "pause {pipeline}",
    "resume": "resume {pipeline}",
    "retryChanges": "doctor --retry",
    "parkedChanges": "doctor --retry",
}
#: What nobody does there, and why.
NOBODY: dict[str, str] = {
    "retire": "an apply without its file retires a pipeline at once",
    "prunable": "rows expire there by themselves",
    "prune": "rows expire there by themselves",
    "listTokens": "its only token is the INTERLOCK_TOKEN with which it was started",
    "createToken": "its only token is the INTERLOCK_TOKEN with which it was started",
    "revokeToken": "its only token is the INTERLOCK_TOKEN with which it was started",
}


def is_refused(name: str) -> bool:
    return name in INSTEAD or name in NOBODY


def refusal(
    place: BackendInfo, name: str = "", path: Mapping[str, str] | None = None
) -> HttpProblem:
    """`name` is that of the endpoint or form."""
    said = f"this server only reads {place.name}"
    if name in NOBODY:
        return HttpProblem(403, f"{said}: {NOBODY[name]}")
    if name in INSTEAD:
        return HttpProblem(
            403, f"{said}; use: {place.command} {INSTEAD[name].format_map(path or {})}"
        )
    return HttpProblem(403, said)
