"""Remote: a home that is reached through its server. Its answers are the structs that the server holds."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from interlock.adapters.sqlite.rows import decoder
from interlock.client import API, Client
from interlock.domain import canonical
from interlock.domain.config import Config, RefusedConfig
from interlock.domain.event import Event
from interlock.domain.missing import Missing
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.domain.timestamp import spell
from interlock.errors import NotFoundError, UnavailableError
from interlock.queries.alerted import Alerted
from interlock.queries.findings import WatchdogPass
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.stored_reading import StoredReading
from interlock.queries.why import Why
from interlock.usecases.pause import Foreseen

if TYPE_CHECKING:
    from interlock.usecases.foresee_files import FileEdit

T = TypeVar("T")


class Remote:
    """Everything that commands look at and ask for, over HTTP."""

    def __init__(self, client: Client) -> None:
        self._client = client

    # --- looking

    def readings(self, pipeline_id: str) -> list[Reading]:
        return self._list(Reading, f"/pipelines/{_part(pipeline_id)}/sensors")

    def pipelines(self) -> list[PipelineState]:
        return self._list(PipelineState, "/pipelines")

    def why(self, pipeline_id: str, date: str | None = None) -> list[Why]:
        return self._list(Why, f"/pipelines/{_part(pipeline_id)}/why", {"date": date})

    def runs(
        self,
        pipeline_id: str | None = None,
        since: str = "0000",
        until: str = "9999",
        limit: int = 100,
    ) -> list[Run]:
        query = {
            "pipeline": pipeline_id,
            "from": None if since == "0000" else since,
            "to": None if until == "9999" else until,
        }
        return self._list(Run, "/runs", query, limit)

    def run(self, pipeline_id: str, date: str, schedule_id: str | None = None) -> Run:
        for run in self.runs(pipeline_id, date, date):
            if run.key.date == date and schedule_id in (None, run.key.schedule_id):
                return run
        raise NotFoundError(f"{pipeline_id} has no run of {date}")

    def history(self, key: RunKey) -> list[Event]:
        path = "/".join(map(_part, (key.pipeline_id, key.schedule_id, key.date)))
        found = self._client.call("GET", f"{API}/runs/{path}").json()
        return [_as(Event, event) for event in found.get("events", [])]

    def events(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]:
        return self._list(Event, "/events", _events_query(pipeline_id, kind, since), limit)

    def alerted(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Alerted]:
        query = _events_query(pipeline_id, kind, since)
        return self._list(Alerted, "/events/alerts", query, limit)

    def heartbeat(self) -> Heartbeat:
        return self._one(Heartbeat, "GET", "/watchdog")

    def refused(self) -> list[RefusedConfig]:
        return self._list(RefusedConfig, "/refused")

    def missing(self) -> list[Missing]:
        return self._list(Missing, "/missing")

    def backfill(
        self, pipeline_id: str, first: str, last: str, schedule_id: str | None = None
    ) -> list[str]:
        query = {"from": first, "to": last, "schedule": schedule_id}
        return self._list(str, f"/pipelines/{_part(pipeline_id)}/backfill", query)

    def would_resume(self, pipeline_id: str) -> list[Foreseen]:
        return self._list(Foreseen, f"/pipelines/{_part(pipeline_id)}/resume")

    def foresee(self, documents: Mapping[str, Any], whole: bool = False) -> list["FileEdit"]:
        from interlock.usecases.foresee_files import FileEdit  # and with it all that checks files

        asked = {"pipelines": documents, "whole": whole}
        answer = self._client.call("POST", f"{API}/foresee", document=asked).json()
        return [_as(FileEdit, each) for each in answer["items"]]

    # --- acting

    def put(
        self, pipeline_id: str, key: str, fields: Mapping[str, Any], decide: bool = False
    ) -> StoredReading:
        return _as(StoredReading, self._client.put(pipeline_id, key, fields, wait=decide))

    def rerun(
        self,
        pipeline_id: str,
        date: str,
        *,
        schedule_id: str | None = None,
        reason: str = "manual",
        force: bool = False,
        actor: str = "",
    ) -> RerunRequest:
        """Who asks is known to the server by the token."""
        answer = self._client.rerun(
            pipeline_id, date, schedule=schedule_id, reason=reason, force=force
        )
        return _as(RerunRequest, answer)

    def pause(self, pipeline_id: str, until: datetime | None = None) -> Config:
        end = None if until is None else spell(until)
        return _as(Config, self._client.pause(pipeline_id, end))

    def resume(self, pipeline_id: str) -> Config:
        return _as(Config, self._client.resume(pipeline_id))

    def retire(self, pipeline_id: str) -> Config:
        return _as(Config, self._client.retire(pipeline_id))

    def watch_pass(self, since: datetime | None = None) -> WatchdogPass | None:
        query = {"since": None if since is None else spell(since)}
        answer = self._client.call("POST", f"{API}/watchdog", query)
        return _as(WatchdogPass, answer.json()) if answer.body else None

    def prunable(self, runs_before: str) -> int:
        answer = self._client.call("GET", f"{API}/prune", {"before": runs_before})
        return int(answer.json()["runs"])

    def prune(self, runs_before: str | None = None) -> dict[str, int]:
        answer = self._client.call("POST", f"{API}/prune", document={"before": runs_before})
        return _as(dict[str, int], answer.json()["removed"])

    def retry_parked(self) -> int:
        return int(self._client.call("POST", f"{API}/changes/retry").json()["changes"])

    def _list(
        self,
        kind: type[T],
        path: str,
        query: Mapping[str, str | None] | None = None,
        limit: int | None = None,
    ) -> list[T]:
        return [_as(kind, item) for item in self._client.pages(API + path, query, limit)]

    def _one(self, kind: type[T], method: str, path: str) -> T:
        return _as(kind, self._client.call(method, API + path).json())


def _part(text: str) -> str:
    return quote(text, safe="")


def _as(kind: type[T], document: Any) -> T:
    """What a server sent, as the struct that it is; another version may send something else."""
    try:
        return decoder(kind).decode(canonical.encode(document))
    except ValueError as error:
        raise UnavailableError(
            f"the server's answer can't be read ({error}): is it of the same version?"
        ) from error


def _events_query(
    pipeline_id: str | None, kind: str | None, since: datetime | None
) -> dict[str, str | None]:
    start = None if since is None else spell(since)
    return {"pipeline": pipeline_id, "type": kind, "since": start}
