"""Endpoints: the place of each query and command in the HTTP API, and who may call it.

A row names the operation; its parameters and its answer come from its declaration in `Queries` or
`Commands`. The server binds these rows to paths, the OpenAPI document describes them, and the command
line reaches a server through the same rows.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from interlock.domain.callers import Scope
from interlock.operations.commands import Commands
from interlock.operations.queries import Queries
from interlock.operations.requests import NoQuery, Query

API = "/api/v1"
SMALL = 256 * 1024
BATCH = 8 * 1024 * 1024

_PATH_PART = re.compile(r"\{([a-z]+)(?::path)?\}")


@dataclass(frozen=True)
class Endpoint:
    """One row. `operation` is a function of `Queries` or `Commands`."""

    method: str
    path: str
    name: str
    scope: Scope
    operation: Callable[..., Any]
    status: int = 200
    #: How many bytes its body may have.
    largest: int = SMALL

    @property
    def asks(self) -> str:
        """The name of the operation."""
        return self.operation.__name__

    @property
    def is_query(self) -> bool:
        return getattr(Queries, self.asks, None) is self.operation

    @property
    def summary(self) -> str:
        return inspect.getdoc(self.operation) or ""

    @cached_property
    def path_parts(self) -> tuple[str, ...]:
        return tuple(_PATH_PART.findall(self.path))

    @cached_property
    def answer(self) -> Any:
        """The type of its answer; None for none."""
        found = self._types["return"]
        return None if found is type(None) else found

    @cached_property
    def query_name(self) -> str | None:
        return next((name for name, kind in self._given() if _is_query(kind)), None)

    @cached_property
    def body_name(self) -> str | None:
        return next((name for name, kind in self._given() if not _is_query(kind)), None)

    @property
    def query(self) -> type[Query]:
        """What may stand behind the question mark."""
        found: type[Query] = NoQuery if self.query_name is None else self._types[self.query_name]
        return found

    @property
    def body(self) -> Any:
        """The type of its body; None for none."""
        return None if self.body_name is None else self._types[self.body_name]

    @property
    def may_be_bare(self) -> bool:
        """Whether the body may be left out."""
        parameters = inspect.signature(self.operation).parameters
        return (
            self.body_name is not None
            and parameters[self.body_name].default is not inspect.Parameter.empty
        )

    def arguments(self, path: dict[str, str], query: Any, body: Any) -> dict[str, Any]:
        """How the operation is called for a request. A body that was left out keeps its default."""
        given: dict[str, Any] = {name: path[name] for name in self.path_parts}
        if self.query_name is not None:
            given[self.query_name] = query
        if self.body_name is not None and body is not None:
            given[self.body_name] = body
        return given

    def bound(self, *given: Any, **named: Any) -> dict[str, Any]:
        """What a caller of the operation gave, by name; what was left out is not there."""
        bound = inspect.signature(self.operation).bind(None, *given, **named)
        return {name: value for name, value in bound.arguments.items() if name != "self"}

    @cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.operation, include_extras=True)

    def _given(self) -> Iterator[tuple[str, Any]]:
        """What comes with the request and not in its path."""
        others = {*self.path_parts, "return"}
        return ((name, kind) for name, kind in self._types.items() if name not in others)


def _is_query(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Query)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "PUT",
        "/pipelines/{pipeline}/sensors/{key:path}",
        "putSensor",
        Scope.OBSERVE,
        Commands.put,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/readings",
        "putByHand",
        Scope.OBSERVE,
        Commands.put_by_hand,
        status=201,
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/readings/foresee",
        "foreseeReading",
        Scope.OBSERVE,
        Queries.foresee_reading,
    ),
    Endpoint("POST", "/sensors", "putSensors", Scope.OBSERVE, Commands.put_all, largest=BATCH),
    Endpoint(
        "POST",
        "/lineage",
        "putLineage",
        Scope.OBSERVE,
        Commands.put_lineage,
        status=201,
        largest=BATCH,
    ),
    Endpoint("GET", "/pipelines/{pipeline}/sensors", "listSensors", Scope.READ, Queries.readings),
    Endpoint("GET", "/pipelines", "listPipelines", Scope.READ, Queries.pipelines),
    Endpoint("GET", "/pipelines/{pipeline}", "getPipeline", Scope.READ, Queries.pipeline),
    Endpoint("GET", "/pipelines/{pipeline}/config", "getConfig", Scope.READ, Queries.config),
    Endpoint("GET", "/pipelines/{pipeline}/why", "why", Scope.READ, Queries.why),
    Endpoint("GET", "/runs", "listRuns", Scope.READ, Queries.runs),
    Endpoint("GET", "/runs/{pipeline}/{schedule}/{date}", "getRun", Scope.READ, Queries.run),
    Endpoint(
        "GET",
        "/runs/{pipeline}/{schedule}/{date}/output",
        "getOutput",
        Scope.READ,
        Queries.output,
    ),
    Endpoint("GET", "/events", "listEvents", Scope.READ, Queries.events),
    Endpoint("GET", "/events/alerts", "listAlerts", Scope.READ, Queries.alerts),
    Endpoint("GET", "/alerts", "getAlerting", Scope.READ, Queries.alerting),
    Endpoint("GET", "/alerts/{pipeline}/{schedule}/{date}", "getAlert", Scope.READ, Queries.alert),
    Endpoint("POST", "/alerts/test", "testAlert", Scope.OPERATE, Commands.test_alert),
    Endpoint("GET", "/search", "search", Scope.READ, Queries.search),
    Endpoint("GET", "/timeline", "timeline", Scope.READ, Queries.timeline),
    Endpoint("GET", "/sla", "sla", Scope.READ, Queries.sla),
    Endpoint("GET", "/watchdog", "getWatchdog", Scope.READ, Queries.watchdog),
    Endpoint("GET", "/refused", "listRefused", Scope.READ, Queries.refused),
    Endpoint("GET", "/missing", "listMissing", Scope.READ, Queries.missing),
    Endpoint("POST", "/foresee", "foresee", Scope.READ, Queries.foresee, largest=BATCH),
    Endpoint("POST", "/watchdog", "watchNow", Scope.OPERATE, Commands.watch),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/reruns",
        "rerun",
        Scope.OPERATE,
        Commands.rerun,
        status=202,
    ),
    Endpoint(
        "POST",
        "/runs/{pipeline}/{schedule}/{date}/cancel",
        "cancel",
        Scope.OPERATE,
        Commands.cancel,
    ),
    Endpoint(
        "POST", "/runs/{pipeline}/{schedule}/{date}/skip", "skip", Scope.OPERATE, Commands.skip
    ),
    Endpoint(
        "POST",
        "/runs/{pipeline}/{schedule}/{date}/unskip",
        "unskip",
        Scope.OPERATE,
        Commands.unskip,
    ),
    Endpoint(
        "POST", "/runs/{pipeline}/{schedule}/{date}/mark", "mark", Scope.OPERATE, Commands.mark
    ),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/dates/foresee",
        "foreseeDates",
        Scope.READ,
        Queries.foresee_dates,
    ),
    Endpoint(
        "POST", "/pipelines/{pipeline}/dates", "actOnDates", Scope.OPERATE, Commands.act_on_dates
    ),
    Endpoint(
        "POST",
        "/alerts/{pipeline}/{schedule}/{date}/acknowledge",
        "acknowledgeAlert",
        Scope.OPERATE,
        Commands.acknowledge,
    ),
    Endpoint(
        "POST",
        "/alerts/{pipeline}/{schedule}/{date}/snooze",
        "snoozeAlert",
        Scope.OPERATE,
        Commands.snooze,
    ),
    Endpoint(
        "POST",
        "/alerts/{pipeline}/{schedule}/{date}/unsnooze",
        "unsnoozeAlert",
        Scope.OPERATE,
        Commands.unsnooze,
    ),
    Endpoint("GET", "/pipelines/{pipeline}/backfill", "backfill", Scope.READ, Queries.backfill),
    Endpoint(
        "POST",
        "/pipelines/{pipeline}/backfills",
        "startBackfill",
        Scope.OPERATE,
        Commands.start_backfill,
        status=201,
    ),
    Endpoint("GET", "/backfills", "listBackfills", Scope.READ, Queries.backfills),
    Endpoint("GET", "/backfills/{backfill}", "getBackfill", Scope.READ, Queries.backfill_progress),
    Endpoint(
        "GET",
        "/backfills/{backfill}/dates",
        "listBackfillDates",
        Scope.READ,
        Queries.backfill_dates,
    ),
    Endpoint(
        "POST",
        "/backfills/{backfill}/pause",
        "pauseBackfill",
        Scope.OPERATE,
        Commands.pause_backfill,
    ),
    Endpoint(
        "POST",
        "/backfills/{backfill}/resume",
        "resumeBackfill",
        Scope.OPERATE,
        Commands.resume_backfill,
    ),
    Endpoint(
        "POST",
        "/backfills/{backfill}/cancel",
        "cancelBackfill",
        Scope.OPERATE,
        Commands.cancel_backfill,
    ),
    Endpoint("POST", "/pipelines/{pipeline}/pause", "pause", Scope.OPERATE, Commands.pause),
    Endpoint(
        "GET", "/pipelines/{pipeline}/resume", "wouldResume", Scope.READ, Queries.would_resume
    ),
    Endpoint("POST", "/pipelines/{pipeline}/resume", "resume", Scope.OPERATE, Commands.resume),
    Endpoint("POST", "/pipelines/{pipeline}/retire", "retire", Scope.OPERATE, Commands.retire),
    Endpoint("GET", "/prune", "prunable", Scope.READ, Queries.prunable),
    Endpoint("POST", "/prune", "prune", Scope.OPERATE, Commands.prune),
    Endpoint("GET", "/changes/parked", "parkedChanges", Scope.READ, Queries.parked),
    Endpoint("POST", "/changes/retry", "retryChanges", Scope.OPERATE, Commands.retry_parked),
    Endpoint("GET", "/audit", "listAudit", Scope.READ, Queries.audit),
    Endpoint("GET", "/tokens", "listTokens", Scope.OWN, Queries.tokens),
    Endpoint("POST", "/tokens", "createToken", Scope.OWN, Commands.create_token, status=201),
    Endpoint(
        "DELETE", "/tokens/{name}", "revokeToken", Scope.OWN, Commands.revoke_token, status=204
    ),
)
