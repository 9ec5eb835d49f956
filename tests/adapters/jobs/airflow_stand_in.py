"""A stand-in for Airflow: the parts of both versions of its API that we use, as strict as the real one."""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from adapters.jobs.stand_in import Reply, Seen, StandIn

STATES = {"succeed": "success", "fail": "failed", "hang": "running", "queue": "queued"}


@dataclass
class AirflowStandIn(StandIn):
    """DAGs are called like their fates. `version` is that of the API."""

    version: str = "v2"
    user: tuple[str, str] = ("interlock", "")
    tokens: set[str] = field(default_factory=set)
    logins: int = 0
    paused: bool = False
    #: When runs begin, from now.
    began: timedelta = timedelta()

    def usual(self, seen: Seen) -> Reply:
        match [unquote(part) for part in seen.path.strip("/").split("/")]:
            case ["api", "v2", "version"] if self.version == "v2":
                return _json({"version": "3.1.0", "git_version": None})
            case ["auth", "token"] if self.version == "v2":
                return self._log_in(json.loads(seen.body))
            case ["api", version, "dags", dag, *rest] if version == self.version:
                refused = self._refused(seen)
                return refused or self._dag(seen, dag, rest)
        return Reply(404, b"<html>no such page</html>")

    def _refused(self, seen: Seen) -> Reply | None:
        """Airflow 3 says 403 of a token that it does not know."""
        kind, _, given = seen.headers.get("authorization", "").partition(" ")
        if self.version == "v1":
            basic = b64encode(":".join(self.user).encode()).decode()
            return None if (kind, given) == ("Basic", basic) else Reply(401)
        if kind != "Bearer":
            return Reply(401)
        return None if given in self.tokens else Reply(403)

    def _log_in(self, given: dict[str, str]) -> Reply:
        if (given["username"], given["password"]) != self.user:
            return Reply(401)
        self.logins += 1
        token = f"bearer-{self.logins}"
        self.tokens.add(token)
        return _json({"access_token": token}, 201)

    def _dag(self, seen: Seen, dag: str, rest: list[str]) -> Reply:
        if dag not in STATES:
            return Reply(404, b'{"detail": "no such DAG"}')
        match seen.method, rest:
            case "GET", []:
                return _json({"dag_id": dag, "is_paused": self.paused})
            case "POST", ["dagRuns"]:
                return self._trigger(dag, json.loads(seen.body))
            case "GET", ["dagRuns", run_id] if run_id in self.runs:
                return _json(self.runs[run_id])
            case "PATCH", ["dagRuns", run_id] if run_id in self.runs:
                self.runs[run_id]["state"] = json.loads(seen.body)["state"]
                return _json(self.runs[run_id])
        return Reply(404, b'{"detail": "no such run"}')

    def _trigger(self, dag: str, given: dict[str, Any]) -> Reply:
        allowed = {"dag_run_id", "conf", "logical_date"}
        if not isinstance(given.get("conf"), dict) or set(given) - allowed:
            return Reply(422 if self.version == "v2" else 400, b'{"detail": "bad body"}')
        if ("logical_date" in given) is not (self.version == "v2"):
            return Reply(422, b'{"detail": "logical_date: Field required"}')
        run_id = given["dag_run_id"]
        if run_id in self.runs:
            return Reply(409, b'{"detail": "DAGRun already exists"}')
        self.starts[run_id[-35:]] += 1
        self.runs[run_id] = self._run(dag, run_id, given["conf"])
        return _json(self.runs[run_id])

    def _run(self, dag: str, run_id: str, conf: dict[str, Any]) -> dict[str, Any]:
        began = (datetime.now(UTC) + self.began).isoformat()
        ends = STATES[dag] in ("success", "failed")
        return {
            "dag_id": dag,
            "dag_run_id": run_id,
            "state": STATES[dag],
            "conf": conf,
            "queued_at": None if self.version == "v1" else began,
            "run_after": None if self.version == "v1" else began,
            "logical_date": began if self.version == "v1" else None,
            "start_date": None if STATES[dag] == "queued" else began,
            "end_date": began if ends else None,
        }


def _json(value: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode())
