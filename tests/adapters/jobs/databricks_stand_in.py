"""A stand-in for Databricks: the parts of its Jobs API that we use. It keeps runs by their token."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from adapters.jobs.stand_in import Reply, Seen, StandIn

#: Jobs by the fate of their runs.
JOBS = {"succeed": 1, "fail": 2, "time-out": 3, "hang": 4, "say-secret": 5}
STATES: dict[int, dict[str, Any]] = {
    1: {"life_cycle_state": "TERMINATED", "result_state": "SUCCESS", "state_message": ""},
    2: {
        "life_cycle_state": "TERMINATED",
        "result_state": "FAILED",
        "state_message": "AnalysisException: no column x",
    },
    3: {"life_cycle_state": "TERMINATED", "result_state": "TIMEDOUT", "state_message": ""},
    4: {"life_cycle_state": "RUNNING", "state_message": "In run"},
    5: {"life_cycle_state": "TERMINATED", "result_state": "FAILED", "state_message": "bad {}"},
}
#: No float can hold it.
FIRST_RUN = 2**53 + 1


@dataclass
class DatabricksStandIn(StandIn):
    """One workspace, with one token."""

    token: str = ""
    version: str = "2.1"
    #: When runs begin, from now.
    began: timedelta = timedelta()

    def usual(self, seen: Seen) -> Reply:
        if seen.headers.get("authorization") != f"Bearer {self.token}":
            return Reply(401, b"{}")
        path, _, query = seen.path.partition("?")
        if path == f"/api/{self.version}/jobs/run-now":
            return self._run_now(json.loads(seen.body))
        if path == f"/api/{self.version}/jobs/runs/get":
            return self._get(parse_qs(query)["run_id"][0])
        if path == f"/api/{self.version}/jobs/runs/cancel":
            return self._cancel(str(json.loads(seen.body)["run_id"]))
        return Reply(404, b'{"error_code": "ENDPOINT_NOT_FOUND"}')

    def _run_now(self, given: dict[str, Any]) -> Reply:
        if given["job_id"] not in STATES:
            return Reply(
                400, b'{"error_code": "INVALID_PARAMETER_VALUE", "message": "no such job"}'
            )
        token = given["idempotency_token"]
        known = [run_id for run_id, run in self.runs.items() if run["token"] == token]
        run_id = known[0] if known else str(FIRST_RUN + len(self.runs))
        if not known:
            self.starts[token] += 1
            self.runs[run_id] = {"token": token, **STATES[given["job_id"]]}
        return Reply(200, f'{{"run_id": {run_id}, "number_in_job": {run_id}}}'.encode())

    def _get(self, run_id: str) -> Reply:
        if run_id not in self.runs:
            return Reply(
                400, b'{"error_code": "INVALID_PARAMETER_VALUE", "message": "no such run"}'
            )
        state = {name: value for name, value in self.runs[run_id].items() if name != "token"}
        state["state_message"] = state["state_message"].replace("{}", self.token)
        began = int((datetime.now(UTC) + self.began).timestamp() * 1000)
        run = {"run_id": int(run_id), "state": state, "start_time": began, "end_time": 0}
        return Reply(200, json.dumps(run).encode())

    def _cancel(self, run_id: str) -> Reply:
        if self.runs[run_id]["life_cycle_state"] == "RUNNING":
            ended = {"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}
            self.runs[run_id] |= ended
        return Reply()
